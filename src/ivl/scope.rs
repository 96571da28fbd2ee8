//! Names in scope, and suggestions for those that are not.

use super::ast::Name;
use crate::diagnostic::Diagnostic;

/// Adds "did you mean" when a known name is close to the unknown one.
pub(super) fn with_suggestion<'a>(
    error: Diagnostic,
    unknown: &Name,
    known: impl IntoIterator<Item = &'a Name>,
) -> Diagnostic {
    let limit = (unknown.as_str().chars().count() / 3).clamp(1, 3);
    let nearest = known
        .into_iter()
        .map(|name| (edit_distance(unknown.as_str(), name.as_str(), limit), name))
        .filter(|(distance, _)| *distance <= limit)
        .min();
    match nearest {
        Some((_, name)) => error.label(format!("did you mean `{name}`?")),
        None => error,
    }
}

/// The number of insertions, deletions, substitutions and swaps of neighbours between two words; any number above
/// `limit` where the lengths alone differ by more.
fn edit_distance(a: &str, b: &str, limit: usize) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substituted = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substituted.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, expected) in
            [("offset", "offset", 0), ("ofset", "offset", 1), ("offste", "offset", 1), ("a", "b", 1)]
        {
            assert_eq!(edit_distance(a, b, 3), expected, "{a} {b}");
        }
        assert!(edit_distance("x", "offset", 3) > 3);
    }
}
