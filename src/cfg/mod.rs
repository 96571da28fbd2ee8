//! Stage 2, `cfg`: one `.entry` to a reducible control-flow graph with calls inlined.

pub mod graph;
