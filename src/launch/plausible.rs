//! Values of parameters that a host is likely to pass.
//!
//! Input: the lowered kernel. Output: conditions on its integer parameters. Establishes: nothing; they steer the search for
//! defects, and are offered as conditions of a proof. No proof takes them for granted silently. Relies on: nothing.
//! Reference: none; the table is in docs/stages/launch.md, the same for every kernel:
//!
//! - what bounds an index or a loop, or is a factor of an index, is positive; with 64 bits, it is at most 2^56;
//! - a product of two sizes, or of a pitch with the number of a row, has 31 bits, or is at most 2^56 with a size of 64 bits, if one is a factor of an index;
//! - a factor of rows that it does not bound (a pitch) is at least what bounds the columns, or the threads of a row of a
//!   block where nothing bounds them;
//! - a factor of planes is at least a factor of rows times what bounds these;
//! - where no parameter bounds the columns beside rows, the pitch is at least as many as the launch has;
//! - a product of numbers, sizes and the grid in a sum of 32 bits has 31 bits;
//! - what bounds the index of the threads along an axis is at most as many as the launch has, where that is given;
//! - a product that bounds an index has 31 bits, and its factors are positive, where the index is divided by them: the
//!   quotients and rests are rows and columns, whatever multiplies them;
//! - what multiplies a quotient beside the rest, and bounds nothing, is at least the divisor, and all such rows have 31 bits;
//! - what is a mask of an index when it is one less is a power of two;
//! - a factor that is compared for equality with an index is less than what bounds that index.
//!
//! What is only added to an index (an offset), or compared for equality (a switch), may be any number.

use super::columns::{Columns, pitch_of};
use super::condition::{Condition, Steps};
use super::extents::Extent;
use super::linear::{Form, Term};
use super::natural;
use super::product::Product;
use super::uses::{Uses, ids};
use crate::finding::ParameterValue;
use crate::geometry::{Axis, Geometry};
use crate::ivl::ast::Name;
use crate::kernel::{Kernel, KernelParameter};
use crate::vcgen::ranges;
use std::collections::{BTreeMap, BTreeSet};

