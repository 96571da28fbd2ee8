//! Stage `twothread`.
