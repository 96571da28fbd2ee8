//! Names inside a function body: registers, register families, variables, labels, nested scopes.
//!
//! Registers are entered into the body when they are first used: `.reg .b32 %r<1000000>` costs
//! nothing. A name that a nested scope declares again gets a suffix `$N`, so that names in
//! [`Body`] are unique.
//! Reference: PTX ISA, sections "Parameterized Variable Names" and "Control Flow Instructions: {}".

use super::ast::{Body, Label, LabelId, Register, RegisterId, ScalarType, Variable, VariableRef};
use super::context::Interner;
use super::syntax::Name;
use foldhash::{HashMap, HashSet};
use std::borrow::Cow;
use std::sync::Arc;

/// What a name in a body stands for.
#[derive(Clone, Debug)]
pub(crate) enum Symbol {
    /// A register in use.
    Register(RegisterId),
    /// A variable or parameter.
    Variable(VariableRef),
    /// A vector register (`.reg .v4 .f32 v`): its elements.
    Vector(Vec<RegisterId>),
}

#[derive(Clone, Debug)]
enum Entry {
    /// Declared, not used yet.
    Declared(ScalarType, u32),
    Used(Symbol),
}

/// A named table of a body.
#[derive(Clone, Debug)]
pub(crate) enum Table {
    /// `.branchtargets`
    Labels(Arc<[LabelId]>),
    /// `.calltargets`: indices of functions; `None` is a `.callprototype`.
    Functions(Option<Arc<[u32]>>),
}

/// The registers `%r0` to `%r(count-1)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    /// Type of an element.
    pub(crate) ty: ScalarType,
    /// Elements of each register; 1 if it is no vector.
    pub(crate) elements: u32,
    /// Number of registers.
    pub(crate) count: u64,
}

#[derive(Debug, Default)]
struct Scope<'a> {
    names: HashMap<Cow<'a, str>, Entry>,
    /// `%r<n>`: prefix to the registers of that family.
    families: HashMap<&'a str, Family>,
    labels: HashMap<&'a str, LabelId>,
    tables: HashMap<&'a str, Table>,
}

/// The scopes that are open at a statement, and the body under construction.
#[derive(Debug)]
pub(crate) struct Scopes<'r, 'a> {
    /// The body under construction.
    pub(crate) body: Body,
    open: Vec<Scope<'a>>,
    names: UniqueNames<'r>,
    /// Labels have a name space of their own.
    label_names: UniqueNames<'r>,
}

/// Gives each thing a name that nothing else has.
#[derive(Debug)]
struct UniqueNames<'r> {
    interner: &'r Interner,
    /// Names that belong to others from the start.
    reserved: Option<&'r HashSet<Arc<str>>>,
    taken: HashSet<Arc<str>>,
    /// For each name that got a suffix, the last number.
    suffixes: HashMap<String, u32>,
}

impl UniqueNames<'_> {
    /// The name itself, or with a suffix `$N` if it is taken or belongs to an outer scope.
    fn unique(&mut self, name: &str, shadows: bool) -> Arc<str> {
        if !shadows && !self.is_reserved(name) {
            let name = self.interner.intern(name);
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
        let mut count = self.suffixes.get(name).copied().unwrap_or(0);
        loop {
            count += 1;
            let candidate: Arc<str> = format!("{name}${count}").into();
            if !self.is_reserved(&candidate) && self.taken.insert(candidate.clone()) {
                self.suffixes.insert(name.to_string(), count);
                return candidate;
            }
        }
    }

    fn is_reserved(&self, name: &str) -> bool {
        self.reserved.is_some_and(|reserved| reserved.contains(name))
    }
}

/// Splits `%r12` into `%r` and 12; no leading zeros.
fn family_member(name: &str) -> Option<(&str, u64)> {
    let prefix = name.len() - name.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (prefix, digits) = name.split_at(prefix);
    if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
        return None;
    }
    Some((prefix, digits.parse().ok()?))
}

impl<'r, 'a> Scopes<'r, 'a> {
    /// No scope open yet; body variables share no name with `reserved`, the module's variables.
    pub(crate) fn new(interner: &'r Interner, reserved: &'r HashSet<Arc<str>>) -> Self {
        let names =
            |reserved| UniqueNames { interner, reserved, taken: HashSet::default(), suffixes: HashMap::default() };
        Scopes { body: Body::default(), open: Vec::new(), names: names(Some(reserved)), label_names: names(None) }
    }

    /// Opens a scope.
    pub(crate) fn open(&mut self) {
        self.open.push(Scope::default());
    }

    /// Closes the innermost scope.
    pub(crate) fn close(&mut self) {
        self.open.pop();
    }

