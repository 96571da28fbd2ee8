//! Texts that fit the terminal.
//!
//! Input: a text, and how wide a line may be. Output: the text with more line ends. Establishes: only spaces become line
//! ends; without a width the text stays as it is. Relies on: nothing. Reference: none.

/// Lines are never made narrower than this, in characters.
const NARROWEST: usize = 30;

/// Breaks lines that are wider than `width` less `before`, the columns that stand in front of each. What follows a break is
/// indented like its line, and by two more. Words are never broken.
pub(super) fn fit(text: &str, width: Option<usize>, before: usize) -> String {
    let Some(width) = width.map(|width| width.saturating_sub(before).max(NARROWEST)) else { return text.to_string() };
    text.split('\n').map(|line| fit_line(line, width)).collect::<Vec<_>>().join("\n")
}

fn fit_line(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_string();
    }
    let indent = line.chars().take_while(|&character| character == ' ').count();
    let (mut output, mut column) = (" ".repeat(indent), indent);
    for (index, word) in line.trim_start_matches(' ').split(' ').enumerate() {
        let length = word.chars().count();
        if index > 0 && column + 1 + length > width {
            column = (indent + 2).min(width / 2);
            output.push('\n');
            output.push_str(&" ".repeat(column));
        } else if index > 0 {
            output.push(' ');
            column += 1;
        }
        output.push_str(word);
        column += length;
    }
    output
}

#[cfg(test)]
mod tests {
    use super::fit;

    #[test]
    fn lines_break_at_spaces() {
        let text = "  - pointer parameters and global arrays refer to disjoint arrays\nshort";
        assert_eq!(fit(text, None, 0), text);
        let expected = "  - pointer parameters and global\n    arrays refer to disjoint arrays\nshort";
        assert_eq!(fit(text, Some(40), 5), expected);
        // Words are never broken, and a narrow terminal gives no narrower lines than 30 characters.
        assert_eq!(fit(&"x".repeat(50), Some(10), 5), "x".repeat(50));
        assert_eq!(fit("a  b", Some(80), 0), "a  b");
    }
}
