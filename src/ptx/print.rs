//! The dump of `--emit ast`: readable, byte-stable, one instruction a line.
//!
//! Input: a [`Module`].
//! Output: text that looks like PTX, with what typing found out: resolved spaces, orderings,
//! offsets, source positions. It is for reading and for snapshots; nothing parses it.

use super::ast::*;
use super::words::type_name;
use crate::geometry::Axis;
use crate::order::{Ordering, Scope};
use crate::span::SourcePosition;
use std::fmt::Write;

/// Prints a module.
pub fn print_ast(module: &Module) -> String {
    let mut printer = Printer { module, out: String::new() };
    printer.module();
    printer.out
}

struct Printer<'m> {
    module: &'m Module,
    out: String,
}

/// Prints to a string, which cannot fail.
macro_rules! line {
    ($printer:expr, $($argument:tt)*) => {{
        let _ = writeln!($printer.out, $($argument)*);
    }};
}

impl Printer<'_> {
    fn module(&mut self) {
        let module = self.module;
        line!(self, ".version {}.{}", module.version.0, module.version.1);
        line!(self, ".target {}", module.target);
        line!(self, ".address_size {}", module.address_size);
        for variable in &module.variables {
            line!(self, "{};", declaration(variable));
        }
        for function in &module.functions {
            self.function(function);
        }
    }

    fn function(&mut self, function: &Function) {
        let list = |variables: &[Variable]| variables.iter().map(declaration).collect::<Vec<_>>().join(", ");
        let kind = if function.is_entry { ".entry" } else { ".func" };
        let mut header = format!("\n{}{kind} ", linkage(function.linkage));
        if !function.returns.is_empty() {
            let _ = write!(header, "({}) ", list(&function.returns));
        }
        let _ = write!(header, "{}({})", function.name, list(&function.params));
        let sizes = [
            (".reqntid", function.required_block),
            (".maxntid", function.maximum_block),
            (".reqnctapercluster", function.required_cluster),
        ];
        for (word, size) in sizes {
            if let Some([x, y, z]) = size {
                let _ = write!(header, " {word} {x}, {y}, {z}");
            }
        }
        match &function.body {
            None => line!(self, "{header};"),
            Some(body) => {
                line!(self, "{header} {{");
                self.body(function, body);
                line!(self, "}}");
            }
        }
    }

    fn body(&mut self, function: &Function, body: &Body) {
        for register in &body.registers {
            line!(self, "  .reg .{} {};", type_name(register.ty), register.name);
        }
        for variable in &body.variables {
            line!(self, "  {};", declaration(variable));
        }
        let names = Names { module: self.module, function, body };
        for item in &body.items {
            match item {
                Item::Label(label) => line!(self, "{}:", names.label(*label)),
                Item::Annotation(annotation) => {
                    line!(self, "  //@ {} {}; // {}", annotation.kind.name(), annotation.text, annotation.origin.line);
                }
                Item::Instruction(instruction) => {
                    let guard = match instruction.guard {
                        Some(Guard { register, negated }) => {
                            format!("@{}{} ", if negated { "!" } else { "" }, names.register(register))
                        }
                        None => String::new(),
                    };
                    let place = place(instruction.origin.line, instruction.origin.position.as_deref());
                    line!(self, "  {guard}{}; // {place}", names.op(&instruction.op));
                }
            }
        }
    }
}

fn place(line: u32, position: Option<&SourcePosition>) -> String {
    let mut text = line.to_string();
    let mut next = position;
    let mut separator = " = ";
    while let Some(SourcePosition { file, line, column, inlined_at }) = next {
        let _ = write!(text, "{separator}{file}:{line}:{column}");
        separator = " in ";
        next = inlined_at.as_deref();
    }
    text
}

fn linkage(linkage: Linkage) -> &'static str {
    match linkage {
        Linkage::Internal => "",
        Linkage::Visible => ".visible ",
        Linkage::Extern => ".extern ",
        Linkage::Weak => ".weak ",
        Linkage::Common => ".common ",
    }
}

