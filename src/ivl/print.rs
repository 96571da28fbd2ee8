//! The printer.
//!
//! Input: a program of any stage. Output: its text.
//! Establishes: parsing the text gives the same program up to spans and origins; a program without
//! kernel statements is accepted by Boogie. Relies on: identifiers that can be written.
//! Reference: Boogie 2 syntax.
//!
//! Built-in functions that the program uses are declared at the top. Where the PTX instruction that
//! statements stand for changes, a comment shows it.

use super::access;
use super::ast::*;
use super::bv::{self, BvOp};
use super::bv_names::{Builtin, parse_builtin};
use super::event::{TRAP, as_call};
use super::print_expr::{Expressions, Quoted, Written, identifier, identifiers, print_type};
use super::visit::{self, Visitor};
use crate::order::Fence;
use crate::placed::Placed;
use crate::span::{Origin, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};
use std::sync::Arc;

/// Where lines of names wrap.
const LINE_WIDTH: usize = 100;

/// Prints a program.
pub fn print(program: &Program) -> String {
    print_with_notes(program, &BTreeMap::new())
}

/// Prints a program with a comment, of one line, at the blocks with these labels, but for `{:inline}` procedures.
pub fn print_with_notes(program: &Program, notes: &BTreeMap<Name, String>) -> String {
    print_with_places(program, notes).text
}

/// The same, with the instructions that the statements stand for.
pub(crate) fn print_with_places(program: &Program, notes: &BTreeMap<Name, String>) -> Placed {
    let arrays = program.arrays.iter().map(|a| (&a.name, a.element_bytes)).collect();
    let mut printer = Printer { out: Placed::default(), arrays, notes, is_inlined: false, origin: None };
    // Writing to a string cannot fail.
    let _ = printer.program(program);
    printer.out
}

/// True for `BVn_TO_SINT` defined as it is meant; it has no name in SMT-LIB, so programs carry its
/// definition.
pub(super) fn defines_signed_value(builtin: Builtin, function: &Function) -> bool {
    match (builtin, function.params.as_slice(), &function.body) {
        (Builtin::ToSignedInt(width), [(name, Type::Bv(w))], Some(body)) if *w == width => {
            super::print_expr(body) == super::print_expr(&signed_value(width, name)) && function.result == Type::Int
        }
        _ => false,
    }
}

/// `if x is negative then -1 - !x else x`, over the unsigned values.
fn signed_value(width: u32, x: &Name) -> ExprRef {
    let x = bv::var(x.clone(), Type::Bv(width));
    let sign = bv::node(ExprKind::Extract { value: x.clone(), high: width, low: width - 1 }, Type::Bv(1));
    let below = bv::op(BinaryOp::Sub, bv::int(-1), bv::to_int(bv::unary(BvOp::Not, x.clone())));
    bv::ite(bv::eq(sign, bv::literal(1, 1)), below, bv::to_int(x))
}

struct Printer<'a> {
    out: Placed,
    /// Bytes an element has.
    arrays: BTreeMap<&'a Name, u32>,
    /// What blocks stand for, by label.
    notes: &'a BTreeMap<Name, String>,
    /// In a procedure marked `{:inline}`, whose labels are not those that notes are about.
    is_inlined: bool,
    /// Of the statement before.
    origin: Option<Arc<Origin>>,
}

