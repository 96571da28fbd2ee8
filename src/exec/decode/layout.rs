//! Where variables stand.
//!
//! Establishes: each shared variable has a number in the upper bits of its address and each global one
//! a region of its own, so that an access that leaves its variable is seen; all `.extern .shared`
//! arrays are one, and the buffers that parameters point to are variables that follow it.

use crate::exec::launch::{Launch, array_address};
use crate::exec::values::mask;
use crate::ptx::ast::{
    AsyncOp, Function, InitialConstant, Instruction, Item, Module, Op, StateSpace, Variable, VariableRef,
};
use crate::ptx::mangled::human;
use std::collections::BTreeMap;

/// Bits of an address within a shared variable.
pub const SHARED_BITS: u32 = 20;

/// From here on, an address of shared memory has the rank of a block in its cluster, and one, if it names one.
pub(crate) const RANK_SHIFT: u32 = 27;

/// The address of the shared variable with this number; number 0 is dynamic shared memory.
pub(crate) fn shared_address(number: u64) -> u64 {
    (number + 1) << SHARED_BITS
}

/// Where shared memory starts in programs with matrix descriptors: those have only 18 bits of an address, so variables follow each
/// other there.
pub(crate) const FLAT_START: u64 = 1024;

/// The address of the function with this number: of no array, and not next to that of another.
pub(crate) fn function_address(number: u32) -> u64 {
    (u64::from(number) + 1) << 8
}

/// Generic addresses: where the spaces other than global start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Shared memory.
    pub shared: u64,
    /// Local memory.
    pub local: u64,
    /// Kernel parameters.
    pub param: u64,
    /// Bytes of each window.
    pub size: u64,
}

impl Windows {
    /// Those of a module with addresses of so many bits.
    pub(crate) fn new(address_bits: u32) -> Self {
        // Far apart, so that an address that leaves one window is in none.
        let (first, step, size) =
            if address_bits == 32 { (1 << 31, 1 << 28, 1 << 28) } else { (1 << 60, 1 << 60, 1 << 32) };
        Windows { shared: first, local: first + step, param: first + 2 * step, size }
    }
}

#[derive(Clone, Debug)]
pub struct SharedVariable {
    /// Name.
    pub name: String,
    /// Offset in the block's shared memory.
    pub offset: u32,
    /// Bytes.
    pub(crate) size: u32,
    /// What its address is a multiple of.
    pub(crate) align: u32,
}

/// A global or constant variable.
#[derive(Clone, Debug)]
pub struct GlobalVariable {
    /// Name.
    pub name: String,
    /// Address.
    pub address: u64,
    /// What it holds; its length is the size.
    pub(crate) bytes: Vec<u8>,
}

/// A variable: its function (`None` for module scope) and where it is declared there.
type Key = (Option<usize>, VariableRef);

/// What dynamic shared memory is called where several arrays name it.
const DYNAMIC: &str = "dynamic shared memory";

/// Whether functions have products whose matrices descriptors name.
fn has_descriptors(module: &Module, functions: &[usize]) -> bool {
    let bodies = functions.iter().filter_map(|number| module.functions[*number].body.as_ref());
    let is_product = |item: &Item| match item {
        Item::Instruction(Instruction { op: Op::Async { operation, .. }, .. }) => {
            matches!(operation, AsyncOp::Product(_) | AsyncOp::TensorMemory(_))
        }
        _ => false,
    };
    bodies.flat_map(|body| &body.items).any(is_product)
}

/// Addresses of all variables, each in its own space.
pub(crate) struct Layout {
    addresses: BTreeMap<Key, u64>,
    /// Numbers of shared variables with a size.
    numbers: BTreeMap<Key, u16>,
    /// Shared variables by number; number 0 is dynamic shared memory.
    pub(crate) shared: Vec<SharedVariable>,
    /// Bytes of shared memory.
    pub(crate) shared_size: u32,
    /// Global variables.
    pub(crate) globals: Vec<GlobalVariable>,
    /// Bytes of local memory.
    pub(crate) local_size: u32,
    /// Generic addresses.
    pub(crate) windows: Windows,
    address_bits: u32,
    arrays: usize,
    /// Whether an address of shared memory may name a block.
    has_clusters: bool,
    /// Whether shared variables follow each other, and have no numbers in their addresses.
    pub(crate) is_flat: bool,
    /// Whether an array without a size was declared.
    has_dynamic: bool,
}

