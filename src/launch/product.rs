//! Products of a number, parameters and sizes of a launch, in conditions.
//!
//! Input: a kernel, or a launch with parameters. Output: the product as an integer of the IVL, as a number, as text.
//! Establishes: the three say the same; it does not wrap. Relies on: nothing. Reference: none.

use super::condition::any_parameter;
use crate::finding::ParameterValue;
use crate::geometry::{Axis, Geometry};
use crate::ivl::ast::{BinaryOp, ExprRef, Name, Type};
use crate::ivl::bv;
use crate::kernel::Kernel;
use std::collections::BTreeMap;
use std::fmt;

/// A product. Parameters count without sign.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Product {
    pub(crate) number: u32,
    /// Axes of which the number of blocks is a factor.
    pub(crate) grid: Vec<Axis>,
    /// Axes of which the number of threads a block is a factor.
    pub(crate) block: Vec<Axis>,
    pub(crate) parameters: Vec<String>,
}

impl Product {
    /// Whether it has all factors of another one, so that it is at least as large where all factors are positive.
    pub(super) fn covers(&self, other: &Product) -> bool {
        let has = |parameter: &String| count(&self.parameters, parameter) >= count(&other.parameters, parameter);
        self.number >= other.number
            && other.grid.iter().all(|axis| self.grid.contains(axis))
            && other.block.iter().all(|axis| self.block.contains(axis))
            && other.parameters.iter().all(has)
    }

    /// As an integer of the kernel's constants; `None` if it has no such parameter.
    pub(super) fn expression(&self, kernel: &Kernel) -> Option<ExprRef> {
        let sizes = kernel.geometry.map_registers(|register, fixed| match fixed {
            Some(size) => bv::literal(u128::from(size), 32),
            None => bv::var(Name::from(register), Type::Bv(32)),
        });
        let grid = self.grid.iter().map(|axis| Some(sizes.grid[axis.index()].clone()));
        let block = self.block.iter().map(|axis| Some(sizes.block[axis.index()].clone()));
        let parameters = self.parameters.iter().map(|name| any_parameter(kernel, name));
        let factors: Option<Vec<ExprRef>> = grid.chain(block).chain(parameters).collect();
        let times = |product: ExprRef, factor: ExprRef| bv::op(BinaryOp::Mul, product, factor);
        let number = (self.number != 1).then(|| bv::int(i128::from(self.number)));
        let factors = number.into_iter().chain(factors?.into_iter().map(bv::to_int));
        Some(factors.reduce(times).unwrap_or_else(|| bv::int(1)))
    }

    /// What it is at most, where sizes of the launch are known and parameters have ranges.
    pub(super) fn most(&self, range: &dyn Fn(&String) -> Option<(u128, u128)>, launch: Geometry) -> Option<u128> {
        let grid = self.grid.iter().map(|axis| launch.grid[axis.index()].map(u128::from));
        let block = self.block.iter().map(|axis| launch.block[axis.index()].map(u128::from));
        let parameters = self.parameters.iter().map(|name| range(name).map(|(_, high)| high));
        let mut factors = grid.chain(block).chain(parameters);
        factors.try_fold(u128::from(self.number), |product, factor| product.checked_mul(factor?))
    }

    /// Its value in a launch; `None` if a parameter is not known, or for numbers that no condition has.
    pub(super) fn value(&self, launch: Geometry<u32>, params: &BTreeMap<String, ParameterValue>) -> Option<u128> {
        let grid = self.grid.iter().map(|axis| Some(u128::from(launch.grid[axis.index()])));
        let block = self.block.iter().map(|axis| Some(u128::from(launch.block[axis.index()])));
        let parameters = self.parameters.iter().map(|name| params.get(name).map(|value| u128::from(value.unsigned())));
        let mut factors = grid.chain(block).chain(parameters);
        factors.try_fold(u128::from(self.number), |product, factor| product.checked_mul(factor?))
    }
}

fn count(parameters: &[String], parameter: &String) -> usize {
    parameters.iter().filter(|other| *other == parameter).count()
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = (self.number != 1).then(|| self.number.to_string());
        let grid = self.grid.iter().map(|axis| format!("gridDim.{axis}"));
        let block = self.block.iter().map(|axis| format!("blockDim.{axis}"));
        let factors = number.into_iter().chain(grid).chain(block).chain(self.parameters.iter().cloned());
        let factors: Vec<String> = factors.collect();
        f.write_str(if factors.is_empty() { "1".into() } else { factors.join(" * ") }.as_str())
    }
}
