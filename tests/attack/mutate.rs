//! Small changes to PTX text, of the kind that turn a correct kernel into a racing one.

use super::emulator::random::Random;

/// A changed kernel.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Its text.
    pub text: String,
    /// The changed line, from 1.
    pub line: usize,
    /// What the line was.
    pub before: String,
    /// What it is; empty when deleted.
    pub after: String,
}

/// Special registers that are easily mistaken for each other.
const IDENTITIES: [&str; 8] =
    ["%tid.x", "%tid.y", "%ntid.x", "%ctaid.x", "%ctaid.y", "%nctaid.x", "%ntid.y", "%laneid"];

/// Parts of opcodes with what may stand in their place.
const OPCODES: [(&str, &[&str]); 26] = [
    ("setp.lt.", &["setp.le.", "setp.ne.", "setp.gt."]),
    ("setp.le.", &["setp.lt.", "setp.ge."]),
    ("setp.gt.", &["setp.ge.", "setp.ne.", "setp.lt."]),
    ("setp.ge.", &["setp.gt.", "setp.eq."]),
    ("setp.eq.", &["setp.ne.", "setp.ge."]),
    ("setp.ne.", &["setp.eq.", "setp.gt."]),
    (".s32", &[".u32"]),
    (".u32", &[".s32"]),
    (".lo.", &[".hi."]),
    ("shl.b", &["shr.u"]),
    ("shr.u", &["shr.s", "shl.b"]),
    ("add.s", &["sub.s"]),
    ("sub.s", &["add.s"]),
    ("and.b", &["or.b", "xor.b"]),
    ("or.b", &["and.b", "xor.b"]),
    ("xor.b", &["or.b"]),
    ("min.", &["max."]),
    ("max.", &["min."]),
    (".gpu", &[".cta"]),
    ("atom.global.", &["atom.global.cta."]),
    ("atom.shared.", &["atom.global."]),
    (".volatile", &[""]),
    ("st.global.u32", &["st.global.u16", "st.global.u64", "st.volatile.global.u32"]),
    ("st.shared.f32", &["st.shared.f64"]),
    ("bar.sync", &["bar.warp.sync", "barrier.sync", "membar.cta; //"]),
    ("div.", &["rem."]),
];

/// A change at a random place; `None` when nothing there can change.
pub fn mutate(text: &str, random: &mut Random) -> Option<Mutant> {
    let lines: Vec<&str> = text.lines().collect();
    let instructions: Vec<usize> = (0..lines.len()).filter(|index| is_instruction(lines[*index])).collect();
    // Barriers and guards are few among the lines, and matter most.
    let weighty: Vec<usize> = instructions
        .iter()
        .copied()
        .filter(|index| lines[*index].contains("bar.") || lines[*index].contains('@'))
        .collect();
    let pool = if random.below(3) == 0 && !weighty.is_empty() { &weighty } else { &instructions };
    let index = *random.pick(pool)?;
    let before = lines[index];
    let mut changed: Vec<String> = lines.iter().map(ToString::to_string).collect();
    let after = match random.below(12) {
        0 | 1 => delete(before)?,
        2..=4 => immediate(before, random)?,
        5 => guard(before, random)?,
        6 | 7 => register(before, &lines, random)?,
        8 => identity(before, random)?,
        9 | 10 => opcode(before, random)?,
        _ => {
            let other = neighbour(&instructions, index, random)?;
            changed.swap(index, other);
            changed[index].clone()
        }
    };
    changed[index].clone_from(&after);
    let text = changed.join("\n") + "\n";
    Some(Mutant { text, line: index + 1, before: before.trim().to_string(), after: after.trim().to_string() })
}

fn is_instruction(line: &str) -> bool {
    let line = line.trim();
    line.ends_with(';') && line.starts_with(|first: char| first.is_ascii_lowercase() || first == '@')
}

/// Deletes an instruction without a result, or a guarded branch.
fn delete(line: &str) -> Option<String> {
    let opcode = line.trim();
    let useless = ["ret", "call", "ld.param"].iter().any(|start| opcode.starts_with(start));
    (!useless).then(String::new)
}

