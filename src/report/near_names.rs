//! Suggestions for misspelt names.

/// At most three known names that a misspelling may mean, best first.
pub(crate) fn near_names<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // Longer names are no typing errors; comparing them would cost time for nothing.
    if wanted.len() > 200 {
        return Vec::new();
    }
    let limit = wanted.chars().count() / 3 + 1;
    let mut near: Vec<(usize, &str)> = Vec::new();
    for name in known {
        let contained = name.contains(wanted) || (name.len() > 2 && wanted.contains(name));
        let distance = edit_distance(wanted, name).min(if contained { 1 } else { usize::MAX });
        if distance <= limit {
            near.push((distance, name));
        }
    }
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Insertions, deletions and substitutions that turn one name into the other.
fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().take(400).collect();
    let mut previous: Vec<usize> = (0..=right.len()).collect();
    for (row, left_char) in left.chars().enumerate() {
        let mut current = vec![row + 1];
        for (column, &right_char) in right.iter().enumerate() {
            let substitution = previous[column] + usize::from(left_char != right_char);
            current.push(substitution.min(previous[column + 1] + 1).min(current[column] + 1));
        }
        previous = current;
    }
    previous[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["saxpy", "_Z5saxpyifPf", "reduce"];
        assert_eq!(near_names("saxpi", known), ["saxpy"]);
        assert_eq!(near_names("saxpy", known), ["saxpy", "_Z5saxpyifPf"]);
        assert!(near_names("convolution", known).is_empty());
    }
}
