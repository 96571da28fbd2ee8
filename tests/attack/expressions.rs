//! Kernels that store at an index computed by a few integer instructions. They have no scalar
//! parameter and read no memory, so the emulator's one run tells exactly whether they race: an
//! instruction that the verifier takes for another shows in one direction or the other.

use super::generate::Generated;
use super::random::Random;
use std::fmt::Write;

/// Instructions of 32 bits and their operands: `x` a value, `c` a small constant, `k` any constant,
/// `b` a position or length, `s` a selector of four digits, `t` a table, `p` a predicate.
const FORMS: [(&str, &str); 62] = [
    ("add.s32", "xk"),
    ("add.u32", "xx"),
    ("add.sat.s32", "xk"),
    ("sub.s32", "kx"),
    ("sub.u32", "xx"),
    ("sub.sat.s32", "kx"),
    ("mul.lo.s32", "xc"),
    ("mul.lo.u32", "xk"),
    ("mul.hi.s32", "xk"),
    ("mul.hi.u32", "xk"),
    ("mul24.lo.s32", "xk"),
    ("mul24.lo.u32", "xc"),
    ("mad24.lo.u32", "xcx"),
    ("mad.lo.s32", "xcx"),
    ("mad.hi.u32", "xkx"),
    ("div.s32", "xc"),
    ("div.u32", "xc"),
    ("div.s32", "kx"),
    ("rem.s32", "xc"),
    ("rem.u32", "xc"),
    ("rem.u32", "kx"),
    ("min.s32", "xk"),
    ("min.u32", "xc"),
    ("max.s32", "xk"),
    ("max.u32", "xc"),
    ("abs.s32", "x"),
    ("neg.s32", "x"),
    ("and.b32", "xk"),
    ("or.b32", "xk"),
    ("xor.b32", "xk"),
    ("xor.b32", "xx"),
    ("not.b32", "x"),
    ("cnot.b32", "x"),
    ("shl.b32", "xb"),
    ("shl.b32", "cx"),
    ("shr.u32", "xb"),
    ("shr.s32", "xb"),
    ("shr.s32", "kx"),
    ("shf.l.wrap.b32", "xkb"),
    ("shf.l.clamp.b32", "xxx"),
    ("shf.r.wrap.b32", "kxx"),
    ("shf.r.clamp.b32", "xxb"),
    ("bfe.u32", "xbb"),
    ("bfe.s32", "xbb"),
    ("bfe.s32", "kxb"),
    ("bfi.b32", "xkbb"),
    ("bfi.b32", "kxbb"),
    ("bfi.b32", "xkxb"),
    ("brev.b32", "x"),
    ("popc.b32", "x"),
    ("clz.b32", "x"),
    ("bfind.u32", "x"),
    ("bfind.s32", "x"),
    ("bfind.shiftamt.u32", "x"),
    ("prmt.b32", "xks"),
    ("prmt.b32", "kxx"),
    ("lop3.b32", "xkct"),
    ("sad.s32", "xkx"),
    ("sad.u32", "xkc"),
    ("slct.s32.s32", "xkx"),
    ("selp.b32", "xkp"),
    ("selp.u32", "kxp"),
];

/// Ways through other widths: from %r0 to %r1 over %h0, %w0 and %w1.
const DETOURS: [&str; 14] = [
    "cvt.u16.u32 %h0, %r0; cvt.s32.s16 %r1, %h0;",
    "cvt.s8.s32 %r1, %r0;",
    "cvt.u8.u32 %r1, %r0;",
    "cvt.sat.s8.s32 %r1, %r0;",
    "cvt.sat.u8.s32 %r1, %r0;",
    "cvt.sat.u16.s32 %h0, %r0; cvt.u32.u16 %r1, %h0;",
    "cvt.u16.u32 %h0, %r0; mul.lo.s16 %h0, %h0, 37; cvt.u32.u16 %r1, %h0;",
    "cvt.u16.u32 %h0, %r0; mul.wide.s16 %r1, %h0, -3;",
    "cvt.u16.u32 %h0, %r0; shr.s16 %h0, %h0, 2; cvt.s32.s16 %r1, %h0;",
    "cvt.s64.s32 %w0, %r0; shr.s64 %w0, %w0, 1; cvt.u32.u64 %r1, %w0;",
    "mul.wide.s32 %w0, %r0, 1000003; shr.u64 %w0, %w0, 7; cvt.u32.u64 %r1, %w0;",
    "mov.b64 %w0, {%r0, 5}; shl.b64 %w0, %w0, 9; mov.b64 {%r2, %r1}, %w0; add.u32 %r1, %r1, %r2;",
    "cvt.u64.u32 %w0, %r0; mad.lo.u64 %w0, %w0, 4294967299, 7; mul.hi.u64 %w1, %w0, 8589934592; cvt.u32.u64 %r1, %w1;",
    "mov.b32 {%h0, %h1}, %r0; mov.b32 %r1, {%h1, %h0};",
];

