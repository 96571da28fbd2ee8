//! The flow graph of a body.

use super::ast::{Implementation, Name, Transfer};
use crate::flow::Graph;
use std::collections::BTreeMap;

/// Blocks by their place in the body, which starts at the first. Labels that do not exist lead nowhere.
pub(crate) fn of(body: &Implementation) -> Graph {
    let places: BTreeMap<&Name, usize> = body.blocks.iter().zip(0..).map(|(block, at)| (&block.label, at)).collect();
    let targets = |transfer: &Transfer| match transfer {
        Transfer::Goto(targets) => targets.iter().filter_map(|target| places.get(target).copied()).collect(),
        _ => Vec::new(),
    };
    Graph::new(body.blocks.iter().map(|block| targets(&block.transfer)).collect())
}
