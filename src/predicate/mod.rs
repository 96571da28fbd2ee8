//! Stage `predicate`.