    fn innermost(&mut self) -> &mut Scope<'a> {
        match self.open.last_mut() {
            Some(scope) => scope,
            None => panic!("ptx: a name is declared outside any scope"),
        }
    }

    /// Declares one register, or `elements` of a vector register. False: the scope has that name.
    pub(crate) fn declare_register(&mut self, name: &'a str, ty: ScalarType, elements: u32) -> bool {
        let scope = self.innermost();
        if scope.names.contains_key(name) {
            return false;
        }
        scope.names.insert(name.into(), Entry::Declared(ty, elements));
        true
    }

    /// Declares `prefix0` to `prefix(count-1)`. False: the scope has that family.
    pub(crate) fn declare_family(&mut self, prefix: &'a str, family: Family) -> bool {
        let families = &mut self.innermost().families;
        let fresh = !families.contains_key(prefix);
        if fresh {
            families.insert(prefix, family);
        }
        fresh
    }

    /// A register that no name of the text stands for.
    pub(crate) fn temporary(&mut self, ty: ScalarType) -> RegisterId {
        let unique = self.names.unique("%temporary", true);
        self.push_register(unique, ty)
    }

    /// Declares a variable of the body under a unique name. False: the scope has that name.
    pub(crate) fn declare_variable(&mut self, name: Cow<'a, str>, mut variable: Variable) -> bool {
        if self.innermost().names.contains_key(&name) {
            return false;
        }
        variable.name = self.names.unique(&name, false);
        let reference = VariableRef::Body(index(self.body.variables.len()));
        self.body.variables.push(variable);
        self.innermost().names.insert(name, Entry::Used(Symbol::Variable(reference)));
        true
    }

    /// Declares a parameter. False: the scope has that name.
    pub(crate) fn declare_parameter(&mut self, name: &'a str, reference: VariableRef) -> bool {
        self.names.taken.insert(name.into());
        let entry = Entry::Used(Symbol::Variable(reference));
        self.innermost().names.insert(name.into(), entry).is_none()
    }

    /// Declares a label. `None`: the scope has that label.
    pub(crate) fn declare_label(&mut self, name: Name<'a>) -> Option<LabelId> {
        if self.innermost().labels.contains_key(name.text) {
            return None;
        }
        let id = LabelId(index(self.body.labels.len()));
        let unique = self.label_names.unique(name.text, false);
        self.body.labels.push(Label { name: unique, span: name.span });
        self.innermost().labels.insert(name.text, id);
        Some(id)
    }

    /// Declares a table. False: the scope has that name.
    pub(crate) fn declare_table(&mut self, name: &'a str, table: Table) -> bool {
        self.innermost().tables.insert(name, table).is_none()
    }

    /// The label of that name.
    pub(crate) fn label(&self, name: &str) -> Option<LabelId> {
        self.open.iter().rev().find_map(|scope| scope.labels.get(name).copied())
    }

    /// The table of that name.
    pub(crate) fn table(&self, name: &str) -> Option<&Table> {
        self.open.iter().rev().find_map(|scope| scope.tables.get(name))
    }

    /// The register or variable of that name.
    pub(crate) fn symbol(&mut self, name: &'a str) -> Option<Symbol> {
        for depth in (0..self.open.len()).rev() {
            let (ty, elements) = match self.open[depth].names.get(name) {
                Some(Entry::Used(symbol)) => return Some(symbol.clone()),
                Some(&Entry::Declared(ty, elements)) => (ty, elements),
                None => match self.family_of(depth, name) {
                    Some(family) => (family.ty, family.elements),
                    None => continue,
                },
            };
            let symbol = self.enter_register(depth, name, ty, elements);
            self.open[depth].names.insert(name.into(), Entry::Used(symbol.clone()));
            return Some(symbol);
        }
        None
    }

    fn declares(&self, depth: usize, name: &str) -> bool {
        self.open[depth].names.contains_key(name) || self.family_of(depth, name).is_some()
    }

    fn family_of(&self, depth: usize, name: &str) -> Option<Family> {
        let (prefix, number) = family_member(name)?;
        let &family = self.open[depth].families.get(prefix)?;
        (number < family.count).then_some(family)
    }

    fn enter_register(&mut self, depth: usize, name: &str, ty: ScalarType, elements: u32) -> Symbol {
        // An outer scope that declares the name keeps it, even if it is not in use yet.
        let shadows = (0..depth).any(|outer| self.declares(outer, name));
        let unique = self.names.unique(name, shadows);
        if elements == 1 {
            return Symbol::Register(self.push_register(unique, ty));
        }
        let selectors = [".x", ".y", ".z", ".w"].iter().take(elements as usize);
        let ids = selectors.map(|selector| self.push_register(format!("{unique}{selector}").into(), ty)).collect();
        Symbol::Vector(ids)
    }

    fn push_register(&mut self, name: Arc<str>, ty: ScalarType) -> RegisterId {
        let id = RegisterId(index(self.body.registers.len()));
        self.body.registers.push(Register { name, ty });
        id
    }
}

/// Indices of the typed module are 32 bits wide, as are byte offsets of the input.
pub(crate) fn index(length: usize) -> u32 {
    match u32::try_from(length) {
        Ok(index) => index,
        Err(_) => panic!("ptx: more than 2^32 nodes"),
    }
}
