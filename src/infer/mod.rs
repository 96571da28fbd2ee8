//! Stage `infer`.
