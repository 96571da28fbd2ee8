//! Parameters of a kernel, by its PTX, for drivers that do not tell them.
//!
//! Input: PTX that the driver compiled. Output: offset and size of each parameter. Establishes: `None` where anything is not as
//! expected. Relies on: the driver found no mistake in the text. Reference: PTX ISA, "Kernel Function Parameters".

/// Whether an image may be text: a byte order of ELF and of fat binaries is none.
pub(crate) fn may_start(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'/' || byte == b'.'
}

/// The parameters of an entry.
pub(crate) fn parameters(text: &str, name: &str) -> Option<Vec<(usize, usize)>> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
    let list = text.match_indices(".entry").find_map(|(at, word)| {
        let rest = text[at + word.len()..].trim_start().strip_prefix(name)?;
        (!rest.starts_with(is_name)).then_some(rest)
    })?;
    let list = list.trim_start();
    // An entry without parameters.
    let Some(list) = list.strip_prefix('(') else { return Some(Vec::new()) };
    let list = &list[..list.find(')')?];
    if list.contains('/') {
        return None;
    }
    let mut end: usize = 0;
    let declarations = list.split(',').filter(|declaration| !declaration.trim().is_empty());
    let place = |declaration: &str| {
        let (align, size) = size_of(declaration)?;
        let offset = end.checked_next_multiple_of(align)?;
        end = offset.checked_add(size)?;
        Some((offset, size))
    };
    declarations.map(place).collect()
}

/// Alignment and size of `.param .align 8 .b8 name[16]`.
fn size_of(declaration: &str) -> Option<(usize, usize)> {
    let mut words = declaration.split_ascii_whitespace();
    (words.next()? == ".param").then_some(())?;
    let (mut element, mut align) = (None, None);
    while let Some(word) = words.next() {
        match word {
            // The second alignment is that of what it points to.
            ".ptr" => {}
            ".align" => {
                let given = words.next()?.parse::<usize>().ok()?;
                align = align.or(Some(given).filter(|_| element.is_none()));
            }
            ".global" | ".shared" | ".const" | ".local" => {}
            _ if word.starts_with('.') => {
                let digits = word.trim_start_matches(|c: char| !c.is_ascii_digit());
                element = Some(digits.parse::<usize>().ok()? / 8);
            }
            name => {
                let element = element?;
                let count = match name.split_once('[') {
                    Some((_, count)) => count.strip_suffix(']')?.trim().parse::<usize>().ok()?,
                    None => 1,
                };
                return Some((align.unwrap_or(element).max(1), element.checked_mul(count)?));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::parameters;

    #[test]
    fn offsets_follow_alignments() {
        let text = "
            .visible .entry other(.param .u8 a) { ret; }
            .visible .entry k (
                .param .u32 k_param_0,
                .param .u64 .ptr .global .align 16 k_param_1,
                .param .align 16 .b8 k_param_2[24],
                .param .f32 k_param_3
            ) { ret; }";
        assert_eq!(parameters(text, "k"), Some(vec![(0, 4), (8, 8), (16, 24), (40, 4)]));
        assert_eq!(parameters(text, "other"), Some(vec![(0, 1)]));
        assert_eq!(parameters(text, "oth"), None);
        assert_eq!(parameters(".entry k { ret; }", "k"), Some(Vec::new()));
        assert_eq!(parameters(".entry k(.param .texref t) {}", "k"), None);
    }
}
