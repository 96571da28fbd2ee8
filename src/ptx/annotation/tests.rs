//! Expressions of annotations: what they mean, and what is told of mistakes.

use super::*;

/// `%a`, `%b`: signed of 32 bits; `%h`: of 16; `%u`: unsigned of 32; `%d`: of 64; `%p`: a predicate.
struct Few;

impl Names<'_> for Few {
    fn register(&mut self, name: &str) -> Option<(RegisterId, ScalarType)> {
        let all = [
            ("%a", ScalarType::B(32)),
            ("%b", ScalarType::S(32)),
            ("%h", ScalarType::B(16)),
            ("%u", ScalarType::U(32)),
            ("%d", ScalarType::B(64)),
            ("%p", ScalarType::Pred),
            ("%f", ScalarType::F(32)),
        ];
        let index = all.iter().position(|one| one.0 == name)?;
        Some((RegisterId(index as u32), all[index].1))
    }

    fn array(&mut self, name: &str) -> Result<ArrayRef, String> {
        if name == "table" { Ok(ArrayRef::Pointee(3)) } else { Err(format!("no array `{name}`")) }
    }

    fn pointer(&mut self, name: &str) -> Result<ArrayRef, String> {
        if name == "in" { Ok(ArrayRef::Pointee(4)) } else { Err(format!("no pointer `{name}`")) }
    }

    fn parameter(&mut self, name: &str) -> Result<(u32, ScalarType), String> {
        if name == "n" { Ok((0, ScalarType::U(32))) } else { Err(format!("no parameter `{name}`")) }
    }
}

impl Known for Few {
    fn leaf(&self, leaf: &ValueKind) -> u64 {
        match leaf {
            ValueKind::Register(RegisterId(0)) => 0xffff_fffe, // %a = -2
            ValueKind::Register(RegisterId(1)) => 7,
            ValueKind::Register(RegisterId(2)) => 0xffff, // %h = -1
            ValueKind::Register(RegisterId(3)) => 0xffff_ffff,
            ValueKind::Register(RegisterId(4)) => 1 << 40,
            ValueKind::Register(RegisterId(5)) => 1,
            ValueKind::Parameter(0) => 3_000_000_000,
            _ => 5,
        }
    }

    /// 100 bytes: the byte at offset 8 is 0xf8, all others are their offset.
    fn load(&self, array: ArrayRef, offset: u64, bytes: u32) -> Option<u64> {
        assert!(matches!(array, ArrayRef::Pointee(3 | 4)));
        let byte = |at: u64| if at == 8 { 0xf8 } else { at };
        (offset + u64::from(bytes) <= 100)
            .then(|| (0..u64::from(bytes)).fold(0, |sum, at| sum | byte(offset + at) << (8 * at)))
    }
}

fn value(text: &str) -> Result<bool, String> {
    let text = format!("barrier_invariant {text};");
    let parsed = stated(&text)?.expression;
    assert_eq!(parsed.ty, ValueType::Bool);
    parsed.evaluate(&Few).map(|bits| bits == 1).ok_or_else(|| "unknown".to_string())
}

fn stated(text: &str) -> Result<Statement<'_>, String> {
    statement(text, &mut Few).map_err(|mistake| mistake.message)
}

#[test]
fn barrier_invariants_load_from_arrays() {
    let invariant = stated(" barrier_invariant table.s8[8] == -8 && [in].u16[%b - 6] == 0x201 at %tid.x, %d, 7;");
    let invariant = invariant.expect("understood");
    assert_eq!(invariant.expression.evaluate(&Few), Some(1));
    assert_eq!(invariant.expression.arrays(), vec![ArrayRef::Pointee(3), ArrayRef::Pointee(4)]);
    assert_eq!(invariant.threads.len(), 3);
    assert_eq!(invariant.text, "table.s8[8] == -8 && [in].u16[%b - 6] == 0x201 at %tid.x, %d, 7");
    // What lies outside is read only if it matters.
    let guarded = stated("barrier_invariant %b < 7 ==> table.u32[table.u8[4 * %b] << 8] == 0;").expect("understood");
    assert_eq!(guarded.expression.evaluate(&Few), Some(1));
    assert_eq!(guarded.threads, vec![Value::thread()]);
    let outside = stated("barrier_invariant table.b64[93] == 0;").expect("understood");
    assert_eq!(outside.expression.evaluate(&Few), None);
}