/// What values of parameters a host is likely to pass. `essence` has what races, barriers and assertions depend on
/// ([`crate::slice::essence`]): how long the rows are that are only read is no matter. What bounds columns there tells
/// that a guard was forgotten where they are written.
pub(crate) fn conditions(kernel: &Kernel, essence: &Kernel) -> Vec<Condition> {
    let (mut uses, limited) = (Uses::of(essence), Uses::of(kernel).limited);
    uses.limited.extend(limited);
    let below = uses.below();
    let is_size =
        |name: &String| uses.bounds.contains_key(name) || uses.factors.contains_key(name) && !below.contains_key(name);
    let integers = kernel.params.iter().filter(|parameter| matches!(parameter.bits, 32 | 64) && !parameter.is_pointer);
    let sizes: Vec<String> = integers.map(|parameter| parameter.name.clone()).filter(is_size).collect();
    let is_wide = |name: &String| kernel.params.iter().any(|parameter| parameter.name == *name && parameter.bits == 64);
    let size = |name: String| if is_wide(&name) { Condition::Size(name) } else { Condition::Positive(name) };
    let mut conditions: Vec<Condition> = sizes.iter().cloned().map(size).collect();
    conditions.extend(uses.rows(&sizes, &is_wide));
    let is_narrow_size = |name: &String| sizes.contains(name) && !is_wide(name);
    let rows = uses
        .rows_of_pitches()
        .into_iter()
        .filter(|(row, pitch)| !below.contains_key(row) && !is_wide(row) && !is_wide(pitch));
    conditions.extend(rows.map(|(row, pitch)| Condition::Area(row, pitch)));
    let below = below.into_iter().filter(|(_, count)| is_narrow_size(count));
    conditions.extend(below.map(|(index, count)| Condition::Below(index, count)));
    let taken = uses.taken.iter().filter(|name| !sizes.contains(name) && !is_wide(name));
    conditions.extend(taken.cloned().map(Condition::ParameterBounded));
    conditions.extend(uses.masks.iter().cloned().map(Condition::Power));
    conditions.extend(uses.wide());
    conditions.extend(uses.rows_of_digits());
    conditions.extend(uses.covered());
    let extents: Vec<Condition> = uses.products(&is_narrow_size).into_iter().map(Condition::Extent).collect();
    conditions.retain(|condition| !extents.iter().any(|extent| extent.implies_area(condition)));
    let goes_on = natural::goes_on(essence);
    // Rows of several blocks are not that long.
    let is_row =
        |c: &Condition, name| matches!(c, Condition::Extent(p) if !p.grid.is_empty() && p.parameters.contains(name));
    let stepped = uses.stepped.iter().filter(|name| goes_on && is_narrow_size(name));
    let stepped = stepped.filter(|name| !extents.iter().any(|extent| is_row(extent, name)));
    conditions.extend(stepped.cloned().map(Condition::ParameterBounded));
    conditions.extend(extents);
    let steps = if goes_on || !uses.looped.is_empty() { Steps::OfLaunch } else { Steps::None };
    for volume in uses.numbers() {
        let is_part = |name: &String| volume.parameters.contains(name);
        // What the grid multiplies is rows of such numbers.
        let is_more = |c: &Condition| matches!(c, Condition::Extent(product) if !product.grid.is_empty());
        conditions.retain(|c| is_more(c) || !c.parameters().into_iter().all(is_part));
        conditions
            .extend(volume.parameters.iter().cloned().collect::<BTreeSet<_>>().into_iter().map(Condition::Positive));
        conditions.push(Condition::Number(volume, steps));
    }
    // What was asked for is looked at as it is, and tells what is likely of the others.
    let free: BTreeSet<&String> = free(kernel).map(|parameter| &parameter.name).collect();
    conditions.retain(|condition| condition.parameters().into_iter().any(|name| free.contains(name)));
    conditions
}

/// Whether a launch meets the conditions, as far as their parameters are known.
pub(crate) fn are_met(
    conditions: &[Condition],
    launch: Geometry<u32>,
    params: &BTreeMap<String, ParameterValue>,
) -> bool {
    let is_known = |condition: &&Condition| condition.parameters().into_iter().all(|name| params.contains_key(name));
    conditions.iter().filter(is_known).all(|condition| condition.holds_in(launch, params))
}

/// The ranges of constants that preconditions state, without sign.
pub(super) fn stated(kernel: &Kernel) -> BTreeMap<Name, (u128, u128)> {
    kernel.program.procedures.iter().flat_map(|procedure| ranges::of_preconditions(&procedure.requires)).collect()
}

/// The integers that the user left free.
fn free(kernel: &Kernel) -> impl Iterator<Item = &KernelParameter> {
    let stated = stated(kernel).into_iter();
    let fixed: BTreeSet<Name> = stated.filter(|(_, (low, high))| low == high).map(|(constant, _)| constant).collect();
    let is_free = move |parameter: &&KernelParameter| {
        let constant = parameter.constant.as_ref();
        matches!(parameter.bits, 32 | 64)
            && !parameter.is_pointer
            && constant.is_some_and(|constant| !fixed.contains(constant))
    };
    kernel.params.iter().filter(is_free)
}

