//! The prelude: the race-checking runtime, written in the IVL.
//!
//! Input: prelude text; later an array. Output: [`Prelude`]; the declarations for the array. Establishes:
//! every name of the contract (`prelude/README.md`) is there with the right types, procedures have a
//! body, and instances of templates share no names. Relies on: the parser. Reference: the tutorial
//! paper, LOG and CHECK procedures.
//!
//! A declaration whose name contains `$ARRAY` is a template and exists once an array; others exist once.

use super::contract::{self, mentions_array};
use crate::diagnostic::Diagnostic;
use crate::ivl;
use crate::ivl::ast::{
    Attribute, AttributeArg, Block, Condition, Constant, ExprKind, ExprRef, Function, Implementation, Name, Procedure,
    Program, Stmt, StmtKind, UnaryOp, Variable,
};
use crate::ivl::bv;
use crate::ivl::visit::{map_attribute, map_children, map_stmt};
use crate::span::Span;

/// The text of the prelude with a watched byte, the default.
pub const WATCHED_BYTE: &str = include_str!("../../prelude/watched_byte.ivl");
/// The text of the prelude with the papers' logging sets.
pub const LOGGING_SETS: &str = include_str!("../../prelude/logging_sets.ivl");

/// What stands for the array in names of templates.
pub(super) const PLACEHOLDER: &str = "$ARRAY";

/// Whether offsets of an array are right modulo 2^32 only; a prelude that does not ask gets exact ones.
pub(super) const NARROW: &str = "_NARROW_$ARRAY";

/// Whether strong accesses of an array start at multiples of their widths.
pub(super) const ALIGNED: &str = "_ALIGNED_$ARRAY";

/// A prelude that keeps the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prelude {
    program: Program,
    /// Whether it is one of the two above.
    is_shipped: bool,
}

/// The questions that a prelude may ask about the program and the array it is instantiated for; uses of the
/// constants `_SAME_BLOCK`, `_ALLOW_SAME_VALUE`, `_NARROW_$ARRAY` and `_ALIGNED_$ARRAY` become these values.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Both threads are of one block.
    pub same_block: bool,
    /// Writes of equal values do not race (`--allow-same-value`).
    pub allow_same_value: bool,
    /// Offsets of the array are right modulo 2^32 only.
    pub narrow: bool,
    /// Strong accesses of the array start at multiples of their widths, counted from one place.
    pub aligned: bool,
}

/// Parses a prelude and checks the contract.
///
/// # Errors
/// What the parser finds; `prelude-contract` for each missing or wrong name.
pub fn load(text: &str) -> Result<Prelude, Vec<Diagnostic>> {
    let program = ivl::parse(text)?;
    let errors = contract::errors(&program);
    let is_shipped = [WATCHED_BYTE, LOGGING_SETS].contains(&text);
    if errors.is_empty() { Ok(Prelude { program, is_shipped }) } else { Err(errors) }
}

/// Whether a name is a template's.
pub(super) fn is_template(name: &Name) -> bool {
    name.as_str().contains(PLACEHOLDER)
}

impl Prelude {
    /// Where a procedure stands in the text of the prelude.
    pub(crate) fn place_of(&self, procedure: &str) -> Span {
        let found = self.program.procedures.iter().find(|other| other.name.as_str() == procedure);
        found.map_or(Span::NONE, |procedure| procedure.span)
    }

    /// Whether it is one of those that ship, and so compares accesses byte by byte, whatever their widths.
    pub(crate) fn is_shipped(&self) -> bool {
        self.is_shipped
    }

    /// Whether the prelude compares offsets as its arrays want it.
    pub(crate) fn knows_narrow(&self) -> bool {
        self.program.constants.iter().any(|constant| constant.variable.name.as_str() == NARROW)
    }

    /// The declarations that exist once.
    pub fn common(&self, setting: Setting) -> Program {
        self.select(&Instantiation { array: None, setting })
    }

    /// The declarations for one array.
    pub fn instantiate(&self, array: &Name, setting: Setting) -> Program {
        self.select(&Instantiation { array: Some(array), setting })
    }

    fn select(&self, to: &Instantiation) -> Program {
        let wanted = |name: &Name| is_template(name) == to.array.is_some() && to.setting.value(name).is_none();
        let program = &self.program;
        Program {
            types: Vec::new(),
            implementations: Vec::new(),
            constants: program.constants.iter().filter(|c| wanted(&c.variable.name)).map(|c| to.constant(c)).collect(),
            functions: program.functions.iter().filter(|f| wanted(&f.name)).map(|f| to.function(f)).collect(),
            axioms: program
                .axioms
                .iter()
                .filter(|axiom| mentions_array(&axiom.expr) == to.array.is_some())
                .map(|axiom| to.condition(axiom))
                .collect(),
            globals: program.globals.iter().filter(|g| wanted(&g.name)).map(|g| to.variable(g)).collect(),
            arrays: Vec::new(),
            procedures: program.procedures.iter().filter(|p| wanted(&p.name)).map(|p| to.procedure(p)).collect(),
        }
    }
}