impl Layout {
    /// Lays out the variables of these functions; the entry is the first of them.
    pub(crate) fn new(module: &Module, functions: &[usize], launch: &Launch) -> Result<Layout, String> {
        let dynamic = SharedVariable { name: DYNAMIC.to_string(), offset: 0, size: launch.dynamic_shared, align: 1 };
        let mut layout = Layout {
            addresses: BTreeMap::new(),
            numbers: BTreeMap::new(),
            shared: vec![dynamic],
            shared_size: launch.dynamic_shared.next_multiple_of(16),
            globals: Vec::new(),
            local_size: 0,
            windows: Windows::new(module.address_size),
            address_bits: module.address_size,
            arrays: launch.arrays.len(),
            has_clusters: launch.cluster != [1; 3],
            is_flat: has_descriptors(module, functions),
            has_dynamic: false,
        };
        if layout.is_flat && !launch.shared_buffers.is_empty() {
            return Err("`shared:` arguments beside matrix descriptors are not emulated".to_string());
        }
        for buffer in &launch.shared_buffers {
            let place = layout.push_shared(buffer.name.clone(), u64::from(buffer.size), 1);
            place.ok_or_else(|| format!("`{}` is too large to emulate", buffer.name))?;
        }
        for (index, variable) in (0..).zip(&module.variables) {
            layout.place((None, VariableRef::Module(index)), variable)?;
        }
        for (position, &number) in functions.iter().enumerate() {
            layout.place_function(number, &module.functions[number], position == 0)?;
        }
        layout.initialise(module, functions)?;
        Ok(layout)
    }

    fn place_function(&mut self, number: usize, function: &Function, is_entry: bool) -> Result<(), String> {
        let body = function.body.iter().flat_map(|body| &body.variables);
        for (index, variable) in (0..).zip(body) {
            self.place((Some(number), VariableRef::Body(index)), variable)?;
        }
        let mut offset = 0;
        for (index, variable) in (0..).zip(&function.params) {
            let key = (Some(number), VariableRef::Param(index));
            if is_entry {
                let size = variable.size.unwrap_or(0);
                offset = u64::next_multiple_of(offset, u64::from(variable.align.max(1)));
                self.addresses.insert(key, self.windows.param + offset);
                offset += size;
            } else {
                self.place(key, variable)?;
            }
        }
        for (index, variable) in (0..).zip(&function.returns) {
            self.place((Some(number), VariableRef::Return(index)), variable)?;
        }
        Ok(())
    }

    fn place(&mut self, key: Key, variable: &Variable) -> Result<(), String> {
        let too_large = || format!("`{}` is too large to emulate", variable.name);
        let address = match variable.space {
            StateSpace::Shared | StateSpace::SharedCluster => {
                let number = if variable.size.is_some() { self.shared.len() as u16 } else { 0 };
                self.numbers.insert(key, number);
                self.place_shared(variable).ok_or_else(too_large)?
            }
            StateSpace::Local | StateSpace::Param => {
                let start = self.local_size.next_multiple_of(variable.align.max(1));
                let size = u32::try_from(variable.size.unwrap_or(0)).map_err(|_| too_large())?;
                self.local_size = start.checked_add(size).filter(|&end| end <= 1 << 24).ok_or_else(too_large)?;
                u64::from(start)
            }
            StateSpace::Global | StateSpace::Const | StateSpace::Generic => {
                let address = array_address(self.arrays + self.globals.len(), self.address_bits);
                let size = usize::try_from(variable.size.unwrap_or(0)).map_err(|_| too_large())?;
                if size > 1 << 32 {
                    return Err(too_large());
                }
                let bytes = vec![0; size];
                self.globals.push(GlobalVariable { name: variable.name.to_string(), address, bytes });
                address
            }
        };
        self.addresses.insert(key, address);
        Ok(())
    }

    fn place_shared(&mut self, variable: &Variable) -> Option<u64> {
        let Some(size) = variable.size else {
            self.name_dynamic(&human(&variable.name));
            self.shared[0].align = self.shared[0].align.max(variable.align);
            return Some(if self.is_flat { FLAT_START } else { shared_address(0) });
        };
        self.push_shared(human(&variable.name), size, variable.align)
    }

