//! Names of variables as people write them.

/// The name a person would use for a mangled variable of a function body: `_ZZ4scanE3sum` is `sum`.
pub(crate) fn human(name: &str) -> String {
    let shown = || -> Option<&str> {
        let rest = name.strip_prefix("_ZZ")?;
        // Identifiers follow their lengths; the variable's own is the last `E<length><name>`.
        let mut candidates = rest.rmatch_indices('E').filter_map(|(at, _)| {
            let tail = &rest[at + 1..];
            let digits = tail.bytes().take_while(u8::is_ascii_digit).count();
            let length: usize = tail[..digits].parse().ok()?;
            let word = tail[digits..].get(..length)?;
            let end = &tail[digits + length..];
            (end.is_empty() || end.starts_with('_') || end.starts_with('$')).then_some(word)
        });
        candidates.next()
    };
    shown().unwrap_or(name.trim_start_matches('%')).to_string()
}

#[cfg(test)]
mod tests {
    use super::human;

    #[test]
    fn mangled_body_variables_have_a_human_name() {
        assert_eq!(human("_ZZ16histogram_sharedE4bins"), "bins");
        assert_eq!(human("_ZZN3foo3barEvE4tile_0"), "tile");
        assert_eq!(human("global_smem"), "global_smem");
    }
}
