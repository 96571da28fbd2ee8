//! Codes of PTX text that is wrong.

use super::Code;

/// The table.
pub(crate) const CODES: &[Code] = &[
    Code {
        code: "ptx-syntax",
        title: "the text is not PTX",
        text: "The parser met something that the PTX grammar does not allow there; the message names what was \
               expected. After an error it goes on with the next statement, so that one run shows several \
               errors. Files end early when a download or a compiler was cut off.",
        example: "add.s32 %r1, %r2 %r3;      // the comma is missing",
    },
    Code {
        code: "ptx-header",
        title: "the header of the PTX file is missing or wrong",
        text: "A PTX file starts with `.version`, then names its `.target`; `.address_size`, if given, is 32 or \
               64.",
        example: ".version 8.0\n.target sm_80\n.address_size 64",
    },
    Code {
        code: "unknown-directive",
        title: "a directive that PTX does not have",
        text: "A word with a leading dot stands where a directive is expected, but PTX has no such directive. \
               It may be misspelt, or newer than this version of gpuvcc knows.",
        example: ".visble .entry k()         // .visible",
    },
    Code {
        code: "unknown-opcode",
        title: "an instruction that PTX does not have",
        text: "The opcode is not in the PTX manual as far as this version of gpuvcc knows it; the message names \
               similar ones. Instructions that PTX has, but that have no model here, give \
               `unsupported-instruction` instead.",
        example: "ad.s32 %r1, %r2, %r3;      // add",
    },
    Code {
        code: "unknown-modifier",
        title: "a modifier that this instruction does not take",
        text: "The dotted words behind an opcode decide what it does, so a modifier that is not known for this \
               opcode is an error and never skipped; the message lists the allowed ones.",
        example: "add.rn.s32 %r1, %r2, %r3;  // integers have no rounding",
    },
    Code {
        code: "operand-count",
        title: "too many or too few operands",
        text: "The instruction takes another number of operands.",
        example: "add.s32 %r1, %r2;",
    },
    Code {
        code: "operand-kind",
        title: "an operand of the wrong kind",
        text: "The instruction wants another kind of operand at this place: a register, a constant, an address \
               in brackets, a label, a predicate, a list in braces or a function. Constants are limited at some \
               places: the number of a barrier is one of 0 to 15, and its thread count a multiple of 32.",
        example: "ld.global.u32 %r1, %rd1;   // [%rd1]",
    },
    Code {
        code: "type-mismatch",
        title: "an operand of the wrong type or width",
        text: "The register or constant does not fit the type that the instruction names. Loads, stores and \
               conversions may use wider registers, all others demand the same width, and predicates never mix \
               with numbers.",
        example: ".reg .b64 %rd<2>;\nadd.s32 %rd1, %rd1, 1;     // 64-bit register, 32-bit addition",
    },
    Code {
        code: "undefined-name",
        title: "a name that nothing declares",
        text: "A register, variable, label or function is used, but no declaration of it is in scope. `.reg \
               .b32 %r<4>;` declares %r0 to %r3 only.",
        example: ".reg .b32 %r<4>;\nmov.u32 %r4, 0;",
    },
    Code {
        code: "duplicate-name",
        title: "a name is declared twice",
        text: "Two declarations in the same scope have the same name. Nested braces open a new scope, in which \
               a name may be declared again.",
        example: ".reg .b32 %r1;\n.reg .b64 %r1;",
    },
    Code {
        code: "annotation",
        title: "an annotation that is not understood",
        text: "Comments that start with `//@` are annotations: `requires`, `assume`, `assert`, `invariant` or \
               `barrier_invariant`, \
               an expression, and a semicolon. They stand inside a function body, behind the definition of the \
               registers that they name, or in a file of their own (--annotations). Expressions have the \
               operators of C and `==>` over registers, %tid.x and the like, parameters as [name], and numbers. \
               Registers of type .u count as unsigned, others as signed; arithmetic wraps at the width of the widest \
               operand. A barrier invariant stands directly in front of a barrier of the whole block.",
        example: "//@ requires [n] % 4 == 0;\n//@ assert %r3 != 0 && !%p1;   in a file: at $L__BB0_2: invariant %r3 < %r8;",
    },
    Code {
        code: "call-arity",
        title: "a call with the wrong number of arguments or results",
        text: "The function is defined in this file with another number of parameters, or one of the markers \
               `__gpuvcc_requires`, `__gpuvcc_assume`, `__gpuvcc_assert` and `__gpuvcc_invariant` is called \
               without its one integer argument.",
        example: "call __gpuvcc_assert, (%r1, %r2);",
    },
    Code {
        code: "fall-through",
        title: "control runs past the end of a function body",
        text: "The last instruction of the body is neither `ret`, `exit`, `trap` nor an unconditional branch, \
               so nothing says what a thread does after it.",
        example: "{ mov.u32 %r1, 0; }        // ret; is missing",
    },
    Code {
        code: "entry-without-body",
        title: "a kernel is only declared",
        text: "The entry has no body in this file, so there is nothing to verify.",
        example: ".extern .entry k();",
    },
];