impl Printer<'_> {
    fn program(&mut self, program: &Program) -> fmt::Result {
        self.group(&used_builtins(program), |p, builtin| p.builtin(*builtin))?;
        self.group(&program.types, Self::type_declaration)?;
        self.group(&program.constants, |p, constant| {
            let variable = &constant.variable;
            let unique = if constant.unique { "unique " } else { "" };
            p.out.push_str("const ");
            p.attributes(&variable.attributes, "", " ")?;
            writeln!(p.out, "{unique}{}: {};", identifier(&variable.name), print_type(&variable.ty))
        })?;
        self.group(&program.functions, Self::function)?;
        self.group(&program.axioms, |p, axiom| {
            p.out.push_str("axiom ");
            p.condition(axiom)
        })?;
        self.group(&program.globals, |p, global| {
            p.out.push_str("var ");
            p.variable(global)?;
            p.out.push_str(";\n");
            Ok(())
        })?;
        self.group(&program.arrays, Self::array)?;
        for procedure in &program.procedures {
            self.group(std::slice::from_ref(procedure), Self::procedure)?;
        }
        for implementation in &program.implementations {
            self.group(std::slice::from_ref(implementation), Self::implementation)?;
        }
        Ok(())
    }

    /// Declarations of one kind, after a blank line.
    fn group<T>(&mut self, items: &[T], mut print: impl FnMut(&mut Self, &T) -> fmt::Result) -> fmt::Result {
        if !items.is_empty() && !self.out.text.is_empty() {
            self.out.push_str("\n");
        }
        items.iter().try_for_each(|item| print(self, item))
    }

    fn builtin(&mut self, builtin: Builtin) -> fmt::Result {
        let (params, result) = builtin.signature();
        let (name, result) = (builtin.name(), print_type(&result));
        match builtin.smt_name() {
            Some(smt) => {
                let params: Vec<String> = params.iter().map(print_type).collect();
                writeln!(
                    self.out,
                    "function {{:bvbuiltin \"{smt}\"}} {name}({}) returns ({result});",
                    params.join(", ")
                )
            }
            None => {
                let x = Name::new("x");
                let width = params.iter().find_map(|ty| if let Type::Bv(w) = ty { Some(*w) } else { None });
                let body = super::print_expr(&signed_value(width.unwrap_or(1), &x));
                writeln!(
                    self.out,
                    "function {{:inline}} {name}(x: {}) returns ({result}) {{ {body} }}",
                    print_type(&params[0])
                )
            }
        }
    }

    fn function(&mut self, function: &Function) -> fmt::Result {
        self.out.push_str("function ");
        self.attributes(&function.attributes, "", " ")?;
        let params: Vec<String> = (function.params.iter())
            .map(|(name, ty)| match name.as_str() {
                "" => print_type(ty),
                _ => format!("{}: {}", identifier(name), print_type(ty)),
            })
            .collect();
        let (name, result) = (identifier(&function.name), print_type(&function.result));
        write!(self.out, "{name}({}) returns ({result})", params.join(", "))?;
        match &function.body {
            Some(body) => writeln!(self.out, " {{ {} }}", super::print_expr(body)),
            None => writeln!(self.out, ";"),
        }
    }

    /// The arguments of a constructor have no names; it prints some.
    fn type_declaration(&mut self, ty: &TypeDeclaration) -> fmt::Result {
        self.out.push_str("type ");
        self.attributes(&ty.attributes, "", " ")?;
        write!(self.out, "{}", identifier(&ty.name))?;
        (1..=ty.arity).try_for_each(|index| write!(self.out, " a{index}"))?;
        self.out.push_str(";\n");
        Ok(())
    }

    fn array(&mut self, array: &Array) -> fmt::Result {
        let space = match array.space {
            ArraySpace::Shared => "shared",
            ArraySpace::Global => "global",
        };
        write!(self.out, "{space} ")?;
        let bytes = u64::from(array.element_bytes.max(1));
        let elements = match array.size {
            Some(size) if size % bytes == 0 => (size / bytes).to_string(),
            Some(size) => {
                write!(self.out, "{{:bytes {size}}} ")?;
                String::new()
            }
            None => String::new(),
        };
        writeln!(self.out, "{}: [{elements}]bv{};", identifier(&array.name), 8 * bytes)
    }

    fn procedure(&mut self, procedure: &Procedure) -> fmt::Result {
        self.is_inlined = procedure.attributes.iter().any(|attribute| attribute.name.as_str() == "inline");
        self.out.push_str("procedure ");
        self.attributes(&procedure.attributes, "", " ")?;
        write!(self.out, "{}", identifier(&procedure.name))?;
        self.formals(&procedure.params)?;
        if !procedure.results.is_empty() {
            self.out.push_str(" returns ");
            self.formals(&procedure.results)?;
        }
        self.out.push_str(if procedure.body.is_none() { ";\n" } else { "\n" });
        if !procedure.modifies.is_empty() {
            writeln!(self.out, "  modifies {};", identifiers(&procedure.modifies))?;
        }
        for (word, conditions) in [("requires", &procedure.requires), ("ensures", &procedure.ensures)] {
            for condition in conditions {
                write!(self.out, "  {}{word} ", if condition.free { "free " } else { "" })?;
                self.condition(condition)?;
            }
        }
        match &procedure.body {
            Some(body) => self.body(body),
            None => Ok(()),
        }
    }

    fn formals(&mut self, variables: &[Variable]) -> fmt::Result {
        self.out.push_str("(");
        for (index, variable) in variables.iter().enumerate() {
            self.out.push_str(if index == 0 { "" } else { ", " });
            self.variable(variable)?;
        }
        self.out.push_str(")");
        Ok(())
    }

    /// `{:a} x: T where e`
    fn variable(&mut self, variable: &Variable) -> fmt::Result {
        self.attributes(&variable.attributes, "", " ")?;
        write!(self.out, "{}: {}", identifier(&variable.name), print_type(&variable.ty))?;
        match &variable.where_clause {
            Some(clause) => write!(self.out, " where {}", super::print_expr(clause)),
            None => Ok(()),
        }
    }

    fn implementation(&mut self, implementation: &SeparateImplementation) -> fmt::Result {
        self.out.push_str("implementation ");
        self.attributes(&implementation.attributes, "", " ")?;
        write!(self.out, "{}", identifier(&implementation.procedure))?;
        self.formals(&implementation.params)?;
        if !implementation.results.is_empty() {
            self.out.push_str(" returns ");
            self.formals(&implementation.results)?;
        }
        self.out.push_str("\n");
        self.body(&implementation.body)
    }

    fn condition(&mut self, condition: &Condition) -> fmt::Result {
        self.attributes(&condition.attributes, "", " ")?;
        writeln!(self.out, "{};", super::print_expr(&condition.expr))
    }

    fn body(&mut self, body: &Implementation) -> fmt::Result {
        self.out.push_str("{\n");
        let plain = |v: &Variable| v.attributes.is_empty() && v.where_clause.is_none();
        for group in body.locals.chunk_by(|a, b| a.ty == b.ty && plain(a) && plain(b)) {
            match group {
                [single] if !plain(single) => {
                    self.out.push_str("  var ");
                    self.variable(single)?;
                    self.out.push_str(";\n");
                }
                group => self.locals(group)?,
            }
        }
        for (index, block) in body.blocks.iter().enumerate() {
            if index > 0 || !body.locals.is_empty() {
                self.out.push_str("\n");
            }
            self.block(block)?;
        }
        self.out.push_str("}\n");
        Ok(())
    }

    /// Variables of one type, without attributes, wrapped.
    fn locals(&mut self, variables: &[Variable]) -> fmt::Result {
        self.out.push_str("  var ");
        let mut column = 6;
        for (index, variable) in variables.iter().enumerate() {
            let name = identifier(&variable.name).to_string();
            if index > 0 {
                column += 2 + name.len();
                let wrap = column > LINE_WIDTH;
                self.out.push_str(if wrap { ",\n    " } else { ", " });
                column = if wrap { 4 + name.len() } else { column };
            } else {
                column += name.len();
            }
            self.out.push_str(&name);
        }
        writeln!(self.out, ": {};", print_type(&variables[0].ty))
    }

    fn block(&mut self, block: &Block) -> fmt::Result {
        writeln!(self.out, "{}:", identifier(&block.label))?;
        if let Some(note) = self.notes.get(&block.label).filter(|_| !self.is_inlined) {
            writeln!(self.out, "  // {note}")?;
        }
        self.origin = None;
        for stmt in &block.stmts {
            let start = self.out.text.len();
            self.comment(stmt)?;
            self.out.push_str("  ");
            self.stmt(stmt)?;
            self.out.push_str(";\n");
            self.out.comes_from(start, stmt.origin.as_ref().map_or(Span::NONE, |origin| origin.span));
        }
        match &block.transfer {
            Transfer::Goto(labels) => writeln!(self.out, "  goto {};", identifiers(labels)),
            Transfer::Return => writeln!(self.out, "  return;"),
        }
    }

    /// The instruction, where it is another one than before.
    fn comment(&mut self, stmt: &Stmt) -> fmt::Result {
        let same = match (&stmt.origin, &self.origin) {
            (Some(new), Some(old)) => Arc::ptr_eq(new, old) || new == old,
            (new, old) => new.is_none() && old.is_none(),
        };
        self.origin = stmt.origin.clone();
        let Some(origin) = stmt.origin.as_ref().filter(|_| !same) else { return Ok(()) };
        // Only the file's name: where it lies differs from machine to machine.
        let place = match &origin.position {
            Some(position) => {
                let file = position.file.rsplit(['/', '\\']).next().unwrap_or_default();
                format!("{file}:{}", position.line)
            }
            None => format!("line {}", origin.line),
        };
        let text: Vec<&str> = origin.text.split_whitespace().collect();
        writeln!(self.out, "  // {place}  {}", text.join(" "))
    }

    fn stmt(&mut self, stmt: &Stmt) -> fmt::Result {
        let (kind, attributes) = as_call(&stmt.kind, &stmt.attributes);
        let attributes = &*attributes;
        match &*kind {
            StmtKind::Assign(pairs) => {
                let targets: Vec<String> = pairs.iter().map(|(name, _)| identifier(name).to_string()).collect();
                let values: Vec<String> = pairs.iter().map(|(_, value)| super::print_expr(value)).collect();
                write!(self.out, "{} := ", targets.join(", "))?;
                self.attributes(attributes, "", " ")?;
                self.out.push_str(&values.join(", "));
                Ok(())
            }
            StmtKind::Havoc(names) => {
                write!(self.out, "havoc {}", identifiers(names))?;
                self.attributes(attributes, " ", "")
            }
            StmtKind::Assume(premise, e) => self.formula("assume", (&premise.attributes(), attributes), e),
            StmtKind::Assert(claim, e) => self.formula("assert", (&claim.attributes(), attributes), e),
            StmtKind::Call { procedure, args, results } => {
                let (free, attributes): (Vec<Attribute>, Vec<Attribute>) =
                    attributes.iter().cloned().partition(|a| a.name.as_str() == FREE_CALL);
                self.out.push_str(if free.is_empty() { "call " } else { "free call " });
                self.attributes(&attributes, "", " ")?;
                if !results.is_empty() {
                    write!(self.out, "{} := ", identifiers(results))?;
                }
                write!(self.out, "{}({})", identifier(procedure), Expressions(args))
            }
            StmtKind::Load { dst, access } => {
                write!(self.out, "{} := ", identifier(dst))?;
                self.element(access)?;
                self.access_attributes(access, attributes)
            }
            StmtKind::Store { value, access } => {
                self.element(access)?;
                write!(self.out, " := {}", super::print_expr(value))?;
                self.access_attributes(access, attributes)
            }
            StmtKind::Atomic { dst, access } => {
                self.out.push_str("atomic ");
                if let Some(dst) = dst {
                    write!(self.out, "{} := ", identifier(dst))?;
                }
                self.element(access)?;
                self.access_attributes(access, attributes)
            }
            StmtKind::Barrier(barrier) => {
                if let Some(result) = &barrier.result {
                    write!(self.out, "{} := ", identifier(result))?;
                }
                self.out.push_str("barrier");
                self.attributes(&access::barrier_to_attributes(barrier), " ", "")?;
                self.attributes(attributes, " ", "")
            }
            StmtKind::Fence(fence) => {
                write!(self.out, "fence {}", Quoted(&fence.to_string()))?;
                self.attributes(attributes, " ", "")
            }
            StmtKind::WarpBarrier(barrier) => {
                write!(self.out, "fence {}", Quoted(&Fence::warp().to_string()))?;
                self.attributes(&access::warp_barrier_to_attributes(barrier), " ", "")?;
                self.attributes(attributes, " ", "")
            }
            StmtKind::Trap => {
                write!(self.out, "fence {}", Quoted(TRAP))?;
                self.attributes(attributes, " ", "")
            }
            StmtKind::Log { .. } | StmtKind::Check(_) | StmtKind::Order { .. } => {
                panic!("ivl: an event is printed as a call")
            }
        }
    }

    fn formula(&mut self, word: &str, (first, attributes): (&[Attribute], &[Attribute]), e: &ExprRef) -> fmt::Result {
        write!(self.out, "{word} ")?;
        self.attributes(first, "", " ")?;
        self.attributes(attributes, "", " ")?;
        self.out.push_str(&super::print_expr(e));
        Ok(())
    }

    /// `A[offset]`; the extension of a narrower offset to 64 bits goes without saying.
    fn element(&mut self, access: &Access) -> fmt::Result {
        let offset = match &access.offset.kind {
            ExprKind::Call(name, args) => match (parse_builtin(name.as_str()), args.as_slice()) {
                (Some(Builtin::ZeroExtend { to: 64, .. }), [e]) if !matches!(e.kind, ExprKind::Bv(_)) => e,
                _ => &access.offset,
            },
            _ => &access.offset,
        };
        write!(self.out, "{}[{}]", identifier(&access.array), super::print_expr(offset))
    }

    fn access_attributes(&mut self, access: &Access, attributes: &[Attribute]) -> fmt::Result {
        let element_bytes = self.arrays.get(&access.array).copied().unwrap_or(0);
        self.attributes(&access::to_attributes(access, element_bytes), " ", "")?;
        self.attributes(attributes, " ", "")
    }

    fn attributes(&mut self, attributes: &[Attribute], before: &str, after: &str) -> fmt::Result {
        attributes.iter().try_for_each(|attribute| write!(self.out, "{before}{}{after}", Written(attribute)))
    }
}

/// Built-in functions that occur in the program and those their definitions need, without those that
/// the program declares itself.
fn used_builtins(program: &Program) -> Vec<Builtin> {
    struct Used(BTreeSet<Builtin>);
    impl Visitor for Used {
        fn expr(&mut self, expr: &ExprRef) {
            if let ExprKind::Call(name, _) = &expr.kind {
                self.0.extend(parse_builtin(name.as_str()));
            }
            visit::walk_expr(self, expr);
        }
    }
    let mut used = Used(BTreeSet::new());
    visit::walk_program(&mut used, program);
    for builtin in used.0.clone() {
        if let Builtin::ToSignedInt(width) = builtin {
            used.0.extend([Builtin::ToInt(width), Builtin::Op(BvOp::Not, width)]);
        }
    }
    let declared: BTreeSet<&Name> = program.functions.iter().map(|f| &f.name).collect();
    used.0.into_iter().filter(|builtin| !declared.contains(&builtin.name())).collect()
}
