//! Large PTX modules in the manner of nvcc, the same at every run.

use std::fmt::Write;

/// What a module has a lot of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Everything, in the proportions of a big library.
    Library,
    /// One kernel with a long body.
    LongBody,
    /// Small functions that call each other.
    Functions,
    /// Labels and branches to them.
    Labels,
    /// Registers that are used once.
    Registers,
    /// Bytes of one initialiser.
    Initialiser,
    /// Source positions, with inlining, and files.
    Locations,
    /// Variables of the module.
    Variables,
    /// Scopes that declare the same names.
    Scopes,
    /// Annotations.
    Annotations,
    /// Statements with errors of syntax.
    SyntaxErrors,
    /// Statements with errors of type.
    TypeErrors,
    /// Terms of one constant expression.
    Terms,
}

impl Shape {
    /// All of them.
    pub const ALL: [Shape; 13] = [
        Shape::Library,
        Shape::LongBody,
        Shape::Functions,
        Shape::Labels,
        Shape::Registers,
        Shape::Initialiser,
        Shape::Locations,
        Shape::Variables,
        Shape::Scopes,
        Shape::Annotations,
        Shape::SyntaxErrors,
        Shape::TypeErrors,
        Shape::Terms,
    ];

    /// Whether such a module is right.
    pub fn parses(self) -> bool {
        !matches!(self, Shape::SyntaxErrors | Shape::TypeErrors)
    }
}

/// A module of this shape with `size` instructions, or as many of what the shape has a lot of.
pub fn large_module(shape: Shape, size: usize) -> String {
    let mut out = String::from(".version 8.5\n.target sm_90\n.address_size 64\n\n");
    match shape {
        Shape::Library => library(&mut out, size),
        Shape::LongBody => body(&mut out, "kernel_0", true, size),
        Shape::Functions => functions(&mut out, size),
        Shape::Initialiser => initialiser(&mut out, size),
        Shape::Variables => repeat(&mut out, size, |out, n| writeln!(out, ".global .align 4 .b32 variable_{n}[16];")),
        Shape::Locations => locations(&mut out, size),
        _ => statements(&mut out, shape, size),
    }
    out
}

/// The text of 660,000 instructions is 26 MB.
fn library(out: &mut String, size: usize) {
    const FILES: usize = 40;
    const LONGEST: usize = 12_000;
    for file in 1..=FILES {
        let _ = writeln!(out, ".file\t{file} \"/usr/include/library/detail/header_{file}.cuh\"");
    }
    initialiser(out, size / 2);
    let (mut left, mut number) = (size, 0);
    while left > 0 {
        // A few long kernels among many of middle size and small device functions.
        let length = [LONGEST, 900, 40, 3000, 150, 700][number % 6].min(left);
        let prefix = if number % 6 == 2 { "device" } else { "kernel" };
        body(out, &format!("_ZN7library6detail6{prefix}_{number}EPKfPfi"), number % 6 != 2, length);
        left -= length;
        number += 1;
    }
}

/// Instructions between two `.loc` lines, and between two labels.
const LOCATION_EVERY: usize = 5;
const LABEL_EVERY: usize = 24;

fn body(out: &mut String, name: &str, is_entry: bool, size: usize) {
    let kind = if is_entry { ".visible .entry" } else { ".func" };
    let _ = writeln!(out, "\t// .globl\t{name}\n{kind} {name}(");
    let _ =
        writeln!(out, "\t.param .u64 {name}_param_0,\n\t.param .u64 {name}_param_1,\n\t.param .u32 {name}_param_2\n)");
    let _ = writeln!(out, "{{\n\t.reg .pred \t%p<{0}>;\n\t.reg .b32 \t%r<{0}>;", size + 9);
    let _ = writeln!(out, "\t.reg .f32 \t%f<{0}>;\n\t.reg .b64 \t%rd<{0}>;\n", size + 9);
    let _ = writeln!(out, "\tld.param.u64 \t%rd0, [{name}_param_0];\n\tld.param.u64 \t%rd1, [{name}_param_1];");
    let _ = writeln!(
        out,
        "\tld.param.u32 \t%r0, [{name}_param_2];\n\tmov.u32 \t%r1, %tid.x;\n\tmov.f32 \t%f0, 0f3F800000;"
    );
    let (mut n, mut written) = (1, 6);
    while written < size {
        if n % LOCATION_EVERY == 0 {
            let _ = writeln!(out, "\t.loc\t{} {} {}", n % 40 + 1, n % 977 + 1, n % 31 + 1);
        }
        written += step(out, n, size - written > 2 * LABEL_EVERY);
        n += 1;
    }
    let _ = writeln!(out, "\tret;\n\n}}");
}