impl Uses<'_> {
    /// What keeps rows apart, and products of two sizes from wrapping.
    fn rows(&self, sizes: &[String], is_wide: &dyn Fn(&String) -> bool) -> Vec<Condition> {
        let mut conditions = Vec::new();
        let wide: BTreeSet<Condition> = self.wide().into_iter().chain(self.beside_digits()).collect();
        for (factor, rows) in self.factors.iter().filter(|(factor, _)| sizes.contains(factor)) {
            let is_bound = self.bounds.contains_key(factor);
            for (bound, columns) in self.bounds.iter().filter(|(bound, _)| sizes.contains(bound)) {
                // A loop's counter is on no axis. What bounds nothing is a pitch along it, too.
                let is_pitch = rows.is_empty() != columns.is_empty() && !is_bound;
                let are_on_axes = !rows.is_empty() && !columns.is_empty();
                let apart = self.columns_beside(rows, bound);
                let are_apart = (are_on_axes && !apart.is_empty() || is_pitch) && !self.unclear.contains(bound);
                let may_be_plane = !is_bound && !rows.is_empty() && rows.is_disjoint(columns);
                let count = self.count_of_rows(bound, rows).filter(|_| may_be_plane);
                // Who counts rounds of a loop, of which no row depends, is no factor of what a row is.
                let is_of_no_row = !rows.is_empty()
                    && columns.is_empty()
                    && factor != bound
                    && !self.mixed.contains(factor)
                    && !self.factors.contains_key(bound)
                    && !self.unclear.contains(bound);
                if let Some(count) = count {
                    conditions.push(Condition::Wide(factor.clone(), Columns::product([bound, count])));
                    continue;
                }
                if are_apart {
                    // Who guards the rows with it takes it for their number: as a pitch it is a mistake.
                    let is_count = self.bounds.get(factor).is_some_and(|ids| !ids.is_disjoint(rows));
                    let ratio = self.ratio(factor, &apart);
                    // What divides an index is the size of a digit of it, not the pitch of rows as long as all of them.
                    let is_digit = self.divisors.iter().any(|divisor| self.named(divisor).as_ref() == Some(factor));
                    if let Some(ratio) = ratio.filter(|_| !self.factors.contains_key(bound) && !is_count && !is_digit) {
                        conditions.push(match ratio {
                            1 => Condition::AtLeast(factor.clone(), bound.clone()),
                            _ => Condition::Wide(factor.clone(), Columns::multiple(ratio, bound)),
                        });
                    }
                }
                // The length of rows bounds what is in them; that it is their number, too, some guard says.
                let is_length = factor == bound && !self.counts(bound, rows);
                if !is_of_no_row && !is_length && (!are_apart || self.counts(bound, rows)) {
                    let product = if is_wide(factor) || is_wide(bound) { Condition::Volume } else { Condition::Area };
                    // Said once, whichever of the two is the factor.
                    if !conditions.contains(&product(bound.clone(), factor.clone())) {
                        conditions.push(product(factor.clone(), bound.clone()));
                    }
                }
            }
            let is_pitch =
                !is_bound && !rows.contains(&Term::Thread(Axis::X)) && !is_wide(factor) && self.has_row(factor);
            let mut of_factor = conditions.iter().chain(&wide);
            let is_bounded = of_factor
                .any(|c| matches!(c, Condition::AtLeast(pitch, _) | Condition::Wide(pitch, _) if pitch == factor));
            if is_pitch && !is_bounded && self.kernel.geometry.block[Axis::X.index()] != Some(1) {
                conditions.push(Condition::CoversBlock(factor.clone()));
            }
        }
        conditions
    }

    /// Whether a parameter is the number of rows: a transpose, or a square, bounds columns with it, too.
    fn counts(&self, bound: &String, rows: &BTreeSet<Term>) -> bool {
        let are_rows = |form: &Form| {
            let ids = ids(form);
            !ids.is_empty() && ids.is_subset(rows)
        };
        self.bounded.get(bound).is_some_and(|forms| forms.iter().any(are_rows))
    }

    /// Whether threads of a block stand side by side in its rows.
    fn has_row(&self, pitch: &String) -> bool {
        let is_it = |name: &Name| self.named(name).as_ref() == Some(pitch);
        let mut sums = self.sums.all().into_iter().filter(|sum| sum.pitches.keys().any(is_it));
        sums.any(|sum| sum.columns.terms.contains_key(&Term::Thread(Axis::X)))
    }

    /// The sums with ids that a parameter bounds, which are on other axes than rows: each for itself, since a transpose
    /// bounds rows and columns with one parameter.
    fn columns_beside(&self, rows: &BTreeSet<Term>, bound: &String) -> Vec<&Form> {
        let are_columns = |form: &&Form| {
            let ids = ids(form);
            !ids.is_empty() && ids.is_disjoint(rows)
        };
        self.bounded.get(bound).into_iter().flatten().filter(are_columns).collect()
    }

    /// How many units of a pitch each of these columns takes: more than one where the pitch is in bytes. `None` if they
    /// stand beside other rows. Where no sum with the pitch is known, or no column, it is one.
    fn ratio(&self, pitch: &String, columns: &[&Form]) -> Option<u32> {
        let sums = self.sums.all();
        let sums = sums.iter().filter_map(|sum| pitch_of(sum, &self.integers));
        let beside: Vec<Form> =
            sums.filter(|(name, _)| self.named(name).as_ref() == Some(pitch)).map(|s| s.1).collect();
        let is_counted = |sum: &Form| sum.terms.keys().any(|term| matches!(term, Term::Unknown(_)));
        if beside.is_empty() || columns.is_empty() {
            return (beside.is_empty() || beside.iter().any(is_counted)).then_some(1);
        }
        let ratio = |(sum, column): (&Form, &Form)| {
            let id = column.terms.keys().find(|term| !matches!(term, Term::Unknown(_)))?;
            u32::try_from(sum.factor(id).checked_div(column.factor(id))?).ok().filter(|_| ids(sum) == ids(column))
        };
        let pairs = beside.iter().flat_map(|sum| columns.iter().map(move |column| (sum, *column)));
        pairs.filter_map(ratio).map(|ratio| ratio.max(1)).max()
    }

    /// What bounds the rows that a parameter multiplies, if these are no planes.
    fn count_of_rows(&self, pitch: &String, planes: &BTreeSet<Term>) -> Option<&String> {
        let rows = self.factors.get(pitch).filter(|rows| rows.is_disjoint(planes))?;
        self.bounds.iter().find(|(_, bounded)| !bounded.is_disjoint(rows)).map(|(count, _)| count)
    }

    /// Parameters that stand for one row or column, with what is more than it.
    fn below(&self) -> BTreeMap<String, String> {
        let multiplies =
            |name: &String| self.factors.contains_key(name) || self.pairs.iter().any(|(a, b)| [a, b].contains(&name));
        let is_row = |name: &String| multiplies(name) && !self.bounds.contains_key(name);
        let rows = self.equal.iter().filter(|(name, _)| is_row(name));
        let below = |(name, ids): (&String, &BTreeSet<Term>)| {
            let count = self.bounds.iter().find(|(_, bounded)| !bounded.is_disjoint(ids))?.0;
            Some((name.clone(), count.clone()))
        };
        rows.filter_map(below).collect()
    }

    /// Pitches, where no parameter bounds the columns.
    fn wide(&self) -> BTreeSet<Condition> {
        let wide = |sum| {
            let (pitch, columns) = pitch_of(sum, &self.integers)?;
            let ids = ids(&columns);
            let pitch = self.named(&pitch)?;
            let is_bounded = !self.limited.is_disjoint(&ids);
            // On a diagonal the columns of a block grow where its rows run down.
            let down = self.down.get(&pitch);
            let is_same = |id: &Term| ids.contains(id) && !down.is_some_and(|down| down.contains(id));
            let is_row = self.factors.get(&pitch).is_some_and(|rows| rows.iter().any(is_same));
            // Who guards rows has launches in mind that go beyond them, and forgot the guard of the columns: with the pitch
            // itself, or where blocks stand side by side in a row.
            let is_guard = self.bounds.get(&pitch).is_some_and(|rows| !rows.is_empty());
            let are_blocks = ids.iter().any(|id| matches!(id, Term::Block(_)));
            let are_guarded = self.factors.get(&pitch).is_some_and(|rows| !rows.is_disjoint(&self.limited));
            if is_bounded || is_row || is_guard || are_blocks && are_guarded {
                return None;
            }
            let columns = Columns::of(&columns, self.kernel.geometry, |name| self.named(name))?;
            Some(Condition::Wide(pitch, columns))
        };
        self.sums.all().into_iter().filter_map(wide).collect()
    }

    /// Pitches of rows into which one index is divided. Who bounds an index with the pitch takes it for the length of rows: where
    /// another one divides, that is a mistake.
    fn pitches_of_digits(&self) -> impl Iterator<Item = (String, &Name, u32)> {
        let is_length = |pitch: &Name| self.volumes.iter().any(|volume| volume.contains(pitch));
        let rows = self.digits.rows().iter().filter(move |(pitch, ..)| !is_length(pitch));
        let named = rows.filter_map(|(pitch, divisor, units)| Some((self.named(pitch)?, divisor, *units)));
        named.filter(|(pitch, ..)| !self.bounds.contains_key(pitch))
    }

    /// Those are at least as long as the rows.
    fn beside_digits(&self) -> impl Iterator<Item = Condition> {
        self.pitches_of_digits().filter_map(|(pitch, divisor, units)| {
            let length = self.named(divisor)?;
            Some(match units {
                1 => Condition::AtLeast(pitch, length),
                _ => Condition::Wide(pitch, Columns::multiple(units, &length)),
            })
        })
    }

    /// And all rows of such a pitch do not wrap, where what is divided has rows of that length.
    fn rows_of_digits(&self) -> BTreeSet<Condition> {
        let rows = self.pitches_of_digits().flat_map(|(pitch, divisor, _)| {
            let volumes = self.volumes.iter().filter(move |volume| volume.contains(divisor));
            volumes.filter_map(move |volume| {
                let mut rows = volume.clone();
                rows.remove(rows.iter().position(|factor| factor == divisor)?);
                let mut parameters: Vec<String> = rows.iter().map(|row| self.named(row)).collect::<Option<_>>()?;
                parameters.push(pitch.clone());
                parameters.sort();
                Some(Condition::Extent(Product { number: 1, grid: Vec::new(), block: Vec::new(), parameters }))
            })
        });
        rows.chain(self.beside_digits()).collect()
    }

    /// What bounds an index is covered by a launch that is given.
    fn covered(&self) -> BTreeSet<Condition> {
        let covered = |(name, index): &(String, Form)| {
            let axis = Axis::ALL.into_iter().find(|axis| ids(index).contains(&Term::Block(*axis)))?;
            let Geometry { block, grid } = self.kernel.geometry;
            let (block, _) = (block[axis.index()], grid[axis.index()]?);
            let factor = |term: Term| index.factor(&term);
            let (own, start, apart) =
                (factor(Term::Thread(axis)), factor(Term::BlockStart(axis)), factor(Term::Block(axis)));
            let is_block = (own, start, apart) == (1, 1, 0) && block.is_some();
            let is_fixed = own == 1 && start == 0 && block.map(i64::from) == Some(apart);
            let is_index =
                index.constant == 0 && index.terms.len() == [own, start, apart].iter().filter(|f| **f != 0).count();
            if !is_index || self.looped.contains(&axis) {
                return None;
            }
            let elements =
                |number: u32, block: Vec<Axis>| Product { number, grid: vec![axis], block, parameters: Vec::new() };
            match (is_block || is_fixed, own, start) {
                (true, ..) => Some(Condition::Covered(name.clone(), elements(1, vec![axis]))),
                // A block for each row, or for more elements than it has threads.
                (false, 0 | 1, 0) => {
                    Some(Condition::Covered(name.clone(), elements(u32::try_from(apart).ok()?, Vec::new())))
                }
                _ => None,
            }
        };
        self.indices.iter().filter_map(covered).collect()
    }

    /// Products that bound indices which are numbers with one digit for each factor.
    fn numbers(&self) -> Vec<Product> {
        let divided = self.volumes.iter().filter(|volume| volume.iter().any(|factor| self.divisors.contains(factor)));
        let product = |volume: &Vec<Name>| {
            let parameters = volume.iter().map(|factor| self.named(factor)).collect::<Option<_>>()?;
            Some(Product { number: 1, grid: Vec::new(), block: Vec::new(), parameters })
        };
        divided.filter_map(product).collect()
    }

    /// Products of sizes that no area bounds: with numbers, with the grid, or of more than two sizes.
    fn products(&self, is_size: &dyn Fn(&String) -> bool) -> BTreeSet<Product> {
        let products = self.extents.products().into_iter().filter_map(|extent| self.product(extent, is_size));
        let is_more = |product: &Product| {
            product.number > 1 || !(product.grid.is_empty() && product.block.is_empty()) || product.parameters.len() > 2
        };
        let products: BTreeSet<Product> = products.filter(is_more).collect();
        let is_implied = |product: &&Product| products.iter().any(|other| other != *product && other.covers(product));
        products.iter().filter(|product| !is_implied(product)).cloned().collect()
    }

    fn product(&self, extent: &Extent, is_size: &dyn Fn(&String) -> bool) -> Option<Product> {
        let number = u32::try_from(extent.number).ok()?;
        let mut product = Product { number, grid: Vec::new(), block: Vec::new(), parameters: Vec::new() };
        for constant in &extent.parameters {
            product.parameters.push(self.named(constant)?);
        }
        // One that bounds the very sum is the number of its values.
        let is_count = |(name, forms): &(&String, &BTreeSet<Form>)| {
            is_size(name) && forms.iter().any(|form| ids(form) == extent.ids)
        };
        let count = self.bounded.iter().find(is_count).filter(|_| !extent.ids.is_empty()).map(|(name, _)| name);
        product.parameters.extend(count.cloned());
        for axis in Axis::ALL.into_iter().filter(|_| count.is_none()) {
            let (thread, block) = (Term::Thread(axis), Term::Block(axis));
            let is_of_axis = extent.ids.contains(&thread) || extent.ids.contains(&block);
            // Who bounds the columns of which each thread has some says nothing of the blocks that have a row each.
            let outer = if extent.ids.contains(&block) { &block } else { &thread };
            let bounds = self.bounds.iter().filter(|(name, ids)| ids.contains(outer) && is_size(name));
            match bounds.min_by_key(|(_, ids)| ids.len()) {
                _ if !is_of_axis => {}
                Some((bound, _)) => product.parameters.push(bound.clone()),
                // What the threads of a block add is less than a block further.
                None if extent.apart.contains_key(&axis) => {
                    product.number = product.number.checked_mul(u32::try_from(extent.apart[&axis]).ok()?)?;
                    product.grid.push(axis);
                }
                None => {
                    product.grid.extend(extent.ids.contains(&block).then_some(axis));
                    product.block.extend(extent.ids.contains(&thread).then_some(axis));
                }
            }
        }
        product.parameters.sort();
        product.parameters.iter().all(is_size).then_some(product)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{self, LowerOptions};

    const FREE: Geometry = Geometry::FREE;

    fn lines(text: &str, geometry: Geometry) -> Vec<String> {
        let module = crate::ptx::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
        let entry = &module.functions[0];
        let cfg = crate::cfg::build(&module, entry, Default::default()).unwrap_or_else(|errors| panic!("{errors:?}"));
        let options = LowerOptions { geometry, ..LowerOptions::default() };
        let kernel = kernel::lower(&module, entry, &cfg, &options).unwrap_or_else(|errors| panic!("{errors:?}"));
        let prefix = format!("{}_", entry.name);
        conditions(&kernel, &kernel).iter().map(|condition| condition.to_string().replace(&prefix, "")).collect()
    }

    fn launch(block: [u32; 3], grid: [u32; 3]) -> Geometry {
        Geometry { block: block.map(Some), grid: grid.map(Some) }
    }

    #[test]
    fn products_with_numbers_and_with_the_grid_fit() {
        let upsample = include_str!("../../tests/programs/upsample_nearest.ptx");
        assert!(lines(upsample, FREE).contains(&"4 * param_2 * param_3 <= 2147483647".to_string()));
        let channels = include_str!("../../tests/programs/conv_channels.ptx");
        assert!(lines(channels, FREE).contains(&"gridDim.z * param_4 * param_4 <= 2147483647".to_string()));
        let rows = include_str!("../../tests/programs/convolution_row_tiles.ptx");
        assert!(lines(rows, FREE).contains(&"gridDim.y * param_2 <= 2147483647".to_string()));
    }

    #[test]
    fn a_launch_that_is_given_covers_what_its_threads_index() {
        let floyd = include_str!("../../tests/programs/floyd_step.ptx");
        let given = lines(floyd, launch([16, 16, 1], [16, 16, 1]));
        for covered in ["param_1 <= gridDim.x * blockDim.x", "param_1 <= gridDim.y * blockDim.y"] {
            assert!(given.contains(&covered.to_string()), "{given:?}");
        }
        assert!(!lines(floyd, FREE).iter().any(|line| line.starts_with("param_1 <= ")));
        // Threads that go on with what lies a grid further cover any number.
        let stride = include_str!("../../tests/programs/saxpy_grid_stride.ptx");
        let given = lines(stride, launch([256, 1, 1], [64, 1, 1]));
        assert!(!given.iter().any(|line| line.contains(" <= gridDim")), "{given:?}");
    }

    #[test]
    fn a_pivot_is_one_of_the_rows_and_may_be_the_first() {
        let given = lines(include_str!("../../tests/programs/floyd_step.ptx"), FREE);
        assert!(given.contains(&"param_2 < param_1".to_string()), "{given:?}");
        assert!(!given.iter().any(|line| line.starts_with("1 <= param_2")), "{given:?}");
    }
    #[test]
    fn planes_and_tiles_on_a_diagonal_stay_apart() {
        let batch = lines(include_str!("../../tests/plausible/batch_of_squares.ptx"), FREE);
        assert!(batch.contains(&"param_2 >= param_1 * param_1".to_string()), "{batch:?}");
        let diagonal = lines(include_str!("../../tests/plausible/diagonal_tiles.ptx"), launch([16, 1, 1], [6, 1, 1]));
        assert!(diagonal.contains(&"param_1 >= 96".to_string()), "{diagonal:?}");
    }

    #[test]
    fn sizes_are_known_behind_parts_and_differences() {
        let chroma = lines(include_str!("../../tests/plausible/chroma_plane.ptx"), FREE);
        assert_eq!(chroma[2], "param_2 * param_3 <= 2147483647", "{chroma:?}");
        let valid = lines(include_str!("../../tests/plausible/valid_convolution.ptx"), launch([16, 16, 1], [8, 8, 4]));
        assert!(valid.contains(&"gridDim.z * param_3 * param_4 <= 2147483647".to_string()), "{valid:?}");
        assert!(!valid.iter().any(|line| line.starts_with("param_3 * param_4")), "the product implies it: {valid:?}");
    }

    #[test]
    fn rows_go_as_far_as_blocks_are_apart() {
        let strips = include_str!("../../tests/plausible/strips_of_tile.ptx");
        let given = lines(strips, launch([32, 8, 1], [16, 16, 1]));
        assert_eq!(given[1..], ["param_2 >= 512", "32 * gridDim.y * param_2 <= 2147483647"]);
        let flat = include_str!("../../tests/plausible/flat_tile.ptx");
        let given = lines(flat, launch([256, 1, 1], [8, 8, 1]));
        assert!(given.contains(&"param_1 >= 1024".to_string()), "{given:?}");
        let square = include_str!("../../tests/plausible/square_tile.ptx");
        let given = lines(square, launch([16, 16, 1], [1, 1, 1]));
        assert_eq!(given[1..], ["param_1 >= 16", "blockDim.y * param_1 <= 2147483647"]);
    }

    #[test]
    fn what_is_a_mask_when_it_is_one_less_is_a_power_of_two() {
        let butterfly = lines(include_str!("../../tests/plausible/butterfly_span.ptx"), FREE);
        assert!(butterfly.contains(&"param_1 is a power of two".to_string()), "{butterfly:?}");
    }
}
