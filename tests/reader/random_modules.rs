//! Right PTX modules of all shapes, made by proptest.

use gpuvcc::ptx::lexer::{Token, Tokens};
use proptest::collection::vec;
use proptest::prelude::*;

/// Blanks and comments, each of which may stand between any two tokens.
const BLANKS: [&str; 6] = [" ", "\t", "\n", "\r\n", " /* ; } \" */ ", " // }\n"];

/// Instructions whose names the body below declares. `$i`, `$l` and `$f` stand for operands of 32 bits, 64 bits
/// and floats, `$a` for an address, `$j` for a label.
const INSTRUCTIONS: [&str; 44] = [
    "add.s32 %r1, $i, $i",
    "add.cc.u32 %r1, $i, $i",
    "mul.wide.u32 %rd1, $i, $i",
    "mad.lo.s32 %r2, $i, $i, $i",
    "shl.b32 %r1, $i, $i",
    "lop3.b32 %r1, $i, $i, $i, 0x1e",
    "bfe.u32 %r3, $i, 3, 4",
    "prmt.b32 %r3, $i, $i, 0x3210",
    "add.s64 %rd2, $l, $l",
    "fma.rn.f32 %f1, $f, $f, $f",
    "setp.lt.s32 %p1, $i, $i",
    "setp.ge.and.f32 %p1|%p2, $f, $f, !%p3",
    "set.eq.u32.s32 %r1, $i, $i",
    "selp.b32 %r2, $i, $i, %p2",
    "mov.u32 %r1, $i",
    "mov.u32 %r1, %tid.x",
    "mov.u64 %rd1, table",
    "mov.b64 %rd1, {%r1, %r2}",
    "mov.b64 {%r1, _}, %rd1",
    "mov.u32 %r3, v.x",
    "mov.u32 %w1.y, %w0.x",
    "fabric.try_get.async.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.b128 [$a], [$i, $l], 16, [%rd2]",
    "cvt.u64.u32 %rd1, %r1",
    "cvt.rn.f32.s32 %f1, %r2",
    "cvta.to.global.u64 %rd2, %rd1",
    "ld.global.u32 %r1, [$a]",
    "ld.global.v2.f32 {%f1, %f2}, [$a]",
    "ld.volatile.shared.u8 %r1, [tile+3]",
    "ld.acquire.gpu.b32 %r1, [$a]",
    "ld.param.u64 %rd1, [pointer]",
    "st.shared.b32 [tile], $i",
    "st.global.v4.b32 [$a], {%r1, %r2, %r3, %r1}",
    "atom.global.add.u32 %r1, [$a], $i",
    "atom.shared.cas.b32 %r1, [tile], $i, $i",
    "red.relaxed.gpu.global.max.s32 [$a], $i",
    "bar.sync 0",
    "barrier.sync.aligned %r2, 64",
    "bar.red.popc.u32 %r1, 0, %p1",
    "membar.gl",
    "shfl.sync.down.b32 %r1|%p1, %r2, $i, 31, -1",
    "vote.sync.ballot.b32 %r1, !%p1, -1",
    "bra.uni $j",
    "call.uni (result), helper, (argument, $i)",
    "nanosleep.u32 100",
];

/// Top-level constructs beside the functions.
const CONSTRUCTS: [&str; 12] = [
    ".file 2 \"more.cu\", 1700000000, 1234\n",
    ".pragma \"nounroll\";\n",
    ".section .debug_str { .b8 1, 2 }\n",
    ".extern .shared .align 16 .b8 dynamic[];\n",
    ".visible .global .align 8 .u64 pointers[2] = {generic(table), table + 8 - 4};\n",
    ".const .f32 factors[] = {1.5, -0.25, 0f3F800000, 2};\n",
    ".global .b32 square[2][2] = {{1, 2}, {0x3U, ~4}};\n",
    ".global .b8 text[4] = \"abc\";\n",
    ".global .attribute(.managed) .b32 managed = -1;\n",
    ".global .b8 bytes[2] = {0xFF(table), 0xFF00(generic(table))};\n",
    ".weak .func weak_one() { ret; }\n.alias other_name, weak_one;\n",
    ".extern .func (.param .b32 r) outside(.param .align 8 .b8 p[16], .reg .b32 q);\n",
];

/// Directives behind the head of an entry.
const DIRECTIVES: [&str; 5] = ["", ".reqntid 32, 2", ".maxntid 256", ".minnctapersm 2\n.maxnreg 64", ".pragma \"x\";"];

fn one_of(texts: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(texts).prop_map(str::to_string)
}

fn integer() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<u32>().prop_map(|value| value.to_string()),
        any::<u64>().prop_map(|value| format!("0x{value:x}U")),
        any::<u8>().prop_map(|value| format!("0b{value:b}")),
        any::<u8>().prop_map(|value| format!("0{value:o}")),
        any::<i32>().prop_map(|value| value.to_string()),
    ]
}

