//! Codes of the `ptx` stage: what is wrong in PTX input.

use super::Code;

/// The table.
pub const CODES: &[Code] = &[
    Code {
        code: "ptx-syntax",
        title: "the text is not PTX",
        text: "A token stands where the grammar allows none, a character starts no token, a number does not fit, \
               or the file ends inside a construct. The label lists what could stand there. Parsing goes on at \
               the next statement, so one run shows all such places (at most 20).",
        example: "mov.u32 %r1 %r2;      // a comma is missing",
    },
    Code {
        code: "ptx-header",
        title: "`.version`, `.target` or `.address_size` is missing or wrong",
        text: "PTX starts with the ISA version and the target architecture; the address size is 32 or 64 (32 if \
               nothing is said).",
        example: ".version 8.7\n.target sm_90\n.address_size 64",
    },
    Code {
        code: "unknown-directive",
        title: "a word with a leading dot is no directive of PTX",
        text: "Either a misspelling, or a directive of a PTX version that is newer than this program. Directives \
               that say nothing about the meaning of a kernel are accepted and skipped, but only known ones.",
        example: ".regs .b32 %r<4>;     // .reg",
    },
    Code {
        code: "unknown-opcode",
        title: "an instruction is not in the table",
        text: "The PTX ISA has no such instruction, or only a newer version than the one this program knows. It \
               is never skipped: an instruction without meaning could hide a race. The note names similar ones.",
        example: "ad.s32 %r1, %r2, %r3; // add.s32",
    },
    Code {
        code: "unknown-modifier",
        title: "an instruction is known, but not with this modifier",
        text: "A modifier is misspelt, missing, at the wrong place, or does not go together with another one. \
               The note lists what is allowed there.",
        example: "ld.acquire.global.u32 %r1, [%rd1];   // needs a scope: ld.acquire.gpu.global.u32",
    },
    Code {
        code: "operand-count",
        title: "an instruction or call has too few or too many operands",
        text: "Counted as the PTX ISA describes the instruction. Vectors count as one operand; their elements are \
               counted against `.v2`, `.v4` or `.v8`. Calls are compared with the header of the function.",
        example: "add.s32 %r1, %r2;",
    },
    Code {
        code: "operand-kind",
        title: "an operand is of the wrong kind",
        text: "For instance a constant where a register is written, or an address without brackets.",
        example: "ld.global.u32 %r1, %rd1;             // [%rd1]",
    },
    Code {
        code: "type-mismatch",
        title: "a register or constant does not have the type of the operand",
        text: "Registers must be as wide as the instruction's type, and of a fitting kind: `.bN` goes with \
               everything, floats do not go with integers. `ld`, `st` and `cvt` also take wider registers.",
        example: ".reg .b64 %rd<4>;\nadd.s32 %rd1, %rd2, %rd3;",
    },
    Code {
        code: "undefined-name",
        title: "a register, variable, label or function is declared nowhere",
        text: "Names are visible in the scope that declares them and in the scopes inside it; `.reg .b32 %r<5>;` \
               declares %r0 to %r4. After syntax errors this is not reported, as it may follow from them.",
        example: "{ .reg .pred p; }\n@p bra DONE;",
    },
    Code {
        code: "duplicate-name",
        title: "a name is declared twice in one scope",
        text: "A nested scope may declare a name again; one scope may not. `.extern` declarations and one \
               definition of the same variable or function are merged.",
        example: ".reg .b32 %r<5>;\n.reg .b32 %r<7>;",
    },
    Code {
        code: "annotation",
        title: "a `//@` comment is not understood",
        text: "Annotations are `requires`, `assume`, `assert`, `invariant` and `barrier_invariant`, each with one \
               expression over register names and a final `;`, on a line inside a function body. A misspelt one \
               is an error, so that no check is lost quietly. In front of the functions, `//@ key: value` is \
               left to test harnesses.",
        example: "//@ requires %r8 > 0;",
    },
    Code {
        code: "vector-registers",
        title: "a family of vector registers",
        text: "`.reg .v4 .f32 %v<8>;` is not supported. No compiler writes it; declare the vectors by name, or use \
               scalar registers and vector operands in braces.",
        example: ".reg .v4 .f32 v0, v1;",
    },
    Code {
        code: "register-parameters",
        title: "a function takes a predicate or vector register as parameter",
        text: "Parameters in scalar registers are supported, predicates and vectors are not. Compilers pass \
               parameters in `.param` space.",
        example: ".func f(.reg .pred p) { ... }",
    },
];
