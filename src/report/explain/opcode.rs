//! The page of an opcode: its forms, the class of each, and what becomes of them.
//!
//! Everything stands in the rows of the instruction table; only the sentences are here.

use super::wrap;
use crate::ptx::table::{Class, Meaning, Mismatch, Row, rows_of, select};
use crate::report::near_names::near_names;
use std::fmt::Write;

/// The page for an opcode with or without modifiers, such as `atom` or `ld.global`; `None` if PTX
/// has no such opcode, the error if the opcode lacks these modifiers.
pub(crate) fn page(opcode: &str) -> Option<Result<String, String>> {
    let mut words = opcode.split('.');
    let name = words.next().unwrap_or_default();
    let modifiers: Vec<&str> = words.collect();
    let mut rows: Vec<&Row> = rows_of(name)?.iter().filter(|row| row.has_all(&modifiers)).collect();
    if rows.is_empty() {
        return Some(Err(no_such_form(name, &modifiers)));
    }
    // Others may have its modifiers, too: `bar.sync` is none of a warp.
    if let Ok(own) = select(name, &modifiers) {
        rows.sort_by_key(|row| !std::ptr::eq(*row, own.row));
    }
    let plural = if rows.len() == 1 { "" } else { "s" };
    let mut page = format!("{opcode}: {} form{plural}\n", rows.len());
    for (index, row) in rows.iter().enumerate() {
        let previous = index.checked_sub(1).map(|previous| rows[previous]);
        if previous.is_none_or(|previous| previous.class() != row.class() || fate(previous) != fate(row)) {
            let _ = write!(page, "\n{}\n", row.class());
            page.push_str(&wrap(&fate(row), 80));
        }
        page.push_str(&indent(&form(row)));
    }
    Some(Ok(page))
}

/// One sentence on an instruction as it is written, guard and operands included; `None` if PTX has no such form.
pub(crate) fn sentence(instruction: &str) -> Option<String> {
    let mut words = instruction.split_whitespace().skip_while(|word| word.starts_with('@'));
    let opcode = words.next()?.trim_end_matches(';');
    let mut words = opcode.split('.');
    let name = words.next()?;
    let modifiers: Vec<&str> = words.collect();
    // Not the first form that has them: `bar.sync` is none of a warp.
    let row = select(name, &modifiers).ok()?.row;
    let fate = fate(row);
    let fate: Vec<&str> = fate.split_whitespace().collect();
    let fate = fate.join(" ");
    let first = fate.split_once(". ").map_or(fate.as_str(), |(first, _)| first);
    Some(format!("{}: {}.", row.class(), first.trim_end_matches('.')))
}

/// The row as in the manual: modifiers in braces are alternatives, those in brackets may be missing.
fn form(row: &Row) -> String {
    let modifiers: String = row.modifiers().iter().map(crate::ptx::pattern::ModifierSlot::describe).collect();
    let operands: Vec<String> = row.operands.iter().map(crate::ptx::pattern::OperandPattern::describe).collect();
    format!("{}{modifiers} {}", row.form.opcode, operands.join(", ")).trim_end().to_string()
}

/// Wraps a form at blanks, with all lines but the first further to the right.
fn indent(form: &str) -> String {
    let mut output = String::new();
    for (index, line) in wrap(form, 90).lines().enumerate() {
        let _ = writeln!(output, "{}{line}", if index == 0 { "    " } else { "        " });
    }
    output
}

fn no_such_form(name: &str, modifiers: &[&str]) -> String {
    let known = match select(name, modifiers) {
        Err(Mismatch::Modifier(_, allowed)) => allowed,
        _ => Vec::new(),
    };
    let wrong = modifiers.iter().find(|modifier| {
        let rows = rows_of(name).unwrap_or_default();
        !rows.iter().any(|row| row.has_all(&[modifier]))
    });
    let near = wrong.map_or_else(Vec::new, |wrong| near_names(wrong, known.iter().copied()));
    let hint = match near.as_slice() {
        [] => format!("`gpuvcc explain {name}` shows its forms"),
        _ => format!("did you mean .{}?", near.join(", .")),
    };
    match wrong {
        Some(wrong) => format!("`{name}` has no modifier `.{wrong}`; {hint}"),
        None => format!("`{name}` does not take these modifiers together; {hint}"),
    }
}