fn space(space: StateSpace) -> &'static str {
    match space {
        StateSpace::Generic => ".generic",
        StateSpace::Global => ".global",
        StateSpace::Shared => ".shared",
        StateSpace::SharedCluster => ".shared::cluster",
        StateSpace::Local => ".local",
        StateSpace::Param => ".param",
        StateSpace::Const => ".const",
    }
}

fn declaration(variable: &Variable) -> String {
    let size = variable.size.map_or("?".to_string(), |size| size.to_string());
    let mut text = format!("{}{}", linkage(variable.linkage), space(variable.space));
    let _ = write!(text, " .align {} .{} {} /* {size} bytes", variable.align, type_name(variable.ty), variable.name);
    if let Some(pointee) = variable.pointer {
        let _ = write!(text, ", points to {}", space(pointee));
    }
    if variable.initialised {
        text.push_str(", initialised");
    }
    if !variable.initialiser_symbols.is_empty() {
        let _ = write!(text, " with {}", variable.initialiser_symbols.join(", "));
    }
    text + " */"
}

fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Cta => ".cta",
        Scope::Cluster => ".cluster",
        Scope::Gpu => ".gpu",
        Scope::Sys => ".sys",
    }
}

fn ordering(ordering: Ordering) -> String {
    match ordering {
        Ordering::Weak => ".weak".to_string(),
        Ordering::Volatile => ".volatile".to_string(),
        Ordering::Relaxed(s) => format!(".relaxed{}", scope(s)),
        Ordering::Acquire(s) => format!(".acquire{}", scope(s)),
        Ordering::Release(s) => format!(".release{}", scope(s)),
        Ordering::AcquireRelease(s) => format!(".acq_rel{}", scope(s)),
    }
}

/// Resolves indices back to names.
struct Names<'m> {
    module: &'m Module,
    function: &'m Function,
    body: &'m Body,
}

