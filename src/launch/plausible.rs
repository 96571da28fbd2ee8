//! Values of parameters that a host is likely to pass.
//!
//! Input: the lowered kernel. Output: conditions on its integer parameters. Establishes: nothing; they steer the search for
//! defects, and are offered as conditions of a proof. No proof takes them for granted silently. Relies on: nothing.
//! Reference: none; the table is in docs/stages/launch.md, the same for every kernel:
//!
//! - what bounds an index or a loop, or is a factor of an index, is positive; with 64 bits, it is at most 2^56;
//! - a product of two sizes has 31 bits, or is at most 2^56 with a size of 64 bits, if one is a factor of an index;
//! - a factor of rows that it does not bound (a pitch) is at least what bounds the columns, or the threads of a row of a
//!   block where nothing bounds them;
//! - a factor of planes is at least a factor of rows times what bounds these;
//! - where no parameter bounds the columns beside rows, the pitch is at least as many as the launch has;
//! - a product of numbers, sizes and the grid in a sum of 32 bits has 31 bits;
//! - what bounds the index of the threads along an axis is at most as many as the launch has, where that is given;
//! - what is a mask of an index when it is one less is a power of two;
//! - a factor that is compared for equality with an index is less than what bounds that index.
//!
//! What is only added to an index (an offset), or compared for equality (a switch), may be any number.

use super::columns::{Columns, Sums, pitch_of};
use super::condition::Condition;
use super::extents::{Extent, Extents};
use super::linear::{Form, Forms, Term};
use super::product::Product;
use crate::finding::ParameterValue;
use crate::geometry::{Axis, Geometry};
use crate::ivl::ast::{BinaryOp, ExprKind, ExprRef, Name, StmtKind};
use crate::ivl::bv::{Builtin, BvOp, parse_builtin};
use crate::ivl::visit;
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
    let below = below.into_iter().filter(|(_, count)| is_narrow_size(count));
    conditions.extend(below.map(|(index, count)| Condition::Below(index, count)));
    conditions.extend(uses.masks.iter().cloned().map(Condition::Power));
    conditions.extend(uses.wide());
    conditions.extend(uses.covered());
    conditions.extend(uses.products(&is_narrow_size).into_iter().map(Condition::Extent));
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

/// The integers that the user left free.
fn free(kernel: &Kernel) -> impl Iterator<Item = &KernelParameter> {
    let requires = kernel.program.procedures.iter().flat_map(|procedure| ranges::of_preconditions(&procedure.requires));
    let fixed: BTreeSet<Name> = requires.filter(|(_, (low, high))| low == high).map(|(constant, _)| constant).collect();
    let is_free = move |parameter: &&KernelParameter| {
        let constant = parameter.constant.as_ref();
        matches!(parameter.bits, 32 | 64)
            && !parameter.is_pointer
            && constant.is_some_and(|constant| !fixed.contains(constant))
    };
    kernel.params.iter().filter(is_free)
}

/// How statements use parameters, by name: with the ids of the sums that they are compared with, or multiply.
struct Uses<'k> {
    kernel: &'k Kernel,
    forms: Forms,
    bounds: BTreeMap<String, BTreeSet<Term>>,
    /// The sums that they bound, each for itself.
    bounded: BTreeMap<String, BTreeSet<Form>>,
    factors: BTreeMap<String, BTreeSet<Term>>,
    /// Bounds of sums that are not known, which perhaps have rows in them.
    unclear: BTreeSet<String>,
    /// Sums of ids that parameters bound.
    indices: BTreeSet<(String, Form)>,
    /// Ids with which parameters are compared for equality.
    equal: BTreeMap<String, BTreeSet<Term>>,
    /// Ids that are compared with what depends on a parameter: `x < 1024 - step`.
    limited: BTreeSet<Term>,
    /// Products of two parameters.
    pairs: BTreeSet<(String, String)>,
    /// Parameters of 32 bits that are masks when they are one less.
    masks: BTreeSet<String>,
    /// Parameters that operations use otherwise than as bound of an index or as factor of a sum of ids: steps of loops may
    /// be made of them.
    mixed: BTreeSet<String>,
    /// Ids that run down in the rows that parameters multiply: columns with them are no rows.
    down: BTreeMap<String, BTreeSet<Term>>,
    /// Ids that stand beside products of unknowns in what a variable is.
    hidden: BTreeMap<Name, BTreeSet<Term>>,
    extents: Extents,
    sums: Sums,
    /// Constants that stand for integer parameters of 32 bits.
    narrow: BTreeSet<Name>,
    /// The same of any width.
    integers: BTreeSet<Name>,
    /// Axes along which threads or blocks do the work of several.
    looped: BTreeSet<Axis>,
}

