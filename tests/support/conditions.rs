//! Whether a host's launch meets the conditions that a report prints.
//!
//! A condition with a part that is not understood, or a parameter that the header does not give, is not met.

use super::cases::Case;
use std::collections::BTreeMap;

/// What the names in conditions stand for: sizes, and parameters by their names in PTX and in the source.
#[derive(Debug)]
pub struct Values(BTreeMap<String, i128>);

impl Values {
    /// The launch and the scalars of a case's header; `entry` is the kernel's name in PTX.
    pub fn of(case: &Case, entry: &str) -> Values {
        let mut values = BTreeMap::new();
        let geometry = case.options.geometry;
        for (name, sizes) in [("blockDim", geometry.block), ("gridDim", geometry.grid)] {
            for (axis, size) in ["x", "y", "z"].into_iter().zip(sizes) {
                values.extend(size.map(|size| (format!("{name}.{axis}"), i128::from(size))));
            }
        }
        let sizes = geometry.block.into_iter().chain(geometry.grid);
        let threads = sizes.map(|size| size.map(i128::from)).product::<Option<i128>>();
        values.extend(threads.map(|threads| ("threads in all".to_string(), threads)));
        for setting in &case.options.params {
            let source = setting.name.parse().ok().and_then(|index: usize| case.parameters.get(index));
            values.extend(source.map(|name| (name.clone(), setting.value)));
            values.insert(format!("{entry}_param_{}", setting.name), setting.value);
        }
        Values(values)
    }

    /// Whether a condition is known to hold.
    pub fn meet(&self, condition: &str) -> bool {
        self.holds(condition).unwrap_or(false)
    }

    /// `a <= b < c` and the like, or `a is a power of two`; `None` where it is not understood.
    fn holds(&self, condition: &str) -> Option<bool> {
        if let Some(name) = condition.strip_suffix(" is a power of two") {
            return self.value(name).map(|value| value > 0 && value & (value - 1) == 0);
        }
        let mut rest = condition;
        let mut before: Option<(i128, &str)> = None;
        let mut all = true;
        loop {
            let comparison =
                [" <= ", " >= ", " == ", " != ", " < "].into_iter().filter_map(|sign| Some((rest.find(sign)?, sign)));
            let next = comparison.min();
            let value = self.value(&rest[..next.map_or(rest.len(), |(at, _)| at)])?;
            if let Some((left, sign)) = before {
                all &= compare(left, sign, value)?;
            }
            let Some((at, sign)) = next else { break };
            before = Some((value, sign.trim()));
            rest = &rest[at + sign.len()..];
        }
        before.map(|_| all)
    }

    /// `a % b`, or a product of sizes, parameters and numbers.
    fn value(&self, term: &str) -> Option<i128> {
        if let Some((left, right)) = term.split_once(" % ") {
            return self.value(left)?.checked_rem(self.value(right)?);
        }
        let factor = |text: &str| text.parse().ok().or_else(|| self.0.get(text).copied());
        term.split(" * ").try_fold(1i128, |product, text| product.checked_mul(factor(text.trim())?))
    }
}

fn compare(left: i128, sign: &str, right: i128) -> Option<bool> {
    match sign {
        "<=" => Some(left <= right),
        "<" => Some(left < right),
        ">=" => Some(left >= right),
        "==" => Some(left == right),
        "!=" => Some(left != right),
        _ => None,
    }
}
