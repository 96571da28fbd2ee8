//! What the tests of reading PTX share: texts of all kinds, and what holds for each.

pub mod check;
pub mod cpu_time;
pub mod damage;
pub mod large_module;
pub mod random_modules;
