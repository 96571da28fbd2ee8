//! A block of its own on each critical edge.
//!
//! Input: a body. Output: the same, where no edge leads from a block with several successors to one with several
//! predecessors. Establishes: what [`super::passify`] says at the end of a block about the values behind a join is
//! said on the way to that join only. Relies on: labels that exist. Reference: critical edges of SSA construction.

use crate::ivl::ast::{Block, Implementation, Name, Transfer};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Splits the critical edges.
pub(crate) fn split(body: &Implementation) -> Cow<'_, Implementation> {
    let mut arriving: BTreeMap<&Name, usize> = BTreeMap::new();
    // Control arrives at the first block from outside.
    let first = body.blocks.first().map(|block| &block.label);
    for target in body.blocks.iter().flat_map(targets).chain(first) {
        *arriving.entry(target).or_default() += 1;
    }
    let is_join = |target: &&Name| arriving.get(target).is_some_and(|count| *count > 1);
    let mut blocks = Vec::new();
    let mut between = Vec::new();
    for block in &body.blocks {
        let targets = targets(block);
        if targets.len() < 2 || !targets.iter().any(is_join) {
            blocks.push(block.clone());
            continue;
        }
        let mut own = Vec::new();
        for target in targets {
            // No identifier has an `@`.
            let label =
                if is_join(&target) { Name::from(format!("{}@to@{target}", block.label)) } else { target.clone() };
            if is_join(&target) {
                let transfer = Transfer::Goto(vec![target.clone()]);
                between.push(Block {
                    label: label.clone(),
                    stmts: Vec::new(),
                    transfer,
                    span: block.span,
                    end: block.span,
                });
            }
            own.push(label);
        }
        blocks.push(Block { transfer: Transfer::Goto(own), ..block.clone() });
    }
    if between.is_empty() {
        return Cow::Borrowed(body);
    }
    blocks.append(&mut between);
    Cow::Owned(Implementation { blocks, ..body.clone() })
}

/// Each target once.
fn targets(block: &Block) -> Vec<&Name> {
    let Transfer::Goto(all) = &block.transfer else { return Vec::new() };
    let mut targets: Vec<&Name> = Vec::new();
    for target in all {
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use crate::effort::Effort;
    use crate::solver::{Answer, Encoding, prove};
    use crate::vcgen::wp::{self, Role};

    #[test]
    fn a_value_on_one_way_says_nothing_about_another() {
        let text = "procedure p() { var v: int; a: v := 0; goto b, c; b: v := 1; goto c; c: assert v == 0; return; }";
        let program = crate::ivl::parse(text).unwrap();
        let mut passive = crate::vcgen::passify::run(&program, &program.procedures[0]).unwrap();
        let formula = wp::formula(&mut passive, &|_| false, &|_| Role::Prove);
        let answer = prove(&mut passive.terms, Encoding::Integers, formula, &[], Effort::seconds(5));
        assert!(matches!(answer, Answer::Refuted(_)));
    }
}
