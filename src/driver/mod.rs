//! Stage `driver`.
