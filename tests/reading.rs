//! Reading of PTX that no compiler writes: of any length and depth, with anything between the tokens.

use crate::reader::check::{self, Reading};
use crate::reader::cpu_time::cpu_time;
use crate::reader::large_module::{Shape, large_module};
use crate::reader::random_modules::{module, with_other_blanks};
use gpuvcc::ptx;
use proptest::prelude::*;
use std::time::Duration;

/// A module with this body.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.entry kernel()\n{{\n.reg .b32 %r<9>;\n.reg .f32 %f;\nlabel:\n{body}\nret;\n}}\n"
    )
}

/// A module with this line in front of a kernel.
fn top(line: &str) -> String {
    format!(".version 8.0\n.target sm_90\n{line}\n.entry kernel() {{ ret; }}\n")
}

/// Reads a text of many megabytes at most in a few seconds; what came of it.
fn read(text: &str) -> Reading {
    let start = cpu_time();
    let reading = check::check(text).unwrap_or_else(|fault| panic!("{fault:.2000}\n{text:.2000}"));
    let time = cpu_time() - start;
    assert!(time < Duration::from_secs(20), "{time:?} for {text:.200}");
    reading
}

/// Time is linear in the size: four times as much takes about four times as long, and never ten times.
#[test]
fn time_grows_with_size() {
    for shape in Shape::ALL {
        let seconds = |size: usize| {
            let text = large_module(shape, size);
            let once = || {
                let start = cpu_time();
                assert_eq!(ptx::parse(&text).is_ok(), shape.parses(), "{shape:?}");
                (cpu_time() - start).as_secs_f64()
            };
            // The clock may tick only a hundred times a second.
            (0..3).map(|_| once()).sum::<f64>()
        };
        let (small, large) = (seconds(10_000), seconds(40_000));
        println!("{shape:?}: {small:.3} s, {large:.3} s");
        assert!(large < 10.0 * small + 0.05, "{shape:?}: {small:.3} s, and four times as much {large:.3} s");
    }
}

/// Nesting of any depth and kind is an error at a place, and no overflow of the stack, which is that of a
/// test's thread here: 2 MiB.
#[test]
fn deep_nesting() {
    const DEPTH: usize = 10_000;
    let nested = |open: &str, inner: &str, close: &str| format!("{}{inner}{}", open.repeat(DEPTH), close.repeat(DEPTH));
    let deep = [
        kernel(&nested("{", "", "}")),
        kernel(&"{".repeat(DEPTH)),
        kernel(&"}".repeat(DEPTH)),
        kernel(&format!("mov.u32 %r1, {};", nested("(", "1", ")"))),
        kernel(&format!("mov.u32 %r1, {};", nested("{", "1", "}"))),
        kernel(&format!("ld.u32 %r1, {};", nested("[", "%r1", "]"))),
        kernel(&format!("mov.u32 %r1, {};", nested("-", "1", ""))),
        kernel(&format!("mov.u32 %r1, {};", nested("!~", "1", ""))),
        kernel(&format!("mov.u32 %r1, {};", nested(&format!("{}(", "-".repeat(150)), "1", ")"))),
        kernel(&format!("mov.u32 %r1, {};", nested(&format!("{}{{", "-".repeat(150)), "1", "}"))),
        top(&format!(".global .b32 x[1] = {};", nested("{", "1", "}"))),
        top(&format!(".global .b32 x = {};", nested("~-", "1", ""))),
        top(&format!(".global .b64 x = {};", nested("generic(", "x", ")"))),
        top(&format!(".global .b64 x = {};", nested(&format!("{}0xFF(", "-".repeat(150)), "x", ")"))),
        top(&".entry k(".repeat(DEPTH)),
    ];
    for text in deep {
        assert_eq!(read(&text), Reading::Refused, "{text:.200}");
    }
    // As deep as anything may be.
    for text in [nested_scopes(150), kernel(&format!("mov.u32 %r1, {}1{};", "-(".repeat(90), ")".repeat(90)))] {
        assert_eq!(read(&text), Reading::Typed, "{text:.200}");
    }
}

