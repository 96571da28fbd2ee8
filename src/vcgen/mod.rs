//! Stage `vcgen`.
