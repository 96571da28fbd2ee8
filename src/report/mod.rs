//! Reports: from verdicts and diagnostics to the terminal ([`text`]), lines for editors ([`short`]), JSON ([`json`]), SARIF
//! ([`sarif`]) and JUnit ([`junit`]); and [`explain`], which says what every code means.
//!
//! [`mod@causes`] counts why kernels are `unsupported`. [`mod@finding`] words one finding. [`snippet`] is the only module that
//! knows codespan-reporting; [`source`] finds source lines, and [`cuda`] the parameters that they declare. [`help`] says what
//! the user can do.

pub mod causes;
pub(crate) mod cuda;
pub mod explain;
pub(crate) mod finding;
pub(crate) mod fingerprint;
mod fit;
pub(crate) mod help;
pub mod json;
pub mod junit;
pub(crate) mod locus;
pub(crate) mod near_names;
mod outside;
pub mod sarif;
pub mod short;
pub mod snippet;
pub mod source;
pub mod text;