/// A constant expression.
fn constant() -> impl Strategy<Value = String> {
    let expression = integer().prop_recursive(4, 12, 3, |inner| {
        let operator = one_of(&["+", "-", "*", "&", "|", "^", "/ 7 +", "<< 2 |"]);
        prop_oneof![
            inner.clone().prop_map(|one| format!("({one})")),
            inner.clone().prop_map(|one| format!("~{one}")),
            (inner.clone(), operator, inner).prop_map(|(a, operator, b)| format!("{a} {operator} {b}")),
        ]
    });
    // Some divide values whose sign is not known, which is an error.
    expression.prop_filter("a division of large values", |text| !text.contains('/'))
}

fn instruction() -> impl Strategy<Value = String> {
    // A constant has 64 bits wherever it stands.
    let integer = prop_oneof![one_of(&["%r1", "%r2", "%r999", "WARP_SZ"]), constant()];
    let long = prop_oneof![one_of(&["%rd1", "%rd2"]), constant()];
    let float = one_of(&["%f1", "%f2", "0f3F800000", "-1.5", "1e3"]);
    let address = one_of(&["%rd1", "%rd2+-4", "table", "table+12", "4096"]);
    let label = one_of(&["first", "last"]);
    let operands = vec((integer, long, float, address, label), 3);
    (one_of(&["", "", "@%p1 ", "@!%p2 "]), one_of(&INSTRUCTIONS), operands).prop_map(|(guard, form, operands)| {
        let mut pieces = form.split('$');
        let mut text = format!("{guard}{}", pieces.next().unwrap_or_default());
        for (piece, (integer, long, float, address, label)) in pieces.zip(&operands) {
            let (kind, rest) = piece.split_at(1);
            text.push_str(match kind {
                "i" => integer,
                "l" => long,
                "f" => float,
                "a" => address,
                _ => label,
            });
            text.push_str(rest);
        }
        text + ";\n"
    })
}

fn statement() -> impl Strategy<Value = String> {
    let other = one_of(&[
        ".loc 1 2 3\n",
        ".loc 1 5 1, function_name name+4, inlined_at 1 2 3\n",
        "//@ assert %r1 == %r2;\n",
        ".pragma \"nounroll\";\n",
        "brx.idx %r1, targets;\n",
        "{ .reg .pred %p<2>; .local .align 4 .b8 tile[8]; inner: @%p1 bra inner; st.local.b8 [tile], %r1; }\n",
        "@%p1 exit;\n",
        "ret;\n",
    ]);
    let statement = prop_oneof![4 => instruction(), 1 => other];
    statement.prop_recursive(3, 8, 3, |inner| vec(inner, 0..3).prop_map(|list| format!("{{\n{}}}\n", list.concat())))
}

fn function(number: usize) -> impl Strategy<Value = String> {
    let head = one_of(&["", ".visible ", ".weak "]);
    (head, one_of(&DIRECTIVES), vec(statement(), 0..8)).prop_map(move |(head, directives, statements)| {
        let body = statements.concat();
        format!(
            "{head}.entry kernel_{number}(.param .u64 .ptr .global .align 16 pointer, .param .b8 structure[12])\n\
             {directives}\n{{\n.reg .pred %p<4>;\n.reg .b32 %r<1000>;\n.reg .b64 %rd1, %rd2;\n.reg .f32 %f<3>;\n\
             .reg .v4 .b32 v; .reg .v2 .u32 %w<2>;\n.shared .align 4 .b8 tile[64];\n.param .b32 result, argument;\n\
             targets: .branchtargets first, last;\nprototype: .callprototype (.param .b32 _) _ (.param .b32 _);\n\
             first:\n{body}last: ret;\n}}\n"
        )
    })
}

/// Right modules.
pub fn module() -> impl Strategy<Value = String> {
    let chosen = prop::sample::subsequence(CONSTRUCTS.to_vec(), 0..=CONSTRUCTS.len());
    (chosen, function(0), function(1)).prop_map(|(constructs, first, second)| {
        let constructs = constructs.concat();
        format!(
            ".version 8.5\n.target sm_90, debug\n.address_size 64\n.file 1 \"a \\\"quoted\\\" name.cu\"\n\
             .global .align 8 .b8 table[64];\n.func (.param .b32 r) helper(.param .b32 a, .param .b32 b);\n\
             {constructs}{first}{second}\
             .func (.param .b32 r) helper(.param .b32 a, .param .b32 b)\n{{ st.param.b32 [r], 1; ret; }}\n"
        )
    })
}

/// The same tokens with other blanks between them; a number from `choices` chooses each.
pub fn with_other_blanks(text: &str, choices: &[u8]) -> String {
    let mut out = String::new();
    for (number, (start, token, end)) in Tokens::new(text, 1).enumerate() {
        out.push_str(&text[start..end]);
        let choice = choices.get(number % choices.len().max(1)).map_or(0, |&choice| usize::from(choice));
        out.push_str(if matches!(token, Token::Annotation) { "\n" } else { BLANKS[choice % BLANKS.len()] });
    }
    out
}