impl Setting {
    /// The value of a constant that a setting decides.
    fn value(self, name: &Name) -> Option<bool> {
        match name.as_str() {
            "_SAME_BLOCK" => Some(self.same_block),
            "_ALLOW_SAME_VALUE" => Some(self.allow_same_value),
            NARROW => Some(self.narrow),
            ALIGNED => Some(self.aligned),
            _ => None,
        }
    }
}

/// `x := x`, which folding may leave.
fn is_idle(stmt: &Stmt) -> bool {
    let keeps = |(name, value): &(Name, ExprRef)| matches!(&value.kind, ExprKind::Var(other) if other == name);
    matches!(&stmt.kind, StmtKind::Assign(pairs) if pairs.iter().all(keeps))
}

/// Copies declarations, putting an array for the placeholder.
struct Instantiation<'a> {
    array: Option<&'a Name>,
    setting: Setting,
}

impl Instantiation<'_> {
    fn name(&self, name: &Name) -> Name {
        match self.array {
            Some(array) if is_template(name) => Name::from(name.as_str().replace(PLACEHOLDER, array.as_str())),
            _ => name.clone(),
        }
    }

    fn expr(&self, expr: &ExprRef) -> ExprRef {
        let inner = map_children(expr, &mut |child| self.expr(child));
        match &inner.kind {
            ExprKind::Var(name) => match self.setting.value(name) {
                Some(value) => bv::boolean(value),
                None if is_template(name) => bv::var(self.name(name), inner.ty.clone()),
                None => inner,
            },
            ExprKind::Call(name, args) if is_template(name) => {
                bv::call(self.name(name), args.clone(), inner.ty.clone())
            }
            // Rebuilt so that literals fold.
            ExprKind::Binary(op, a, b) => bv::op(*op, a.clone(), b.clone()),
            ExprKind::Unary(UnaryOp::Not, a) => bv::not(a.clone()),
            ExprKind::Ite(c, a, b) => bv::ite(c.clone(), a.clone(), b.clone()),
            _ => inner,
        }
    }

    fn attributes(&self, attributes: &[Attribute]) -> Vec<Attribute> {
        let mut attributes: Vec<Attribute> =
            attributes.iter().map(|attribute| map_attribute(attribute, &mut |e| self.expr(e))).collect();
        for arg in attributes.iter_mut().flat_map(|attribute| &mut attribute.args) {
            if let (AttributeArg::Text(text), Some(array)) = (arg, self.array) {
                *text = text.replace(PLACEHOLDER, array.as_str());
            }
        }
        attributes
    }

    fn variable(&self, variable: &Variable) -> Variable {
        let attributes = self.attributes(&variable.attributes);
        // Spans point into the prelude, which is not the user's input.
        Variable {
            name: self.name(&variable.name),
            ty: variable.ty.clone(),
            where_clause: None,
            attributes,
            span: Span::NONE,
        }
    }

    fn constant(&self, constant: &Constant) -> Constant {
        Constant { variable: self.variable(&constant.variable), unique: constant.unique }
    }

    fn function(&self, function: &Function) -> Function {
        Function {
            name: self.name(&function.name),
            body: function.body.as_ref().map(|body| self.expr(body)),
            span: Span::NONE,
            ..function.clone()
        }
    }

    fn condition(&self, condition: &Condition) -> Condition {
        let attributes = self.attributes(&condition.attributes);
        Condition { free: condition.free, expr: self.expr(&condition.expr), attributes, span: Span::NONE }
    }

    fn stmt(&self, stmt: &Stmt) -> Stmt {
        let mut result = map_stmt(stmt, &mut |e| self.expr(e));
        match &mut result.kind {
            StmtKind::Assign(pairs) => pairs.iter_mut().for_each(|(name, _)| *name = self.name(name)),
            StmtKind::Havoc(names) => names.iter_mut().for_each(|name| *name = self.name(name)),
            _ => {}
        }
        result.attributes = self.attributes(&stmt.attributes);
        result.span = Span::NONE;
        result
    }

    fn procedure(&self, procedure: &Procedure) -> Procedure {
        let variables = |list: &[Variable]| list.iter().map(|variable| self.variable(variable)).collect();
        let block = |block: &Block| Block {
            label: block.label.clone(),
            stmts: block.stmts.iter().map(|stmt| self.stmt(stmt)).filter(|stmt| !is_idle(stmt)).collect(),
            transfer: block.transfer.clone(),
            span: Span::NONE,
            end: Span::NONE,
        };
        Procedure {
            name: self.name(&procedure.name),
            params: variables(&procedure.params),
            results: variables(&procedure.results),
            modifies: procedure.modifies.iter().map(|name| self.name(name)).collect(),
            requires: Vec::new(),
            ensures: Vec::new(),
            body: procedure.body.as_ref().map(|body| Implementation {
                locals: variables(&body.locals),
                blocks: body.blocks.iter().map(block).collect(),
            }),
            attributes: self.attributes(&procedure.attributes),
            span: Span::NONE,
        }
    }
}
