//! Stage `kernel`.
