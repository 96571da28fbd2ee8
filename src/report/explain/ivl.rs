//! Codes of IVL programs that are wrong.

use super::Code;

/// The table.
pub(crate) const CODES: &[Code] = &[
    Code {
        code: "ivl-syntax",
        title: "the text is not an IVL program",
        text: "The parser met something that the grammar of the verification language does not allow there. The \
               language is the core of Boogie 2 with arrays, barriers, atomics and fences; `src/ivl/mod.rs` \
               describes it.",
        example: "procedure {:kernel} k() { var x: bv32; x := 1bv32 }    // `;` is missing",
    },
    Code {
        code: "no-such-stage",
        title: "a procedure does not have this stage",
        text: "`--emit cfg kernel slice order predicated` print stages of kernels. A procedure of the IVL has `tokens`, `ast`, \
               `ivl`, `candidates` (its `{:existential}` constants), `passive`, `vc` and `smt2`.",
        example: "gpuvcc sum.bpl --entry sum --emit passive",
    },
    Code {
        code: "ivl-subset",
        title: "a part of Boogie that is not supported",
        text: "The program is Boogie, but uses what the core of the language does without: type parameters (on \
               functions, procedures, maps and quantifiers), `lambda`, `var` expressions, code expressions, real \
               and floating-point numbers, strings, the partial order `<:` with `extends` and `complete`, `finite` \
               types, `call forall` and calls with `*`, `yield`, `par` and `async`, integer literals of more than \
               127 bits, bit-vectors that are not of 1 to 128 bits, built-in functions other than the operators \
               of SMT-LIB on bit-vectors, integers and Booleans, the pragma `#line`, and what versions after 2.4 \
               added: `datatype` with `->` and `is`, `uses`, `hideable`, `hide`, `reveal`, `push` and `pop`, \
               `pure`, `measure`, actions and the clauses of Civl, and attributes of `if`, `while`, `goto`, \
               `return`, `break` and `havoc`. The message names it. Functions over declared types often say the \
               same: for `type Field a; function f<a>(x: Field a): a;` write one function for each type that a \
               stands for.",
        example: "axiom (lambda x: int :: x + 1)[1] == 2;",
    },
    Code {
        code: "ivl-name",
        title: "a name that nothing declares",
        text: "A variable, function, procedure, type or array is used without a declaration. Thread ids and launch \
               sizes (tid.x, ntid.x, ctaid.x, nctaid.x and so on) and bit-vector functions such as BV32_ADD \
               need none.",
        example: "x := y;                    // no y",
    },
    Code {
        code: "ivl-duplicate",
        title: "a name or an attribute is given twice",
        text: "Two declarations of the same scope have the same name, or a bound variable hides another one or a \
               local variable; the message shows the first. Locals and bound variables may have the name of a \
               global variable or constant. Functions and procedures share their names; variables, types and \
               labels have names of their own.",
        example: "var x: bv32;\nvar x: int;",
    },
    Code {
        code: "ivl-type",
        title: "an expression of the wrong type",
        text: "The type of an expression does not fit its place; the message shows both types. Bit-vectors of \
               different widths never mix: extend with BV32_ZEXT64 or BV32_SEXT64, shorten with x[32:0]. A trigger \
               mentions the bound variables, is more than a variable, and has no `==`, comparison, connective, `!` or \
               quantifier in it.",
        example: "var x: bv64;\nx := 1bv32;",
    },
    Code {
        code: "ivl-label",
        title: "a label that does not fit",
        text: "A `goto` names a block that the procedure does not have, a `break` is in no loop or in no statement \
               of that label, or a label stands twice.",
        example: "goto missing;",
    },
    Code {
        code: "ivl-modifies",
        title: "a global variable is assigned without `modifies`",
        text: "A procedure that assigns a global variable says so in its `modifies` clause, and only global \
               variables stand there. It has to list what the procedures that it calls modify, too. Programs of \
               other tools often leave these clauses out: `--infer-modifies` adds them, through all calls, and each \
               report says what was added to its procedure. A procedure without a body modifies what it declares.",
        example: "procedure p() modifies flag; { flag := true; }",
    },
    Code {
        code: "ivl-attribute",
        title: "an attribute that is used wrongly",
        text: "{:verified_under e}, {:minimize e} and {:maximize e} take one argument. A variable {:assumption} a is \
               true at the start of its body and collects what is assumed: it is Boolean, has no where clause, and \
               is assigned at most once, as in `a := a && e;`.",
        example: "var {:assumption} a: bool;\na := e;                    // a := a && e;",
    },
    Code {
        code: "ivl-kernel",
        title: "a kernel statement at the wrong place, or malformed",
        text: "Array accesses, barriers, atomics and fences are statements of procedures with the attribute \
               {:kernel}; their attributes have fixed forms, such as {:bytes 4} or {:strong \"gpu\"}.",
        example: "procedure {:kernel} k() { A[tid.x] := 1bv32; barrier; }",
    },
    Code {
        code: "kernel-shape",
        title: "a kernel program does not have the shape that predication needs",
        text: "A program has exactly one procedure with the attribute {:kernel}, with a body, without results \
               and postconditions; labels are unique and every `goto` has targets. Where a `goto` has several \
               targets, each target starts with an `assume`, and one of them always holds.",
        example: "goto left, right;\nleft:  assume c; ...\nright: assume !c; ...",
    },
    Code {
        code: "unknown-label",
        title: "a `goto` to a block that does not exist",
        text: "The target of a `goto` is no block of the procedure.",
        example: "goto missing;",
    },
    Code {
        code: "unknown-array",
        title: "an access to an array that does not exist",
        text: "The kernel loads from or stores to an array that the program does not declare.",
        example: "shared A: [64]bv32;        // declares A",
    },
    Code {
        code: "access-width",
        title: "an access of no bytes",
        text: "Every access of an array touches at least one byte: {:bytes 0} makes no sense.",
        example: "x := A[i] {:bytes 4};",
    },
    Code {
        code: "offset-type",
        title: "an array index of the wrong type",
        text: "An array is indexed by an integer or by a bit-vector of at most 64 bits.",
        example: "x := A[tid.x];",
    },
    Code {
        code: "kernel-call",
        title: "a kernel calls a procedure",
        text: "The threads of a kernel run in lockstep over its own blocks, so a kernel has no calls; write the \
               body of the procedure at the place of the call.",
        example: "",
    },
    Code {
        code: "thread-function",
        title: "a function reads a value that differs between threads",
        text: "The two threads have their own thread ids, but a defined function exists once. Pass the id as an \
               argument.",
        example: "function f(t: bv32) returns (bv32) { BV32_ADD(t, 1bv32) }   // not: reads tid.x itself",
    },
    Code {
        code: "name-clash",
        title: "a name that the race-checking code needs",
        text: "The two-thread program adds names: copies that end in `$1` and `$2`, variables of the prelude, \
               which begin with `_`, and for loops `k.LABEL`, `round.LABEL`, `witnessed.LABEL`, and names with \
               `.entry.`, `.earlier.` or `.inlined` in them. A program may not use them.",
        example: "var _WATCHED_OFFSET_a: bv64;",
    },
    Code {
        code: "no-procedure",
        title: "a procedure that the program does not have",
        text: "A procedure was asked for by name, and the program has none of that name.",
        example: "",
    },
    Code {
        code: "no-implementation",
        title: "a procedure without a body",
        text: "There is nothing to verify: the procedure is declared but has no body.",
        example: "procedure p();",
    },
    Code {
        code: "prelude-contract",
        title: "a prelude does not keep the contract",
        text: "The race-checking runtime is a prelude, a file of the verification language: two ship, and --prelude FILE \
               takes one of the user's. It declares the constant _TRACKED_SITE, and for each array (`$ARRAY` stands for \
               its name) four flags, a watched offset and nine procedures LOG_, CHECK_ and BARRIER_CLEAR_, with fixed \
               names, parameters and results; the message shows the right ones. Procedures are {:inline 1} and straight \
               lines of `:=`, `havoc` and `assert`, without branches, loops and calls; they modify their own array's \
               variables, and assertions carry {:race \"write-read\"}, \"read-write\" or \"write-write\". A prelude \
               assumes nothing: no axiom, `assume`, `where`, `unique` or precondition, because what these exclude \
               would be proved of nobody. It has no arrays and does not know the threads. The constants _SAME_BLOCK, \
               _ALLOW_SAME_VALUE, _NARROW_$ARRAY and _ALIGNED_$ARRAY, where it declares them, are `bool`, and become true or false. \
               And it finds the plainest races, of each access that is logged with each that is checked. \
               `prelude/README.md` has the table.",
        example: "procedure {:inline 1} BARRIER_CLEAR_$ARRAY(both: bool)\n  modifies _READ_HAS_OCCURRED_$ARRAY;",
    },
];
