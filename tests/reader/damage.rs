//! Damaged copies of texts: what fuzzing changes in them.

use gpuvcc::ptx::lexer::Tokens;

/// Texts longer than this are cut, in bytes: small ones are damaged more often.
const LONGEST: usize = 20_000;

/// What takes the place of words.
const WORDS: [&str; 40] = [
    "",
    "{",
    "}",
    ";",
    "(",
    ")",
    "[",
    "]",
    ",",
    ".",
    "\"",
    "/*",
    "-",
    "!",
    "<4294967295>",
    "<18446744073709551615>",
    "%r1",
    "%rd1",
    "%p1",
    "_",
    "-1",
    "0x7fffffff",
    "0f3f800000",
    "1e999",
    "0d7ff0000000000000",
    ".v4",
    ".b8",
    ".pred",
    ".shared",
    ".reg .b32 ",
    " = {{1}, 2}",
    "bar.sync 0;",
    "ret;",
    "//@ assert 1;\n",
    ".loc 1 2 3\n",
    ".section x {",
    "goto",
    "assume",
    "bv32",
    "18446744073709551616",
];

/// A linear congruential generator.
pub struct Random(pub u64);

impl Random {
    /// A number below the bound.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// A copy with one to three changes: bytes, words, tokens, or a piece of another text.
pub fn damaged(text: &str, other: &str, random: &mut Random) -> String {
    let mut text = part(text, random);
    for _ in 0..=random.below(3) {
        match random.below(6) {
            0 => raw_bytes(&mut text, random),
            1 | 2 => tokens(&mut text, other, random),
            _ => words(&mut text, other, random),
        }
    }
    text
}

/// Mostly all of a text (its beginning, if it is long), otherwise some of its lines.
fn part(text: &str, random: &mut Random) -> String {
    let start = if random.below(5) > 0 { 0 } else { line(text, random).0 };
    let length = if start == 0 { LONGEST } else { random.below(LONGEST / 4) };
    text[start..text.floor_char_boundary((start + length).min(text.len()))].to_string()
}

/// Changes some bytes, whatever characters they belong to.
fn raw_bytes(text: &mut String, random: &mut Random) {
    let mut bytes = std::mem::take(text).into_bytes();
    let at = random.below(bytes.len());
    match random.below(3) {
        0 => bytes.insert(at, random.below(256) as u8),
        _ if bytes.is_empty() => {}
        1 => drop(bytes.remove(at)),
        _ => bytes[at] ^= 1 << random.below(8),
    }
    *text = String::from_utf8_lossy(&bytes).into_owned();
}

/// Removes, doubles or exchanges tokens, or takes some from another text.
fn tokens(text: &mut String, other: &str, random: &mut Random) {
    let (start, end) = token(text, random);
    let (next_start, next_end) = token(text, random);
    let filler = match random.below(4) {
        0 => String::new(),
        1 => text[next_start..next_end].to_string(),
        2 => text[start..end].repeat(1 + random.below(4)),
        _ => {
            let other = part(other, random);
            let (start, end) = token(&other, random);
            other[start..end].to_string()
        }
    };
    text.replace_range(start..end, &filler);
}

/// Bytes of up to five tokens in a row.
fn token(text: &str, random: &mut Random) -> (usize, usize) {
    // Nearby text is enough, and long texts would take long.
    let start = line(text, random).0;
    let end = text.floor_char_boundary((start + 400).min(text.len()));
    let places: Vec<(usize, usize)> =
        Tokens::new(&text[start..end], usize::MAX).map(|(from, _, to)| (start + from, start + to)).collect();
    let first = random.below(places.len());
    let last = (first + random.below(5)).min(places.len().saturating_sub(1));
    places.get(first).zip(places.get(last)).map_or((start, start), |(first, last)| (first.0, last.1))
}

/// Puts something in the place of a few bytes or a word.
fn words(text: &mut String, other: &str, random: &mut Random) {
    let (start, end) = if random.below(3) == 0 { bytes(text, random) } else { word(text, random) };
    let filler = match random.below(4) {
        0 => {
            let (start, end) = line(other, random);
            other[start..end].to_string()
        }
        1 => {
            let (start, end) = word(text, random);
            text[start..end].to_string()
        }
        2 => char::from(b' ' + random.below(95) as u8).to_string(),
        _ => WORDS[random.below(WORDS.len())].to_string(),
    };
    text.replace_range(start..end, &filler);
}

fn bytes(text: &str, random: &mut Random) -> (usize, usize) {
    let start = text.floor_char_boundary(random.below(text.len()));
    (start, text.floor_char_boundary((start + random.below(12)).min(text.len())))
}

/// A run of letters and digits; other characters are words of their own.
fn word(text: &str, random: &mut Random) -> (usize, usize) {
    let start = text.floor_char_boundary(random.below(text.len()));
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '%';
    let before = text[..start].trim_end_matches(is_part).len();
    let rest = &text[before..];
    let length = rest.len() - rest.trim_start_matches(is_part).len();
    let length = if length == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { length };
    (before, before + length)
}

fn line(text: &str, random: &mut Random) -> (usize, usize) {
    let start = text.floor_char_boundary(random.below(text.len()));
    let start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    (start, text[start..].find('\n').map_or(text.len(), |at| start + at))
}