/// A few instructions that give registers of this number; how many. `goes_on`: the next label follows.
fn step(out: &mut String, n: usize, goes_on: bool) -> usize {
    let (before, next) = (n - 1, n + 1);
    let text = match (n % LABEL_EVERY, n % 8) {
        (0, _) => format!("$L__BB{0}_{0}:\n\tadd.s32 \t%r{next}, %r{n}, {1};", n / LABEL_EVERY, n % 4096),
        (1, _) if goes_on => {
            let label = n / LABEL_EVERY + 1;
            format!("\tsetp.ge.s32 \t%p{n}, %r{before}, %r0;\n\t@%p{n} bra \t$L__BB{label}_{label};")
        }
        (_, 2) => format!("\tmul.wide.s32 \t%rd{next}, %r{n}, 4;\n\tmov.u32 \t%r{next}, %r{n};"),
        (_, 3) => format!("\tld.global.nc.f32 \t%f{n}, [%rd{n}+{}];\n\tmad.lo.s32 \t%r{next}, %r{n}, %r1, %r0;", n * 4),
        (_, 5) => {
            format!("\tfma.rn.f32 \t%f{next}, %f{n}, %f{before}, 0fBF800000;\n\txor.b32 \t%r{next}, %r{n}, -{n};")
        }
        (_, 6) => format!("\tst.shared.v2.f32 \t[%rd0+{}], {{%f{n}, %f0}};", n * 8),
        _ => format!("\tadd.s32 \t%r{next}, %r{n}, {n};"),
    };
    out.push_str(&text);
    out.push('\n');
    text.matches(';').count()
}

fn functions(out: &mut String, size: usize) {
    repeat(out, size, |out, n| {
        writeln!(out, ".func (.param .b32 result) function_{n}(.param .b32 argument)\n{{\n\t.reg .b32 %r<4>;")?;
        writeln!(out, "\tld.param.b32 %r1, [argument];")?;
        if n > 0 {
            writeln!(out, "\tcall.uni (%r2), function_{}, (%r1);", n / 2)?;
        }
        writeln!(out, "\tst.param.b32 [result], %r1;\n\tret;\n}}")
    });
}

fn initialiser(out: &mut String, size: usize) {
    let _ = write!(out, ".global .align 4 .b8 table[{size}] = {{");
    repeat(out, size, |out, n| write!(out, "{}{}", if n == 0 { "" } else { ", " }, n * 37 % 256));
    out.push_str("};\n");
}

fn locations(out: &mut String, size: usize) {
    repeat(out, size, |out, n| writeln!(out, ".file {} \"file_{n}.cu\"", n + 1));
    out.push_str(".entry kernel()\n{\n\t.reg .b32 %r<2>;\n");
    repeat(out, size, |out, n| {
        let (file, line) = (n + 1, n % 1000 + 1);
        let before = n.max(1);
        writeln!(out, "\t.loc {file} {line} 7, function_name $L__info_string0, inlined_at {before} {line} 7")?;
        writeln!(out, "\tmov.b32 %r1, {n};")
    });
    out.push_str("}\n");
}

/// The shapes that are many statements of one kernel.
fn statements(out: &mut String, shape: Shape, size: usize) {
    out.push_str(".entry kernel()\n{\n");
    let _ = writeln!(out, "\t.reg .b32 %r<{}>;\n\t.reg .pred %p<2>;\n\t.reg .b64 %rd<2>;", size + 2);
    if shape == Shape::Terms {
        out.push_str("\tmov.u64 %rd0, 1");
        repeat(out, size, |out, n| write!(out, " + {n}"));
        out.push_str(";\n");
    }
    repeat(out, size, |out, n| match shape {
        Shape::Labels => writeln!(out, "label_{n}:\n\t@%p0 bra label_{};", size - 1 - n),
        Shape::Registers => writeln!(out, "\tmov.b32 %r{n}, %r{};", size - n),
        Shape::Scopes => writeln!(out, "\t{{ .reg .b32 %r1; .local .b32 x; x: mov.b32 %r1, x; }}"),
        Shape::Annotations => writeln!(out, "\t//@ assume %r{n} == 0;"),
        Shape::SyntaxErrors => writeln!(out, "\tmov.b32 %r1 %r{n};"),
        Shape::TypeErrors => writeln!(out, "\tmov.b64 %r1, %r{n};"),
        _ => Ok(()),
    });
    out.push_str("}\n");
}

fn repeat(out: &mut String, count: usize, one: impl Fn(&mut String, usize) -> std::fmt::Result) {
    for number in 0..count {
        // Writing to a string cannot fail.
        let _ = one(out, number);
    }
}
