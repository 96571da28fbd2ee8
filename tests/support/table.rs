//! The tables of `tests/exec`: instructions with cases, and the kernel and the launch that run them.

use gpuvcc::exec::launch::{Array, Completion, Contents, Launch, Schedule, array_address};
use gpuvcc::geometry::Geometry;
use gpuvcc::rules::Rules;
use std::fmt::Write;

/// An instruction with its cases.
#[derive(Clone)]
pub struct Group {
    pub types: Vec<String>,
    pub text: String,
    /// Operands and result.
    pub cases: Vec<(Vec<u64>, u64)>,
}

/// The groups of all tables of the folder, and of a file of one's own.
pub fn all() -> Vec<Group> {
    let mut files: Vec<_> =
        std::fs::read_dir("tests/exec").expect("the tables").map(|e| e.expect("an entry").path()).collect();
    files.extend(std::env::var_os("GPUVCC_EXEC_TABLE").map(Into::into));
    files.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    files.iter().flat_map(|file| groups(&std::fs::read_to_string(file).expect("a table"))).collect()
}

fn groups(text: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let hex = |word: &str| u64::from_str_radix(word, 16).expect("a hexadecimal number");
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some((types, text)) = line.strip_prefix("op ").and_then(|rest| rest.split_once(" : ")) {
            let types = types.split_whitespace().map(str::to_string).collect();
            groups.push(Group { types, text: text.to_string(), cases: Vec::new() });
        } else if let (Some(group), Some((operands, result))) = (groups.last_mut(), line.split_once(" = ")) {
            group.cases.push((operands.split_whitespace().map(hex).collect(), hex(result)));
        }
    }
    groups
}

/// A kernel whose thread n loads the operands of case n, executes the text and stores `%d`.
pub fn kernel(group: &Group) -> String {
    let names = ["%d", "%a", "%b", "%c", "%e"];
    let mut text = ".version 8.5\n.target sm_90\n.address_size 64\n".to_string();
    text += ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n";
    for (name, ty) in names.iter().zip(&group.types) {
        let _ = writeln!(text, ".reg .{ty} {name};");
    }
    text += ".reg .b32 %t, %i; .reg .b64 %u, %p, %q, %x<5>; ld.param.u64 %p, [in]; ld.param.u64 %q, [out];\n";
    text += "mov.u32 %i, %tid.x; mad.wide.u32 %p, %i, 32, %p; mad.wide.u32 %q, %i, 8, %q;\n";
    for (position, ty) in group.types[1..].iter().enumerate() {
        let name = names[position + 1];
        let _ = writeln!(text, "ld.global.u64 %x{position}, [%p+{}];", 8 * position);
        let _ = match ty.as_str() {
            "b64" => writeln!(text, "mov.b64 {name}, %x{position};"),
            _ => writeln!(text, "cvt.u{}.u64 {name}, %x{position};", &ty[1..]),
        };
    }
    let back = match group.types[0].as_str() {
        "pred" => "selp.u64 %u, 1, 0, %d".to_string(),
        "b64" => "mov.b64 %u, %d".to_string(),
        ty => format!("cvt.u64.u{} %u, %d", &ty[1..]),
    };
    let _ = writeln!(text, "{}\n{back};\nst.global.u64 [%q], %u;\nret;\n}}", group.text);
    text
}

/// A thread for each case; the first array holds the operands, the second takes the results.
pub fn launch(group: &Group) -> Launch {
    let count = group.cases.len();
    let mut bytes = Vec::new();
    for (operands, _) in &group.cases {
        let padded = operands.iter().copied().chain([0; 4]).take(4);
        bytes.extend(padded.flat_map(u64::to_le_bytes));
    }
    let array = |name: &str, size: usize, contents| Array { name: name.to_string(), size: size as u64, contents };
    Launch {
        cluster: [1; 3],
        geometry: Geometry { block: [count as u32, 1, 1], grid: [1; 3] },
        parameters: (0..2).map(|number| array_address(number, 64).to_le_bytes().to_vec()).collect(),
        arrays: vec![array("in", 32 * count, Contents::Bytes(bytes)), array("out", 8 * count, Contents::Zero)],
        dynamic_shared: 0,
        shared_buffers: Vec::new(),
        contents: Contents::Zero,
        schedule: Schedule::RoundRobin,
        completion: Completion::Lazy,
        seed: 1,
        thread_steps: 1000,
        total_steps: u64::MAX,
        blocks: None,
        races: true,
        rules: Rules::default(),
    }
}
