//! Reports: from verdicts and diagnostics to the terminal ([`text`]), lines for editors ([`short`]), JSON ([`json`]), SARIF
//! ([`sarif`]), JUnit ([`junit`]) and a page for browsers (`html`); and [`explain`], which says what every code means.
//!
//! [`mod@causes`] counts why kernels are `unsupported`. [`mod@finding`] words one finding. [`snippet`] is the only module that
//! knows codespan-reporting; [`run`] is what a report says of the run
//! as a whole, and [`merge`] makes one report of several. [`source`] finds source lines, and [`cuda`] the parameters that they declare. [`help`] says what
//! the user can do.

pub mod causes;
pub(crate) mod cuda;
pub(crate) mod dot;
pub mod explain;
pub(crate) mod finding;
pub(crate) mod fingerprint;
mod fit;
pub(crate) mod help;
pub(crate) mod html;
mod invariants;
pub mod json;
pub mod junit;
pub(crate) mod locus;
pub(crate) mod merge;
mod merge_json;
mod merge_sarif;
pub(crate) mod near_names;
mod outside;
mod redundant;
pub(crate) mod run;
pub mod sarif;
pub mod short;
pub mod snippet;
pub mod source;
pub mod text;
