//! Tensor memory: from a table row and checked operands to a typed operation of `tcgen05`.
//!
//! Part of [`super::build`]. Input: a row of `table_matrix`, its operands. Output: [`TensorMemoryUse`].
//! Establishes: how many columns and lanes an access has; which operands lie in tensor memory.
//! Relies on: the operand patterns of the rows. Reference: PTX ISA, "TensorCore 5th Generation Family Instructions".

use super::ast::{Address, AsyncOp, MemoryOperand, Op, Operand, StateSpace};
use super::build::Parts;

/// `tcgen05`: an instruction about tensor memory.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorMemoryUse {
    /// `.cta_group::2`: it is about the memory of a pair of blocks.
    pub pair: bool,
    /// What is done.
    pub operation: TensorMemoryOp,
}

/// What is done with tensor memory.
#[derive(Clone, Debug, PartialEq)]
pub enum TensorMemoryOp {
    /// `alloc`: a warp allocates columns; their address is written to shared memory.
    Allocate {
        /// Where the address is written.
        to: MemoryOperand,
        /// How many columns.
        columns: Operand,
    },
    /// `dealloc`
    Free {
        /// Address of the columns.
        address: Operand,
        /// How many.
        columns: Operand,
    },
    /// `relinquish_alloc_permit`: the block allocates no more.
    Relinquish,
    /// `fence::before_thread_sync`, `fence::after_thread_sync`
    Fence {
        /// Before.
        before: bool,
    },
    /// `commit`: an arrival at a barrier object once all earlier products and copies of the thread are complete.
    Commit {
        /// Where the object is.
        object: MemoryOperand,
        /// `.multicast::cluster`: a bit for each block of the cluster whose object gets an arrival.
        multicast: Option<Operand>,
    },
    /// `wait::ld`, `wait::st`: until the loads, or the stores, of the thread are complete.
    Wait {
        /// Loads.
        loads: bool,
    },
    /// `ld`, `st`: a warp moves a part of tensor memory from or to registers.
    Move(Box<TensorMove>),
    /// `cp`: starts a copy from shared memory.
    Copy {
        /// Where it writes, to all lanes.
        to: Address,
        /// Descriptor of the matrix in shared memory.
        from: Operand,
        /// Its rows.
        rows: u32,
        /// Bytes of a row.
        bytes: u32,
    },
    /// `mma`: starts a product.
    Product(Box<TensorProduct>),
}

/// A part of tensor memory that a warp loads or stores.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorMove {
    /// It is a store.
    pub writes: bool,
    /// The first lane and column.
    pub address: Address,
    /// 16 or 32.
    pub lanes: u32,
    /// Columns.
    pub columns: u32,
    /// As many columns of the other 16 lanes, so far behind the first one.
    pub second: Option<u32>,
    /// Registers that get what is loaded.
    pub dst: Vec<Operand>,
    /// Registers that are stored.
    pub values: Vec<Operand>,
}

/// A product of matrices.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorProduct {
    /// Where the result is.
    pub d: Address,
    /// Matrix A.
    pub a: TensorMatrix,
    /// Descriptor of matrix B.
    pub b: Operand,
    /// The instruction descriptor: sizes and types.
    pub shape: Operand,
    /// A predicate: the product is added to what is there.
    pub accumulates: Operand,
    /// Scale factors of A and B in tensor memory.
    pub scales: Option<[Address; 2]>,
    /// Bytes of an element of A and B in shared memory.
    pub element: u32,
    /// `.ws`
    pub is_weight_stationary: bool,
    /// Number of the kind.
    pub kind: u8,
}

/// Where matrix A is.
#[derive(Clone, Debug, PartialEq)]
pub enum TensorMatrix {
    /// In shared memory, by its descriptor.
    Shared(Operand),
    /// In tensor memory.
    Tensor(Address),
}

