//! The suites whose tests are functions: properties, generated cases, the formats of what is printed.
//!
//! They are one program, since each program is linked with all of gpuvcc. `cargo test --test checks
//! cache::` runs one suite.

mod cache;
mod containers;
mod encodings;
mod formula;
mod fuzz;
mod html;
mod jobs;
mod known;
mod libz3;
mod lsp;
mod merge;
mod places;
mod predicate;
#[allow(dead_code)]
mod reader;
mod reading;
mod report;
mod smtlib;
mod stages;
mod summaries;
#[allow(dead_code)]
mod support;
mod tandem;
mod terms;
mod theorem;
mod twothread;
mod wp;
