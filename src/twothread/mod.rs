//! stub
use crate::ivl::ast::*;
pub struct TwoThread {
    pub program: Program,
    pub procedure: Name,
    pub active: Name,
    pub loops: Vec<crate::predicate::LoopInfo>,
    pub log_state: Vec<Name>,
}