impl TensorMemoryUse {
    /// Its memory operands.
    pub(crate) fn addresses_mut(&mut self) -> Vec<&mut Address> {
        match &mut self.operation {
            TensorMemoryOp::Allocate { to, .. } => vec![&mut to.address],
            TensorMemoryOp::Commit { object, .. } => vec![&mut object.address],
            TensorMemoryOp::Move(one) => vec![&mut one.address],
            TensorMemoryOp::Copy { to, .. } => vec![to],
            TensorMemoryOp::Product(product) => {
                let TensorProduct { d, a, scales, .. } = &mut **product;
                let a = if let TensorMatrix::Tensor(address) = a { Some(address) } else { None };
                [d].into_iter().chain(a).chain(scales.iter_mut().flatten()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Its other sources.
    pub(crate) fn sources_mut(&mut self) -> Vec<&mut Operand> {
        match &mut self.operation {
            TensorMemoryOp::Allocate { columns, .. } => vec![columns],
            TensorMemoryOp::Free { address, columns } => vec![address, columns],
            TensorMemoryOp::Commit { multicast, .. } => multicast.iter_mut().collect(),
            TensorMemoryOp::Move(one) => one.values.iter_mut().collect(),
            TensorMemoryOp::Copy { from, .. } => vec![from],
            TensorMemoryOp::Product(product) => {
                let TensorProduct { a, b, shape, accumulates, .. } = &mut **product;
                let a = if let TensorMatrix::Shared(descriptor) = a { Some(descriptor) } else { None };
                a.into_iter().chain([b, shape, accumulates]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Its destinations.
    pub(crate) fn destinations_mut(&mut self) -> impl Iterator<Item = &mut Operand> {
        let one = if let TensorMemoryOp::Move(one) = &mut self.operation { Some(&mut one.dst) } else { None };
        one.into_iter().flatten()
    }
}

/// The kinds of products, with the bytes of an element in shared memory.
const KINDS: [(&str, u32); 7] = [
    ("kind::f16", 2),
    ("kind::tf32", 4),
    ("kind::f8f6f4", 1),
    ("kind::i8", 1),
    ("kind::mxf8f6f4", 1),
    ("kind::mxf4", 1),
    ("kind::mxf4nvf4", 1),
];

impl Parts<'_> {
    /// `tcgen05`
    pub(super) fn tensor_memory(self) -> Op {
        let operation = match self.tensor_memory_operation() {
            Ok(operation) => operation,
            Err(reason) => return Op::Unsupported { name: self.name, reason: reason.to_string() },
        };
        let usage = TensorMemoryUse { pair: self.has("cta_group::2"), operation };
        Op::Async { name: self.name, operation: AsyncOp::TensorMemory(Box::new(usage)) }
    }

    fn tensor_memory_operation(&self) -> Result<TensorMemoryOp, &'static str> {
        let optional = |index: usize| self.operands.sources.get(index).cloned();
        Ok(match () {
            () if self.has("alloc") => {
                let space = if self.has("shared::cta") { StateSpace::Shared } else { StateSpace::Generic };
                TensorMemoryOp::Allocate { to: self.place(0, space), columns: self.source(0) }
            }
            () if self.has("dealloc") => TensorMemoryOp::Free { address: self.source(0), columns: self.source(1) },
            () if self.has("relinquish_alloc_permit") => TensorMemoryOp::Relinquish,
            () if self.has("fence::before_thread_sync") => TensorMemoryOp::Fence { before: true },
            () if self.has("fence::after_thread_sync") => TensorMemoryOp::Fence { before: false },
            () if self.has("commit") => {
                let space = if self.has("shared::cluster") { StateSpace::SharedCluster } else { StateSpace::Generic };
                let multicast = if self.has("multicast::cluster") { optional(0) } else { None };
                TensorMemoryOp::Commit { object: self.place(0, space), multicast }
            }
            () if self.has("wait::ld") => TensorMemoryOp::Wait { loads: true },
            () if self.has("wait::st") => TensorMemoryOp::Wait { loads: false },
            () if self.has("ld") || self.has("st") => TensorMemoryOp::Move(Box::new(self.tensor_move())),
            () if self.has("cp") => self.tensor_copy()?,
            () => TensorMemoryOp::Product(Box::new(self.tensor_product()?)),
        })
    }

    fn tensor_address(&self, index: usize) -> Address {
        self.place(index, StateSpace::Generic).address
    }

    fn tensor_move(&self) -> TensorMove {
        let writes = self.has("st");
        let number = |word: &&str| word.strip_prefix('x').and_then(|digits| digits.parse::<u32>().ok());
        let times = self.selected.modifiers.iter().find_map(number).unwrap_or(1);
        // "Data Movement Shape": lanes, and columns of 32 bits.
        let (lanes, columns) = match () {
            () if self.has("32x32b") => (32, 1),
            () if self.has("16x64b") => (16, 2),
            () if self.has("16x128b") => (16, 4),
            () if self.has("16x256b") => (16, 8),
            () => (16, 1),
        };
        let packed = if self.has("pack::16b") || self.has("unpack::16b") { 2 } else { 1 };
        let halves = self.has("16x32bx2");
        let second = match self.operands.sources.first() {
            Some(Operand::Integer(behind)) if halves => Some(*behind as u32),
            _ => None,
        };
        let values = if writes { self.operands.sources[usize::from(halves)..].to_vec() } else { Vec::new() };
        let (address, dst) = (self.tensor_address(0), self.operands.destinations.clone());
        TensorMove { writes, address, lanes, columns: columns * times * packed, second, dst, values }
    }

    fn tensor_copy(&self) -> Result<TensorMemoryOp, &'static str> {
        if self.selected.modifiers.iter().any(|word| word.starts_with("b6x16") || word.starts_with("b4x16")) {
            return Err("copies to tensor memory that change formats are not modelled");
        }
        let (rows, bytes) = match () {
            () if self.has("128x256b") => (128, 32),
            () if self.has("128x128b") => (128, 16),
            () if self.has("64x128b") => (64, 16),
            () if self.has("32x128b") => (32, 16),
            () => return Err("copies of four lanes to tensor memory are not modelled"),
        };
        Ok(TensorMemoryOp::Copy { to: self.tensor_address(0), from: self.source(0), rows, bytes })
    }

    fn tensor_product(&self) -> Result<TensorProduct, &'static str> {
        let (addresses, sources) = (self.operands.addresses.len(), &self.operands.sources);
        let has_scales = self.has("block_scale");
        let in_tensor = addresses == if has_scales { 4 } else { 2 };
        let (kind, (_, element)) = (0..)
            .zip(KINDS)
            .find(|(_, (name, _))| self.has(name))
            .unwrap_or_else(|| panic!("ptx: {} without its kind", self.name));
        let first = usize::from(!in_tensor);
        let a =
            if in_tensor { TensorMatrix::Tensor(self.tensor_address(1)) } else { TensorMatrix::Shared(self.source(0)) };
        let rest = &sources[first + 2..];
        // Behind the shapes: four or eight registers of lanes that are not written, a predicate, a factor.
        let is_vector = rest.len() > 2 || matches!(rest.first(), Some(Operand::Vector(_)));
        if is_vector {
            return Err("products that do not write all lanes of tensor memory are not modelled");
        }
        let behind = addresses - 2 * usize::from(has_scales);
        let scales = has_scales.then(|| [self.tensor_address(behind), self.tensor_address(behind + 1)]);
        Ok(TensorProduct {
            d: self.tensor_address(0),
            a,
            b: self.source(first),
            shape: self.source(first + 1),
            accumulates: rest[0].clone(),
            scales,
            element,
            is_weight_stationary: self.has("ws"),
            kind,
        })
    }
}
