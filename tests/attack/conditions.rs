//! Whether a launch meets the conditions of a `verified-when`, as a reader of the report would decide it.

use super::emulator::Launch;
use gpuvcc::geometry::Geometry;
use gpuvcc::ptx::ast::Function;

const AXES: [&str; 3] = ["x", "y", "z"];

/// Whether a launch meets all conditions.
///
/// # Errors
/// A condition that cannot be read.
pub fn meets(conditions: &[String], entry: &Function, launch: &Launch) -> Result<bool, String> {
    let values = Values { entry, launch };
    for condition in conditions {
        let met = values.met(condition).ok_or_else(|| format!("the condition `{condition}` cannot be read"))?;
        if !met {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The sizes that conditions fix, with `otherwise` for the rest.
pub fn sizes(conditions: &[String], otherwise: &Geometry) -> Geometry {
    let mut sizes = *otherwise;
    for (axis, name) in AXES.into_iter().enumerate() {
        for (id, size) in [("blockDim", &mut sizes.block[axis]), ("gridDim", &mut sizes.grid[axis])] {
            let start = format!("{id}.{name} == ");
            let fixed = conditions.iter().find_map(|condition| condition.strip_prefix(&start)?.parse().ok());
            *size = fixed.or(*size);
        }
    }
    sizes
}

struct Values<'a> {
    entry: &'a Function,
    launch: &'a Launch,
}

impl Values<'_> {
    fn met(&self, condition: &str) -> Option<bool> {
        if let Some(name) = condition.strip_suffix(" is a power of two") {
            return Some(self.product(name)?.count_ones() == 1);
        }
        let compare = |operator: &str| {
            let (left, right) = condition.split_once(operator)?;
            Some((left, self.product(right)?))
        };
        if let Some((left, right)) = compare(" == ") {
            if let Some((value, factor)) = left.split_once(" % ") {
                return Some(self.product(value)? % factor.parse::<i128>().ok()? == right);
            }
            return Some(self.product(left)? == right);
        }
        if let Some((left, right)) = compare(" <= ") {
            return Some(self.product(left)? <= right);
        }
        let (left, right) = compare(" >= ")?;
        Some(self.product(left)? >= right)
    }

    fn product(&self, text: &str) -> Option<i128> {
        text.split(" * ").map(|name| self.value(name)).product()
    }

    fn value(&self, name: &str) -> Option<i128> {
        let Launch { block, grid, .. } = self.launch;
        if name == "threads in all" {
            return Some(block.iter().chain(grid).map(|size| i128::from(*size)).product());
        }
        let size = |id: &str, sizes: &[u32; 3]| {
            let axis = name.strip_prefix(id)?.strip_prefix('.')?;
            AXES.into_iter().position(|known| known == axis).map(|axis| i128::from(sizes[axis]))
        };
        let parameter = || {
            let number = self.entry.params.iter().position(|parameter| *parameter.name == *name)?;
            let bytes = &self.launch.parameters[number];
            let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | i128::from(*byte));
            // Findings show numbers with their sign, and so a reader takes them.
            let bits = 8 * bytes.len() as u32;
            Some(if value >> (bits - 1) == 1 { value - (1 << bits) } else { value })
        };
        name.parse().ok().or_else(|| size("blockDim", block)).or_else(|| size("gridDim", grid)).or_else(parameter)
    }
}