/// What the verifier and the emulator do with the form.
fn fate(row: &Row) -> String {
    let text = match (row.meaning, row.class()) {
        (Meaning::Nothing, _) => {
            "The verifier and the emulator pass over it: it changes no value, no memory and no order that the \
             threads of the kernel could observe."
        }
        (Meaning::Branch | Meaning::BranchIndexed, _) => {
            "The verifier follows all targets, each under the condition of the branch; the emulator jumps."
        }
        (Meaning::Return | Meaning::Exit, _) => {
            "The thread leaves the function or the kernel, in the verifier and in the emulator."
        }
        (Meaning::Trap, _) => "The launch fails there: the verifier ends the thread, the emulator reports the trap.",
        (Meaning::Call, _) => {
            "The verifier inlines the function. Behind a register it takes any function of the .calltargets list, or any \
             of the prototype's shape whose address the file takes. It refuses recursion, and functions that the file \
             does not define and that are none of the CUDA runtime's known ones (but see --unknown-functions). The emulator calls it, and stops at \
             calls through registers."
        }
        (_, Class::Exact) => "The verifier and the emulator compute the result bit by bit.",
        (Meaning::Arbitrary, _) if matches!(row.form.opcode, "tex" | "tld4") => {
            "The verifier takes any value as the result and states the assumption that nothing writes the texture; the \
             emulator stops when a thread comes to it."
        }
        (Meaning::Arbitrary, _) if row.form.opcode == "mapa" => {
            "A kernel that can come to it is refused by the verifier (`unsupported-instruction`); the emulator computes \
             the address, which names a block of the cluster (`--cluster`)."
        }
        (Meaning::Arbitrary, _) if row.form.opcode == "activemask" => {
            "The verifier takes any mask as the result that has the executing lane; the emulator computes it."
        }
        (Meaning::Arbitrary, _)
            if matches!(row.form.opcode, "shfl" | "vote" | "match" | "redux" | "elect") && row.has_all(&["sync"]) =>
        {
            "The verifier checks that the executing lane is in the mask of members (`barrier-error`), and that the lanes \
             of the mask come to it together or have exited (`divergence`); of a mask that lanes have computed from votes \
             it takes that for granted, and says so. It takes any \
             value as the result, another one at each execution; only of a result that is a mask of voting or equal \
             lanes it knows the executing lane's own bit. It orders no accesses. The emulator computes the result, or \
             refuses the instruction by name when a thread comes to it."
        }
        (Meaning::Arbitrary, _) => {
            "The verifier takes any value as the result, another one at each execution; the emulator computes it, or \
             refuses the instruction by name when a thread comes to it."
        }
        (_, Class::Value) => {
            "The verifier takes the result for a function of the operands and the opcode, of which it knows nothing \
             else; the emulator computes it, or refuses the instruction by name when a thread comes to it."
        }
        (Meaning::Load, _) => {
            "Reads the bytes from the address on, as many as the type has, for each element of the vector. The \
             verifier checks them against the writes of all other threads; the emulator reads and watches them."
        }
        (Meaning::Store, _) => {
            "Writes the bytes from the address on, as many as the type has, for each element of the vector. The \
             verifier checks them against the accesses of all other threads; the emulator writes and watches them."
        }
        (Meaning::Matrix, _) => {
            "The threads of a warp access the rows together, at the addresses that some of them give. The verifier \
             checks the rows against the accesses of all threads, those of the warp included, of which any may be the \
             one that accesses; it takes any values as loaded. The emulator executes ldmatrix and stmatrix of 8 by 8 \
             halves exactly, lets the first lane access the rows of a wmma fragment, and refuses the other shapes."
        }
        (_, Class::Memory) => {
            "Reads and writes the bytes from the address on, as many as the type has, in one step for each element \
             of the vector. The verifier checks them against all accesses that are not morally strong with it, and \
             takes any value as the old one; the emulator executes it and watches the bytes."
        }
        (Meaning::BarrierArrive, _) => {
            "The verifier refuses it (`barrier-arrive`): barriers at which some threads do not wait have no model \
             yet. The emulator counts the thread as arrived."
        }
        (Meaning::WarpBarrier, _) => {
            "The threads of the mask wait for each other. The verifier checks that the executing lane is in the mask \
             (`barrier-error`), and that the others come to it together or have exited (`divergence`). Where the sizes of the block are fixed, it orders the accesses of two threads of a warp \
             that have waited for each other equally often, with equal masks; otherwise it takes it for no order at \
             all, which can only add possible races. The emulator lets the threads of the mask wait."
        }
        (Meaning::Fence, _) => {
            "The verifier takes it for no order at all, which can only add possible races; the emulator orders the \
             accesses of the thread."
        }
        (_, Class::Synchronisation) => {
            "All threads of the block wait for each other. The verifier checks that they all come to it and that its \
             number is one of 0 to 15, and orders the accesses before it and after it; so does the emulator. A count \
             has to be the size of the block; barriers for a part of it are refused (`barrier-count`), and emulated."
        }
        (_, Class::Emulated(_)) => {
            "A kernel that can come to it is refused by the verifier (`unsupported-instruction`); the emulator executes \
             it, watches what it orders, and lets copies go on beside their threads (`--completion`)."
        }
        (_, Class::Unsupported(_)) => {
            "A kernel that can come to it is refused (`unsupported-instruction`); the emulator stops when a thread \
             comes to it."
        }
    };
    text.to_string()
}
