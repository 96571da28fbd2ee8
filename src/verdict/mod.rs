//! Stage `verdict`.
