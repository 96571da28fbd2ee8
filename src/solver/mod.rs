//! Stage `solver`.