const COMPARISONS: [&str; 10] =
    ["eq.s32", "ne.u32", "lt.s32", "lt.u32", "le.s32", "gt.u32", "ge.s32", "lo.u32", "hs.u32", "hi.u32"];

/// Makes a kernel.
pub fn generate(random: &mut Random) -> Generated {
    let block = [16, 32, 64, 40][random.below(4)];
    let grid = 1 + random.below(2) as u32;
    let mut body = String::new();
    let mut values = 5;
    for _ in 0..1 + random.below(3) {
        if random.below(4) == 0 {
            let detour = DETOURS[random.below(DETOURS.len())];
            let text = detour.replace("%r0", &format!("%r{}", values - 1)).replace("%r1", &format!("%r{values}"));
            let _ = writeln!(body, "\t{text}");
        } else {
            instruction(&mut body, values, random);
        }
        values += 1;
    }
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\n.visible .entry generated(\n\t.param .u64 a\n)\n{{\n\
         \t.reg .pred %p<2>;\n\t.reg .b16 %h<2>;\n\t.reg .b32 %r<{values}>;\n\t.reg .b64 %w<2>, %rd<4>;\n\
         \tld.param.u64 %rd1, [a];\n\tcvta.to.global.u64 %rd1, %rd1;\n\
         \tmov.u32 %r3, %ctaid.x;\n\tmov.u32 %r4, %ntid.x;\n\tmov.u32 %r2, %tid.x;\n\
         \tmad.lo.s32 %r4, %r3, %r4, %r2;\n{body}\
         \tmul.wide.u32 %rd2, %r{last}, 4;\n\tadd.s64 %rd3, %rd1, %rd2;\n\tst.global.u32 [%rd3], %r4;\n\tret;\n}}\n",
        last = values - 1
    );
    Generated { text, block, grid }
}

/// Writes an instruction with the last value among its operands.
fn instruction(body: &mut String, result: u32, random: &mut Random) {
    let (opcode, operands) = FORMS[random.below(FORMS.len())];
    let any = [0x8000_0000u32, 0x7fff_ffff, 0xffff_ffff, 0xff, 0xffff_fff0, 0x5555_5555, 31, 7, 1000];
    let mut texts: Vec<String> = Vec::new();
    for operand in operands.chars() {
        texts.push(match operand {
            'x' if random.below(4) == 0 => format!("%r{}", 2 + random.below(result as usize - 2)),
            'x' => format!("%r{}", result - 1),
            'c' => [1, 2, 3, 5, 7, 8, 16, 64][random.below(8)].to_string(),
            'k' if random.below(3) == 0 => (random.next() as i32).to_string(),
            'k' => (any[random.below(any.len())] as i32).to_string(),
            'b' => [0, 1, 3, 4, 8, 16, 27, 31, 32, 33][random.below(10)].to_string(),
            's' => (random.next() & 0xffff).to_string(),
            't' => (random.next() & 0xff).to_string(),
            _ => {
                let comparison = COMPARISONS[random.below(COMPARISONS.len())];
                let bound = any[random.below(any.len())] as i32;
                let _ = writeln!(body, "\tsetp.{comparison} %p1, %r{}, {bound};", result - 1);
                "%p1".to_string()
            }
        });
    }
    let _ = writeln!(body, "\t{opcode} %r{result}, {};", texts.join(", "));
}