/// Changes an integer constant, or the offset of an address.
fn immediate(line: &str, random: &mut Random) -> Option<String> {
    let bytes = line.as_bytes();
    let mut numbers: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = (at..bytes.len()).find(|end| !bytes[*end].is_ascii_digit()).unwrap_or(bytes.len());
        let before = if at == 0 { b' ' } else { bytes[at - 1] };
        let after = bytes.get(end).copied().unwrap_or(b' ');
        if end > at && b" \t+-,".contains(&before) && b",;] ".contains(&after) {
            numbers.push((at, end));
        }
        at = end + 1;
    }
    let (start, end) = *random.pick(&numbers)?;
    let value: i64 = line[start..end].parse().ok()?;
    let choices = [
        value.saturating_add(1),
        value - 1,
        value.saturating_mul(2),
        value / 2,
        0,
        value.saturating_add(4),
        value - 4,
        2,
        4,
        3,
        31,
        32,
    ];
    let new = *random.pick(&choices)?;
    // A sign before the number stays; two would not parse.
    (new >= 0 && new != value).then(|| format!("{}{new}{}", &line[..start], &line[end..]))
}

/// Drops a guard, turns it round, or deletes a guarded instruction.
fn guard(line: &str, random: &mut Random) -> Option<String> {
    let rest = line.trim().strip_prefix('@')?;
    let (guard, instruction) = rest.split_once(char::is_whitespace)?;
    Some(match (random.below(3), guard.strip_prefix('!')) {
        (0, _) => format!("\t{}", instruction.trim()),
        (1, _) => String::new(),
        (_, Some(positive)) => format!("\t@{positive} {instruction}"),
        (_, None) => format!("\t@!{guard} {instruction}"),
    })
}

/// Registers in a line: start, end and the letters of their name.
fn registers(line: &str) -> Vec<(usize, usize)> {
    let starts = line.match_indices('%').map(|(at, _)| at);
    let end = |start: usize| {
        let rest = &line[start + 1..];
        start + 1 + rest.find(|next: char| !next.is_ascii_alphanumeric()).unwrap_or(rest.len())
    };
    let all = starts.map(|start| (start, end(start)));
    all.filter(|(start, end)| line[*start..*end].ends_with(|last: char| last.is_ascii_digit())).collect()
}

/// Puts another register of the same class in the place of one.
fn register(line: &str, lines: &[&str], random: &mut Random) -> Option<String> {
    let (start, end) = *random.pick(&registers(line))?;
    let class = |name: &str| name.trim_end_matches(|digit: char| digit.is_ascii_digit()).to_string();
    let wanted = class(&line[start..end]);
    let other_line = random.pick(lines)?;
    let others = registers(other_line);
    let (other_start, other_end) = *random.pick(&others)?;
    let other = &other_line[other_start..other_end];
    (class(other) == wanted && *other != line[start..end]).then(|| format!("{}{other}{}", &line[..start], &line[end..]))
}

/// Reads another special register.
fn identity(line: &str, random: &mut Random) -> Option<String> {
    let present: Vec<&str> = IDENTITIES.into_iter().filter(|name| line.contains(name)).collect();
    let old = random.pick(&present)?;
    let new = random.pick(&IDENTITIES)?;
    (old != new).then(|| line.replacen(old, new, 1))
}

/// Changes the opcode.
fn opcode(line: &str, random: &mut Random) -> Option<String> {
    let present: Vec<_> = OPCODES.iter().filter(|(old, _)| line.contains(old)).collect();
    let (old, new) = random.pick(&present)?;
    Some(line.replacen(old, random.pick(new)?, 1))
}

/// A following instruction, to change places with.
fn neighbour(instructions: &[usize], index: usize, random: &mut Random) -> Option<usize> {
    let position = instructions.iter().position(|other| *other == index)?;
    instructions.get(position + 1 + random.below(3)).copied()
}
