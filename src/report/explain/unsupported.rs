//! Codes.

use super::Code;

/// The table.
pub const CODES: &[Code] = &[];