impl<'k> Uses<'k> {
    fn of(kernel: &'k Kernel) -> Uses<'k> {
        let bodies = || kernel.program.procedures.iter().flat_map(|procedure| &procedure.body);
        let statements = || bodies().flat_map(|body| &body.blocks).flat_map(|block| &block.stmts);
        let mut assigned = BTreeSet::new();
        let again = statements().flat_map(visit::assigned).filter(|variable| !assigned.insert(*variable));
        let forms = Forms::new(again.cloned().collect());
        let constants = |widths: &[u32]| -> BTreeSet<Name> {
            let integers = kernel.params.iter().filter(|p| widths.contains(&p.bits) && !p.is_pointer);
            integers.filter_map(|parameter| parameter.constant.clone()).collect()
        };
        let (narrow, integers) = (constants(&[32]), constants(&[32, 64]));
        let mut uses = Uses {
            kernel,
            forms,
            extents: Extents::new(narrow.clone()),
            sums: Sums::default(),
            narrow,
            integers,
            bounds: BTreeMap::new(),
            bounded: BTreeMap::new(),
            factors: BTreeMap::new(),
            unclear: BTreeSet::new(),
            indices: BTreeSet::new(),
            equal: BTreeMap::new(),
            limited: BTreeSet::new(),
            pairs: BTreeSet::new(),
            masks: BTreeSet::new(),
            mixed: BTreeSet::new(),
            down: BTreeMap::new(),
            hidden: BTreeMap::new(),
            looped: BTreeSet::new(),
        };
        for statement in statements() {
            visit::for_each_stmt_expr(statement, &mut |e| uses.expression(e));
            if let StmtKind::Assign(pairs) = &statement.kind {
                pairs.iter().for_each(|(variable, value)| uses.assign(variable, value));
            }
        }
        // A parameter that is added several times multiplies no id.
        let pitches = uses.sums.all().into_iter().filter_map(|sum| Some(pitch_of(sum, &uses.integers)?.0));
        let pitches: Vec<String> = pitches.filter_map(|pitch| uses.named(&pitch)).collect();
        pitches.into_iter().for_each(|pitch| uses.factors.entry(pitch).or_default().extend(None));
        uses.pairs();
        uses
    }

    /// Of two parameters that are multiplied both are sizes, unless one is a pitch and nothing says so of the other: then
    /// that is the number of a row.
    fn pairs(&mut self) {
        let sizes: BTreeSet<&String> = self.bounds.keys().chain(self.factors.keys()).collect();
        let is_row = |row: &String, pitch: &String| !sizes.contains(row) && self.factors.contains_key(pitch);
        let both = self.pairs.iter().flat_map(|(a, b)| [(a, b), (b, a)]);
        let factors: Vec<String> = both.filter(|(a, b)| !is_row(a, b)).map(|(a, _)| a.clone()).collect();
        factors.into_iter().for_each(|factor| self.factors.entry(factor).or_default().extend(None));
    }

    /// What keeps rows apart, and products of two sizes from wrapping.
    fn rows(&self, sizes: &[String], is_wide: &dyn Fn(&String) -> bool) -> Vec<Condition> {
        let mut conditions = Vec::new();
        let wide = self.wide();
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
                    if let Some(ratio) = ratio.filter(|_| !self.factors.contains_key(bound) && !is_count) {
                        conditions.push(match ratio {
                            1 => Condition::AtLeast(factor.clone(), bound.clone()),
                            _ => Condition::Wide(factor.clone(), Columns::multiple(ratio, bound)),
                        });
                    }
                }
                if !is_of_no_row && (!are_apart || self.counts(bound, rows)) {
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

    fn assign(&mut self, variable: &Name, value: &ExprRef) {
        self.extents.assign(&self.forms, variable, value);
        self.sums.assign((&self.forms, &self.integers), variable, value);
        if self.forms.of(value).is_none() {
            let ids = self.ids_in(value);
            self.hidden.entry(variable.clone()).or_insert(ids);
        }
        let (form, _) = self.forms.assign(variable, value);
        if self.forms.is_reassigned(variable) {
            self.looped.extend(ids(&form).into_iter().filter_map(|id| match id {
                Term::Block(axis) => Some(axis),
                _ => None,
            }));
        }
    }

    fn expression(&mut self, e: &ExprRef) {
        visit::children(e).into_iter().for_each(|operand| self.expression(operand));
        let (function, args) = match &e.kind {
            ExprKind::Call(function, args) => (function, args),
            ExprKind::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b) => {
                self.equality(a, b);
                self.equality(b, a);
                return;
            }
            ExprKind::Var(name) => {
                self.looped.extend(Axis::of(name.as_str(), "nctaid"));
                return;
            }
            _ => return,
        };
        let (Some(Builtin::Op(op, _)), [a, b]) = (parse_builtin(function.as_str()), &args[..]) else { return };
        if op == BvOp::And {
            let masks: Vec<String> = [a, b].into_iter().filter_map(|mask| self.one_more(mask)).collect();
            self.masks.extend(masks);
        }
        let is_product = op == BvOp::Mul;
        for (parameter, other) in [(a, b), (b, a)] {
            let Some(name) = self.parameter(parameter).filter(|_| !op.is_comparison()) else { continue };
            let is_of_ids = |form: &Form| !ids(form).is_empty() && self.is_of_ids(form);
            if !is_product || !self.forms.of(other).as_ref().is_some_and(is_of_ids) {
                self.mixed.insert(name);
            }
        }
        if !is_product && !op.is_comparison() {
            return;
        }
        if !is_product {
            let forms: Vec<Form> = [a, b].into_iter().filter_map(|side| self.forms.of(side)).collect();
            let depends = |form: &Form| {
                form.terms.keys().any(|term| matches!(term, Term::Unknown(name) if self.named(name).is_some()))
            };
            if forms.iter().any(depends) {
                self.limited.extend(forms.iter().flat_map(ids));
            }
        }
        for (parameter, other) in [(a, b), (b, a)] {
            let Some(name) = self.parameter(parameter) else { continue };
            if let Some(factor) = self.parameter(other).filter(|_| is_product) {
                self.pairs.insert((name, factor));
                continue;
            }
            let form = self.forms.of(other);
            let ids = self.ids_in(other);
            if !is_product && !form.as_ref().is_some_and(|form| self.is_clear(form)) {
                self.unclear.insert(name.clone());
            }
            if !is_product && let Some(index) = self.forms.of(other) {
                self.indices.extend(self.exact(parameter).map(|name| (name, index)));
            }
            if !is_product {
                self.bounded.entry(name.clone()).or_default().extend(form.clone());
            }
            if is_product && let Some(form) = &form {
                self.down.entry(name.clone()).or_default().extend(running_down(form));
            }
            let uses = if is_product { &mut self.factors } else { &mut self.bounds };
            uses.entry(name).or_default().extend(ids);
        }
    }

    /// The ids in a sum, beside products of unknowns.
    fn ids_in(&self, e: &ExprRef) -> BTreeSet<Term> {
        let operands = match &e.kind {
            ExprKind::Call(function, args) => match (parse_builtin(function.as_str()), &args[..]) {
                (Some(Builtin::Op(BvOp::Add | BvOp::Or, _)), [a, b]) => vec![a, b],
                (Some(Builtin::SignExtend { .. } | Builtin::ZeroExtend { .. }), [value]) => vec![value],
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let hidden = |form: &Form| -> BTreeSet<Term> {
            let unknown =
                form.terms.keys().filter_map(|term| if let Term::Unknown(name) = term { Some(name) } else { None });
            unknown.filter_map(|name| self.hidden.get(name)).flatten().cloned().collect()
        };
        match self.forms.of(e) {
            Some(form) => ids(&form).union(&hidden(&form)).cloned().collect(),
            None => operands.into_iter().flat_map(|operand| self.ids_in(operand)).collect(),
        }
    }

    fn equality(&mut self, parameter: &ExprRef, index: &ExprRef) {
        let ids = self.forms.of(index).as_ref().map(ids).unwrap_or_default();
        if let Some(name) = self.exact(parameter).filter(|_| !ids.is_empty()) {
            self.equal.entry(name).or_default().extend(ids);
        }
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
            // Who guards rows with it has launches in mind that go beyond it, and forgot the guard of the columns.
            let is_guard = self.bounds.get(&pitch).is_some_and(|rows| !rows.is_empty());
            if is_bounded || is_row || is_guard {
                return None;
            }
            let columns = Columns::of(&columns, self.kernel.geometry, |name| self.named(name))?;
            Some(Condition::Wide(pitch, columns))
        };
        self.sums.all().into_iter().filter_map(wide).collect()
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

    /// Products of sizes that no area bounds: with numbers, with the grid, or of more than two sizes.
    fn products(&self, is_size: &dyn Fn(&String) -> bool) -> BTreeSet<Product> {
        let products = self.extents.products().into_iter().filter_map(|extent| self.product(extent, is_size));
        let is_more =
            |product: &Product| product.number > 1 || !product.grid.is_empty() || product.parameters.len() > 2;
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
            let is_one = |ids: &BTreeSet<Term>| ids.contains(&thread) || ids.contains(&block);
            let bounds = self.bounds.iter().filter(|(name, ids)| is_one(ids) && is_size(name));
            match bounds.min_by_key(|(_, ids)| ids.len()) {
                _ if !is_one(&extent.ids) => {}
                Some((bound, _)) => product.parameters.push(bound.clone()),
                None => {
                    product.grid.extend(extent.ids.contains(&block).then_some(axis));
                    product.block.extend(extent.ids.contains(&thread).then_some(axis));
                }
            }
        }
        product.parameters.sort();
        product.parameters.iter().all(is_size).then_some(product)
    }

    /// The parameter that an expression is.
    fn exact(&self, e: &ExprRef) -> Option<String> {
        self.named(self.forms.of(e)?.variable()?)
    }

    /// Whether it is a sum of ids alone.
    fn is_of_ids(&self, form: &Form) -> bool {
        !form.terms.keys().any(|term| matches!(term, Term::Unknown(_)))
    }

    /// Whether it is a sum of ids, of counters of loops and of parameters alone.
    fn is_clear(&self, form: &Form) -> bool {
        let is_row = |term: &Term, factor: i64| match term {
            Term::Unknown(name) => !self.forms.is_counter(name) && (factor != 1 || self.named(name).is_none()),
            _ => false,
        };
        !form.terms.iter().any(|(term, factor)| is_row(term, *factor))
    }

    /// The parameter that an expression is, perhaps with a constant added.
    fn parameter(&self, e: &ExprRef) -> Option<String> {
        let form = self.forms.of(e)?;
        let mut terms = form.terms.iter();
        let (Some((Term::Unknown(name), 1)), None) = (terms.next(), terms.next()) else { return None };
        self.named(name)
    }

    /// The parameter of 32 bits of which an expression is one less.
    fn one_more(&self, e: &ExprRef) -> Option<String> {
        let form = self.forms.of(e)?;
        let is_mask = |name: &&Name| self.narrow.contains(*name) && form.constant == -1;
        let mut terms = form.terms.iter();
        match (terms.next(), terms.next()) {
            (Some((Term::Unknown(name), 1)), None) => self.named(Some(name).filter(is_mask)?),
            _ => None,
        }
    }

    /// The integer parameter that a constant stands for.
    fn named(&self, name: &Name) -> Option<String> {
        let is_it = |constant: &Name| constant == name;
        let is_integer = |p: &&KernelParameter| matches!(p.bits, 32 | 64) && !p.is_pointer;
        let mut integers = self.kernel.params.iter().filter(is_integer);
        let found = integers.find(|p| p.constant.as_ref().is_some_and(is_it))?;
        Some(found.name.clone())
    }
}

/// The ids in a sum. A loop's counter has those that it starts with: a block a row is apart from a thread a column.
pub(super) fn ids(form: &Form) -> BTreeSet<Term> {
    let id = |term: &Term| match term {
        Term::BlockStart(axis) => Some(Term::Block(*axis)),
        Term::Thread(_) | Term::Block(_) => Some(term.clone()),
        Term::Unknown(_) => None,
    };
    form.terms.keys().filter_map(id).collect()
}

/// The ids in a sum that make it smaller.
fn running_down(form: &Form) -> BTreeSet<Term> {
    let down = form.terms.iter().filter(|(_, factor)| **factor < 0);
    ids(&Form { terms: down.map(|(term, factor)| (term.clone(), *factor)).collect(), constant: 0 })
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
    fn what_is_a_mask_when_it_is_one_less_is_a_power_of_two() {
        let butterfly = lines(include_str!("../../tests/plausible/butterfly_span.ptx"), FREE);
        assert!(butterfly.contains(&"param_1 is a power of two".to_string()), "{butterfly:?}");
    }
}