fn nested_scopes(depth: usize) -> String {
    kernel(&format!("{}mov.u32 %r1, %r2;{}", "{ .reg .b32 %r2; ".repeat(depth), "}".repeat(depth)))
}

/// Lists and words of any length cost no more than their length.
#[test]
fn long_things() {
    const LENGTH: usize = 60_000;
    let many = |piece: &str| piece.repeat(LENGTH);
    let right = [
        kernel(&format!("mov.u32 %r1, {}1;", many("1+"))),
        kernel(&format!(
            "targets: .branchtargets {}label;\n{}",
            many("label,"),
            "brx.idx %r1, targets;\n".repeat(1000)
        )),
        kernel(&many("//@ assert 1;\n")),
        kernel(&format!("mov.f32 %f, {}.5;", many("9"))),
        top(&format!(".global .b64 x = {}1;", many("1+"))),
        top(&format!(".global .b64 x = {}1;", many("x-x+").replace("x-x", "1-1"))),
        top(&format!(".global .b8 x[] = \"{}\";", many("a"))),
        top(&format!("/*{}*/", many("* /"))),
        top(&format!(".section .debug {{ {} }}", many(".b8 1\n"))),
        top(&format!(".pragma {}\"\";", many("\"\","))),
    ];
    for text in right {
        assert_eq!(read(&text), Reading::Typed, "{text:.200}");
    }
    let wrong = [
        kernel(&format!("mov.u32 %r1, {};", many("9"))),
        kernel(&format!("mov.u32 %r1, 0x{};", many("f"))),
        kernel(&format!("mov.u32 %r1, {};", many("a"))),
        kernel(&format!("{} %r1;", many("a"))),
        kernel(&format!("mov{} %r1, 1;", many(".u32"))),
        kernel(&format!("mov.{} %r1, 1;", many("u"))),
        kernel(&many("@")),
        kernel(&many("label:")),
        kernel(&many("mov.u32 %r1 1;")),
        kernel(&many("mov.u64 %r1, 1;")),
        kernel(&many(",")),
        kernel(&many("\"\\")),
        kernel(&many("\u{1}")),
        kernel(&many("/*")),
        top(&many(".entry")),
        top(&many("\u{20ac}")),
        top(&many("}")),
        many("\""),
        many("\0"),
    ];
    for text in wrong {
        assert_ne!(read(&text), Reading::Typed, "{text:.200}");
    }
}

/// Files that are hardly any text.
#[test]
fn hardly_any_text() {
    for text in ["", " ", "\n", "\u{feff}", "// comment", "/* comment */", "/*", "\"", "\0", ".", "%", "_", ".section"]
    {
        assert_ne!(read(text), Reading::Typed, "{text:?}");
    }
    let text = kernel("//@ assert 1;\nmov.u32 %r1, 1; // comment");
    for text in [format!("\u{feff}{text}"), text.replace('\n', "\r\n"), text.trim_end().to_string()] {
        assert_eq!(read(&text), Reading::Typed, "{text:?}");
    }
}

/// More errors than are told: the first says so.
#[test]
fn too_many_errors() {
    for statement in ["mov.u32 %r1 1;\n", "mov.u64 %r1, 1;\n", "\u{1}"] {
        let errors = ptx::parse(&kernel(&statement.repeat(5000))).expect_err("these are errors");
        assert_eq!(errors.len(), ptx::context::MAX_ERRORS);
        assert!(errors[0].notes.iter().any(|note| note.contains("or more")), "{:?}", errors[0]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    /// Modules with all kinds of constructs: the print gives the same module, and so do other blanks.
    #[test]
    fn round_trips(text in module(), choices in prop::collection::vec(any::<u8>(), 1..50)) {
        let read = ptx::parse(&text);
        prop_assert!(read.is_ok(), "{:?}\n{}", read.err(), text);
        prop_assert_eq!(check::check(&text), Ok(Reading::Typed));
        let spaced = with_other_blanks(&text, &choices);
        match (read, ptx::parse(&spaced)) {
            (Ok(one), Ok(other)) => prop_assert!(check::same(&one, &other), "{}\nis not\n{}", text, spaced),
            (_, other) => prop_assert!(false, "{:?}\n{}", other.err(), spaced),
        }
    }
}