#[test]
fn mistakes_in_barrier_invariants_are_told() {
    for (text, message) in [
        ("assert table.u8[0] == 0;", "only a barrier invariant speaks about what arrays hold"),
        ("assert %b == 7 at %tid.x;", "only a barrier invariant is used of threads (`at`)"),
        ("barrier_invariant table.f32[0] == 0;", "`f32` is none of u8 to u64, s8 to s64, b8 to b64"),
        ("barrier_invariant row.u32[0] == 0;", "no array `row`"),
        ("barrier_invariant [n].u32[0] == 0;", "no pointer `n`"),
        ("barrier_invariant table.u8[%p] == 0;", "an offset is a number"),
        ("barrier_invariant table.u8[0;", "`]` is missing"),
        ("barrier_invariant %b == 7 at;", "the expression ends early"),
        ("barrier_invariant %b == 7 at %p;", "the number of a thread is no predicate"),
        ("barrier_invariant %b == 7 at %tid.x 7;", "unexpected `7`"),
        ("barrier_invariant %b == 7 at 5000000000;", "5000000000 does not fit a number of 32 bits"),
    ] {
        assert_eq!(stated(text).map(|_| ()), Err(message.to_string()), "{text}");
    }
}

#[test]
fn operators_bind_as_in_c() {
    for text in [
        "%b + 2 * 3 == 13 && (%b + 2) * 3 == 27",
        "%b - 2 - 1 == 4 && %b << 1 + 1 == 28",
        "1 + 1 == 2 && 0x10 == 16 && -1 < 0 && 7u == 7",
        "false ==> true ==> false",
        "!(true ==> false) && !!%p && %p == true",
        "-%b == -7 && ~%b == -8 && %b % 4 == 3 && -%b % 4 == -3 && -%b / 2 == -3",
        "(%b & 6) == 6 && (%b ^ 1) == 6 && (%b | 8) == 15 && %b%4 == 3",
        "%tid.x == 5 && %nctaid.z >= 5 && [n] == 3000000000",
        "%b && !(%b - 7)",
    ] {
        assert_eq!(value(text), Ok(true), "{text}");
    }
}

#[test]
fn arithmetic_wraps_at_the_width_of_the_widest_operand() {
    for text in [
        "%a + 3 == 1 && %u + 1 == 0",
        "%a * 1073741824 == -2147483648",
        "%a < 0 && %a + %u < 5 == false",
        // One unsigned operand makes it unsigned; each is extended as its own type says.
        "%a > %tid.x && %h + 0 == -1 && %h == %a + 1 && %u + %d == 0x100ffffffff",
        "%h + 1 == 0 && %d * %d == 0",
        "%d > %u && %d << 24 == 0 && %a >> 1 == -1 && %u >> 31 == 1 && %a >> 40 == -1 && %a << 32 == 0",
        "%a / 0 == -1 && %a % 0 == %a && %u / (%b - 7) == 0xffffffff",
        "%b << (0 - 1) == 0",
    ] {
        assert_eq!(value(text), Ok(true), "{text}");
    }
}

/// `%u * %u` is 2^64 - 2^33 + 1.
#[test]
fn products_that_are_required_have_64_bits() {
    for (text, holds) in [
        ("%u * %u == 1", false),
        ("%u * %u + 4 > 4294967296 && [n] * [n] == 9000000000000000000", true),
        ("%a * 1073741824 == -2147483648 && %b * %a <= -14 && %a * %a == 4", true),
        // Sums have the width of their operands, and of products in them.
        ("%u + 1 == 0 && %u * 2 + 2 == 0x200000000", true),
    ] {
        let required = stated(&format!("requires {text};")).map(|required| required.expression.evaluate(&Few));
        assert_eq!(required, Ok(Some(u64::from(holds))), "{text}");
    }
}

#[test]
fn mistakes_are_told() {
    for (text, message) in [
        ("%r9 == 1", "`%r9` is no register of this function"),
        ("%b = 1", "unexpected `=`"),
        ("%b <", "the expression ends early"),
        ("(%b", "`)` is missing"),
        ("%b < 3000000000", "3000000000 does not fit a signed number of 32 bits"),
        ("%b == 5000000000", "5000000000 does not fit a number of 32 bits"),
        ("%p < 1", "`<` compares numbers, not predicates"),
        ("1 < 2 < 3", "`<` compares numbers, not predicates"),
        ("%a & %b == 3", "`&` takes numbers; `==` binds tighter, so parentheses may be missing"),
        ("%p + 1", "`+` takes numbers, not predicates"),
        ("-%p", "`-` takes a number, not a predicate"),
        ("%f < 1", "`%f` holds a floating-point number, which annotations cannot speak about"),
        ("[m] == 1", "no parameter `m`"),
        ("18446744073709551615 + 1 == 0", "this number is too large"),
        ("%b 5", "unexpected `5`"),
        ("%b @ 5", "unexpected `@`"),
        ("1 / 0 == 1", "a constant divided by zero"),
    ] {
        assert_eq!(value(text), Err(message.to_string()), "{text}");
    }
    let deep = format!("{}1", "(".repeat(5000));
    assert_eq!(value(&deep), Err("the expression is too large".to_string()));
    let long = format!("1{}", " + %b".repeat(5000));
    assert_eq!(value(&long), Err("the expression is too large".to_string()));
}