impl Names<'_> {
    fn register(&self, id: RegisterId) -> &str {
        &self.body.registers[id.0 as usize].name
    }

    fn label(&self, id: LabelId) -> &str {
        &self.body.labels[id.0 as usize].name
    }

    fn variable(&self, reference: VariableRef) -> &str {
        let variable = match reference {
            VariableRef::Module(index) => &self.module.variables[index as usize],
            VariableRef::Body(index) => &self.body.variables[index as usize],
            VariableRef::Param(index) => &self.function.params[index as usize],
            VariableRef::Return(index) => &self.function.returns[index as usize],
        };
        &variable.name
    }

    fn operand(&self, operand: &Operand) -> String {
        match operand {
            Operand::Register(id) => self.register(*id).to_string(),
            Operand::NotPredicate(id) => format!("!{}", self.register(*id)),
            // Small negative numbers are easier to read as such.
            Operand::Integer(value) if (*value as i64) < 0 => (*value as i64).to_string(),
            Operand::Integer(value) => value.to_string(),
            Operand::Single(bits) => format!("0f{bits:08X}"),
            Operand::Double(bits) => format!("0d{bits:016X}"),
            Operand::Variable(reference, 0) => self.variable(*reference).to_string(),
            Operand::Variable(reference, offset) => format!("{}{offset:+}", self.variable(*reference)),
            Operand::Function(index) => self.module.functions[*index as usize].name.to_string(),
            Operand::Special(register) => special(*register),
            Operand::Vector(list) => format!("{{{}}}", self.operands(list)),
            Operand::Sink => "_".to_string(),
        }
    }

    fn operands(&self, list: &[Operand]) -> String {
        list.iter().map(|operand| self.operand(operand)).collect::<Vec<_>>().join(", ")
    }

    /// One operand, or several in braces.
    fn vector(&self, list: &[Operand]) -> String {
        if let [single] = list { self.operand(single) } else { format!("{{{}}}", self.operands(list)) }
    }

    fn address(&self, address: &Address) -> String {
        match (&address.base, address.offset) {
            (AddressBase::Absolute, offset) => format!("[{offset}]"),
            (AddressBase::Register(id), 0) => format!("[{}]", self.register(*id)),
            (AddressBase::Register(id), offset) => format!("[{}{offset:+}]", self.register(*id)),
            (AddressBase::Variable(reference), 0) => format!("[{}]", self.variable(*reference)),
            (AddressBase::Variable(reference), offset) => format!("[{}{offset:+}]", self.variable(*reference)),
        }
    }

    fn combine(&self, combine: Option<&(BoolOp, Operand)>) -> String {
        match combine {
            Some((operator, operand)) => {
                format!(" {} {}", format!("{operator:?}").to_lowercase(), self.operand(operand))
            }
            None => String::new(),
        }
    }

    fn op(&self, op: &Op) -> String {
        let one = |operand: &Operand| self.operand(operand);
        match op {
            Op::Mov { ty, dst, src } => format!("mov.{} {}, {}", type_name(*ty), one(dst), one(src)),
            Op::Int { op, ty, saturate, dst, sources, .. } => {
                let sat = if *saturate { ".sat" } else { "" };
                format!("int {op:?}{sat}.{} {}, {}", type_name(*ty), one(dst), self.operands(sources))
            }
            Op::Float { name, ty, dst, sources } => {
                format!("float {name} (.{}) {}, {}", type_name(*ty), one(dst), self.operands(sources))
            }
            Op::Setp { comparison, ty, dst, complement, a, b, combine, .. } => {
                let complement = complement.as_ref().map_or(String::new(), |q| format!("|{}", one(q)));
                let head = format!("setp {comparison:?}.{} {}{complement}", type_name(*ty), one(dst));
                format!("{head}, {}, {}{}", one(a), one(b), self.combine(combine.as_deref()))
            }
            Op::Set { comparison, to, ty, dst, a, b, combine, .. } => {
                let head = format!("set {comparison:?}.{}.{} {}", type_name(*to), type_name(*ty), one(dst));
                format!("{head}, {}, {}{}", one(a), one(b), self.combine(combine.as_deref()))
            }
            Op::Selp { ty, dst, a, b, predicate } => {
                format!("selp.{} {}, {}, {}, {}", type_name(*ty), one(dst), one(a), one(b), one(predicate))
            }
            Op::Cvt { to, from, name, dst, sources, .. } => {
                let types = format!(".{} from .{}", type_name(*to), type_name(*from));
                format!("{name} ({types}) {}, {}", one(dst), self.operands(sources))
            }
            Op::Cvta { from_generic, space: of, bits, dst, src } => {
                let to = if *from_generic { ".to" } else { "" };
                format!("cvta{to}{}.u{bits} {}, {}", space(*of), one(dst), one(src))
            }
            _ => self.memory_op(op),
        }
    }

    fn memory_op(&self, op: &Op) -> String {
        match op {
            Op::Load { space: of, ty, dst, address, ordering: order, non_coherent } => {
                let nc = if *non_coherent { ".nc" } else { "" };
                let head = format!("ld{}{}{nc}.{}", space(*of), ordering(*order), type_name(*ty));
                format!("{head} {}, {}", self.vector(dst), self.address(address))
            }
            Op::Store { space: of, ty, src, address, ordering: order } => {
                let head = format!("st{}{}.{}", space(*of), ordering(*order), type_name(*ty));
                format!("{head} {}, {}", self.address(address), self.vector(src))
            }
            Op::Atomic { space: of, operation, ty, elements, dst, address, sources, ordering: order } => {
                let vector = if *elements == 1 { String::new() } else { format!(".v{elements}") };
                let name = if dst.is_empty() { "red" } else { "atom" };
                let dst = if dst.is_empty() { String::new() } else { format!("{}, ", self.vector(dst)) };
                let head = format!("{name}{}{}.{operation}{vector}.{}", space(*of), ordering(*order), type_name(*ty));
                format!("{head} {dst}{}, {}", self.address(address), self.operands(sources))
            }
            Op::Matrix { name, dst, src, address, stride, .. } => {
                let (dst, src) = (self.operands(dst), self.operands(src));
                let stride = stride.as_ref().map_or(String::new(), |stride| self.operand(stride));
                let operands = [dst, self.address(address), src, stride].into_iter().filter(|o| !o.is_empty());
                format!("{name} {}", operands.collect::<Vec<_>>().join(", "))
            }
            _ => self.control_op(op),
        }
    }

    fn control_op(&self, op: &Op) -> String {
        match op {
            Op::Branch { target } => format!("bra {}", self.label(*target)),
            Op::BranchIndexed { index, targets } => {
                let targets: Vec<&str> = targets.iter().map(|target| self.label(*target)).collect();
                format!("brx.idx {}, {{{}}}", self.operand(index), targets.join(", "))
            }
            Op::Return => "ret".to_string(),
            Op::Exit => "exit".to_string(),
            Op::Trap => "trap".to_string(),
            Op::Call { function, returns, arguments } => {
                let name = &self.module.functions[*function as usize].name;
                format!("call ({}), {name}, ({})", self.operands(returns), self.operands(arguments))
            }
            Op::CallIndirect { function, targets, returns, arguments } => {
                let name = |index: &u32| &*self.module.functions[*index as usize].name;
                let targets = targets.as_ref().map_or("any".to_string(), |targets| {
                    format!("{{{}}}", targets.iter().map(name).collect::<Vec<_>>().join(", "))
                });
                let (returns, function) = (self.operands(returns), self.operand(function));
                format!("call ({returns}), {function}, ({}), {targets}", self.operands(arguments))
            }
            Op::Barrier { kind, aligned, id, count } => {
                let (form, dst, predicate) = match kind {
                    BarrierKind::Sync => ("sync".to_string(), String::new(), String::new()),
                    BarrierKind::Arrive => ("arrive".to_string(), String::new(), String::new()),
                    BarrierKind::Reduce { operation, dst, predicate } => {
                        let dst = format!("{}, ", self.operand(dst));
                        (format!("red.{operation}"), dst, format!(", {}", self.operand(predicate)))
                    }
                };
                let aligned = if *aligned { ".aligned" } else { "" };
                let count = count.as_ref().map_or(String::new(), |count| format!(", {}", self.operand(count)));
                format!("barrier.{form}{aligned} {dst}{}{count}{predicate}", self.operand(id))
            }
            Op::WarpBarrier { mask } => format!("bar.warp.sync {}", self.operand(mask)),
            Op::Fence(fence) => fence.to_string(),
            Op::Arbitrary { name, dst, .. } => format!("arbitrary {name} {}", self.vector(dst)),
            Op::Async { name, operation: AsyncOp::Copy(copy) } => {
                let taken = copy.taken.as_ref().map_or(String::new(), |taken| format!(", {}", self.operand(taken)));
                format!("{name} {}, {}, {}{taken}", self.address(&copy.to), self.address(&copy.from), copy.bytes)
            }
            Op::Async { operation: AsyncOp::Commit, .. } => "cp.async.commit_group".to_string(),
            Op::Async { name, operation: AsyncOp::Wait { pending, commits } } => match commits {
                true => name.to_string(),
                false => format!("{name} {pending}"),
            },
            Op::Async { name, operation: AsyncOp::Arrive { object, .. } } => {
                format!("{name} {}", self.address(&object.address))
            }
            Op::Async { name, operation: AsyncOp::Bulk(copy) } => {
                let object = copy.object.as_ref().map(|object| self.address(&object.address));
                let object = object.map_or(String::new(), |object| format!(", {object}"));
                let (to, from) = (self.address(&copy.to.address), self.address(&copy.from.address));
                format!("{name} {to}, {from}, {}{object}", self.operand(&copy.size))
            }
            Op::Async { name, operation: AsyncOp::Remote(store) } => {
                let (to, object) = (self.address(&store.to.address), self.address(&store.object.address));
                format!("{name} {to}, {}, {object}", self.vector(&store.values))
            }
            Op::Async { name, operation: AsyncOp::Tensor(copy) } => {
                let (map, shared) = (self.address(&copy.map.address), self.address(&copy.shared.address));
                let tensor = format!("{map} {}", self.vector(&copy.coordinates));
                match &copy.object {
                    Some(object) => format!("{name} {shared}, {tensor}, {}", self.address(&object.address)),
                    None => format!("{name} {tensor}, {shared}"),
                }
            }
            Op::Async { name, operation: AsyncOp::Map(operation) } => match &**operation {
                MapUse::Replace { map, field, value } => {
                    let number = match field {
                        MapField::Box(at) | MapField::Size(at) | MapField::Stride(at) | MapField::Step(at) => {
                            format!("{at}, ")
                        }
                        _ => String::new(),
                    };
                    format!("{name} {}, {number}{}", self.address(&map.address), self.operand(value))
                }
                MapUse::Publish { to, from } => {
                    format!("{name} {}, {}, 128", self.address(&to.address), self.address(&from.address))
                }
                MapUse::Acquire { map } => format!("{name} {}, 128", self.address(&map.address)),
            },
            Op::Async { name, operation: AsyncOp::Product(product) } => {
                format!(
                    "{name} {}, {}, {}",
                    self.vector(&product.dst),
                    self.vector(&product.a),
                    self.operand(&product.b)
                )
            }
            Op::Async { name, operation: AsyncOp::TensorMemory(usage) } => self.tensor_memory(name, usage),
            Op::Async { name, operation: AsyncOp::ProductFence | AsyncOp::ProductCommit } => name.to_string(),
            Op::Async { name, operation: AsyncOp::ProductWait { pending } } => format!("{name} {pending}"),
            Op::Async { operation: AsyncOp::BulkCommit, .. } => "cp.async.bulk.commit_group".to_string(),
            Op::Async { name, operation: AsyncOp::BulkWait { pending, .. } } => format!("{name} {pending}"),
            Op::Object { name, usage } => {
                let dst = usage.dst.as_ref().map_or(String::new(), |dst| format!("{}, ", self.operand(dst)));
                let source =
                    usage.action.source().map_or(String::new(), |source| format!(", {}", self.operand(source)));
                format!("{name} {dst}{}{source}", self.address(&usage.place.address))
            }
            Op::ClusterBarrier { name, .. } => name.to_string(),
            Op::Registers { name, count } => format!("{name} {count}"),
            Op::Nothing { name } => format!("nothing {name}"),
            Op::Allocate { dst, size } => format!("malloc {}, {}", self.operand(dst), self.operand(size)),
            Op::Free { address } => format!("free {}", self.address(address)),
            Op::Unsupported { name, reason } => format!("unsupported {name} ({reason})"),
            other => panic!("ptx: the printer does not know {other:?}"),
        }
    }
}

impl Names<'_> {
    /// Destinations, addresses and other sources.
    fn tensor_memory(&self, name: &str, usage: &TensorMemoryUse) -> String {
        let mut usage = usage.clone();
        let mut all: Vec<String> = usage.destinations_mut().map(|dst| self.operand(dst)).collect();
        all.extend(usage.addresses_mut().into_iter().map(|address| self.address(address)));
        all.extend(usage.sources_mut().into_iter().map(|source| self.operand(source)));
        if all.is_empty() { name.to_string() } else { format!("{name} {}", all.join(", ")) }
    }
}

fn special(register: SpecialRegister) -> String {
    let axis = |name: &str, axis: Axis| format!("%{name}.{axis}");
    match register {
        SpecialRegister::Tid(a) => axis("tid", a),
        SpecialRegister::Ntid(a) => axis("ntid", a),
        SpecialRegister::Ctaid(a) => axis("ctaid", a),
        SpecialRegister::Nctaid(a) => axis("nctaid", a),
        SpecialRegister::LaneId => "%laneid".to_string(),
        SpecialRegister::WarpId => "%warpid".to_string(),
        SpecialRegister::WarpSize => "WARP_SZ".to_string(),
        SpecialRegister::Other(register) => register.name().to_string(),
    }
}
