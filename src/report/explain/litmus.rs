//! Codes of litmus tests and memory models that are wrong.

use super::Code;

/// The table.
pub(crate) const CODES: &[Code] = &[
    Code {
        code: "litmus-syntax",
        title: "the text is no litmus test",
        text: "A test has a first line `PTX NAME`, the initial state in braces, a table with one column a thread, and a question. `grammar/litmus.lalrpop` is its grammar.",
        example: "{ x = 0 } P0@cta 0 ; st.weak x 1 ;    // a comma is missing",
    },
    Code {
        code: "litmus-name",
        title: "a name or a number of a litmus test has no meaning",
        text: "A thread, a register, a variable, a label or a proxy that nothing declares, that is declared twice or used as something else; or a number of more than 32 bits.",
        example: "exists (P7:r0 == 1)    // there is no thread P7",
    },
    Code {
        code: "litmus-instruction",
        title: "an instruction that litmus tests do not have",
        text: "Opcodes are those of PTX without types: ld, st, atom, red, fence, membar, bar, barrier.cluster, arithmetic in registers, bra and beq and the like. The message names what is not known.",
        example: "st.release x, 1    // a scope is missing",
    },
    Code {
        code: "litmus-loop",
        title: "a litmus test is too large once its loops are copies",
        text: "Loops are unrolled; `--unroll` says how often.",
        example: "gpuvcc test.litmus --unroll 2",
    },
    Code {
        code: "model-syntax",
        title: "the text is no memory model",
        text: "Models are files in the .cat language; `grammar/cat.lalrpop` is what is read of it.",
        example: "let a = b ;    // an operand is missing",
    },
    Code {
        code: "model-meaning",
        title: "a memory model uses a name or an operator wrongly",
        text: "A name that stands for nothing, a set where a relation belongs, an argument too many, or a recursive definition by its own complement.",
        example: "acyclic W    // W is a set",
    },
];