    /// The address of one more variable.
    fn push_shared(&mut self, name: String, size: u64, align: u32) -> Option<u64> {
        let size = u32::try_from(size).ok().filter(|&size| size <= 1 << SHARED_BITS)?;
        let offset = self.shared_size.checked_next_multiple_of(if self.is_flat { align.max(16) } else { 16 })?;
        let number = self.shared.len() as u64;
        self.shared_size = offset.checked_add(size)?;
        self.shared.push(SharedVariable { name, offset, size, align });
        let most = if self.has_clusters { (1 << (RANK_SHIFT - SHARED_BITS)) - 1 } else { 2047 };
        let address = if self.is_flat { FLAT_START + u64::from(offset) } else { shared_address(number) };
        (number < most).then_some(address)
    }

    /// Dynamic shared memory has the name of its array, if all declarations agree.
    fn name_dynamic(&mut self, name: &str) {
        let known = &mut self.shared[0].name;
        let first = known == DYNAMIC && !self.has_dynamic;
        self.has_dynamic = true;
        if first {
            *known = name.to_string();
        } else if known != name {
            *known = DYNAMIC.to_string();
        }
    }

    /// Writes the initialisers; they may name variables that come later.
    fn initialise(&mut self, module: &Module, functions: &[usize]) -> Result<(), String> {
        let at_module = (0..).zip(&module.variables).map(|(index, one)| ((None, VariableRef::Module(index)), one));
        let in_bodies = functions.iter().flat_map(|&number| {
            let variables = module.functions[number].body.iter().flat_map(|body| &body.variables);
            (0..).zip(variables).map(move |(index, one)| ((Some(number), VariableRef::Body(index)), one))
        });
        let all: Vec<(Key, &Variable)> = at_module.chain(in_bodies).collect();
        for (key, variable) in &all {
            for initial in &variable.initial_values {
                let bits = match &initial.value {
                    InitialConstant::Bits(bits) => *bits,
                    InitialConstant::Address { symbol, addend, generic, shift } => {
                        let found = all.iter().find(|(_, other)| other.name == *symbol);
                        let function = (0..).zip(&module.functions).find(|(_, function)| function.name == *symbol);
                        let base = match (found, function) {
                            (Some((key, other)), _) => {
                                let address = self.addresses.get(key).copied().unwrap_or(0);
                                if *generic { self.generic(other.space, address) } else { address }
                            }
                            (None, Some((number, _))) => function_address(number),
                            (None, None) => 0,
                        };
                        base.wrapping_add_signed(*addend) >> shift
                    }
                };
                self.write_initial(*key, initial.offset, initial.bytes, bits)
                    .ok_or_else(|| format!("the initialiser of `{}` does not fit", variable.name))?;
            }
        }
        Ok(())
    }

    fn write_initial(&mut self, key: Key, offset: u64, bytes: u32, bits: u64) -> Option<()> {
        let address = self.addresses.get(&key)?;
        let global = self.globals.iter_mut().find(|global| global.address == *address)?;
        let start = usize::try_from(offset).ok()?;
        let target = global.bytes.get_mut(start..start + bytes as usize)?;
        for (byte, from) in target.iter_mut().zip(bits.to_le_bytes()) {
            *byte = from;
        }
        Some(())
    }

    /// The generic address of an address of a space.
    pub(crate) fn generic(&self, space: StateSpace, address: u64) -> u64 {
        match space {
            StateSpace::Shared | StateSpace::SharedCluster => self.windows.shared + (address & mask(32)),
            StateSpace::Local => self.windows.local + address,
            _ => address,
        }
    }

    /// The number of a shared variable; 0 of any other.
    pub(crate) fn shared_number(&self, function: usize, variable: VariableRef) -> u16 {
        let function = if matches!(variable, VariableRef::Module(_)) { None } else { Some(function) };
        self.numbers.get(&(function, variable)).copied().unwrap_or(0)
    }

    /// The address of a variable in its own space.
    pub(crate) fn address(&self, function: usize, variable: VariableRef) -> u64 {
        let function = if matches!(variable, VariableRef::Module(_)) { None } else { Some(function) };
        match self.addresses.get(&(function, variable)) {
            Some(address) => *address,
            None => panic!("exec: a variable without a place"),
        }
    }
}
