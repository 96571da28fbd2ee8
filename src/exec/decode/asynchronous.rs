//! Asynchronous copies and barrier objects: from the typed operation to the flat program.
//!
//! Part of [`super::function`]. Reference: PTX ISA, `cp.async`, `cp.async.bulk`, `cp.reduce.async.bulk`, `st.async`, `red.async`,
//! `mbarrier`.

use super::function::Decoder;
use super::{Access, AsyncCopy, BulkOperation, Code, MapOperation, Moves, ObjectKind, ObjectOperation, Product, Slot};
use crate::exec::tensor;
use crate::exec::values::atomic::AtomicOperation;
use crate::order::{Ordering, Scope};
use crate::ptx::ast::{
    AsyncOp, BulkCopy, MapField, MapUse, MatrixProduct, MemoryOperand, ObjectAction, ObjectUse, Operand, RemoteStore,
    ScalarType, StateSpace, TensorCopy,
};

/// Bytes of a tensor map.
const MAP_BYTES: u32 = tensor::BYTES as u32;

/// Rows of the matrix A of a product.
const PRODUCT_ROWS: u32 = 64;

impl Decoder<'_> {
    pub(super) fn asynchronous(&mut self, operation: &AsyncOp) -> Option<()> {
        match operation {
            AsyncOp::Copy(_)
            | AsyncOp::Bulk(_)
            | AsyncOp::Remote(_)
            | AsyncOp::Tensor(_)
            | AsyncOp::Product(_)
            | AsyncOp::TensorMemory(_)
                if self.launch.geometry.threads() > 1 << 28 =>
            {
                self.refuse("asynchronous copies in a launch of more than 2^28 threads".to_string());
            }
            AsyncOp::Copy(copy) => {
                let mut place = |space, address| {
                    let access = self.access((space, address), ScalarType::B(32), vec![None], Ordering::Weak)?;
                    self.program.accesses.push(Access { bytes: copy.bytes, ..access });
                    Some(self.program.accesses.len() as u32 - 1)
                };
                let from = place(StateSpace::Global, &copy.from)?;
                let to = place(StateSpace::Shared, &copy.to)?;
                let taken = match &copy.taken {
                    Some(taken) => Some((self.source(taken, 32)?, self.bits_of(taken))),
                    None => None,
                };
                let index = self.program.async_copies.len() as u32;
                self.program.async_copies.push(AsyncCopy { from, to, bytes: copy.bytes, taken });
                self.emit(Code::AsyncRead(index));
                self.emit(Code::AsyncWrite(index));
            }
            AsyncOp::Commit => self.emit(Code::AsyncCommit),
            AsyncOp::Wait { pending, commits } => {
                if *commits {
                    self.emit(Code::AsyncCommit);
                }
                self.emit(Code::AsyncWait { pending: *pending });
            }
            AsyncOp::Arrive { object, counted } => {
                let kind = ObjectKind::ArriveBehindCopies { counted: *counted };
                return self.push_object(object, kind, None, false);
            }
            AsyncOp::Remote(store) => return self.remote(store),
            AsyncOp::Bulk(copy) => return self.bulk(copy),
            AsyncOp::Tensor(copy) => return self.tensor(copy),
            AsyncOp::Map(operation) => return self.map(operation),
            AsyncOp::Product(product) => return self.product(product),
            AsyncOp::TensorMemory(usage) => return self.tensor_memory(usage),
            // What it orders is registers.
            AsyncOp::ProductFence => self.emit(Code::Nothing),
            AsyncOp::ProductCommit => self.emit(Code::ProductCommit),
            AsyncOp::ProductWait { pending } => self.emit(Code::ProductWait { pending: *pending }),
            AsyncOp::BulkCommit => self.emit(Code::BulkCommit),
            AsyncOp::BulkWait { pending, reads } => self.emit(Code::BulkWait { pending: *pending, reads: *reads }),
        }
        Some(())
    }

    /// A memory operand as an access of so many bytes.
    pub(super) fn operand_access(&mut self, operand: &MemoryOperand, bytes: u32) -> Option<u32> {
        let access = self.access((operand.space, &operand.address), ScalarType::B(64), vec![None], Ordering::Weak)?;
        self.program.accesses.push(Access { bytes, ..access });
        Some(self.program.accesses.len() as u32 - 1)
    }

    fn bulk(&mut self, copy: &BulkCopy) -> Option<()> {
        let BulkCopy { to, from, size, object, reduction, multicast } = copy;
        let reduction = match reduction {
            None => None,
            Some((name, ty)) => Some((AtomicOperation::of(name)?, *ty)),
        };
        let (from, to) = (self.operand_access(from, 16)?, self.operand_access(to, 16)?);
        let size = self.source(size, 32)?;
        let object = match object {
            Some(object) => Some(self.operand_access(object, 8)?),
            None => None,
        };
        let multicast = self.optional(multicast.as_ref())?;
        let moves = Moves::Bytes { from, to, size };
        self.push_bulk(BulkOperation { moves, object, reduction, multicast });
        Some(())
    }

    fn remote(&mut self, store: &RemoteStore) -> Option<()> {
        let RemoteStore { to, values, ty, object, reduction } = store;
        let reduction = match reduction {
            None => None,
            Some(name) => Some((AtomicOperation::of(name)?, *ty)),
        };
        let ordering = if reduction.is_some() { Ordering::Relaxed(Scope::Cluster) } else { Ordering::Weak };
        let access = self.access((to.space, &to.address), *ty, vec![None; values.len()], ordering)?;
        self.program.accesses.push(access);
        let to = self.program.accesses.len() as u32 - 1;
        let values = values.iter().map(|value| self.source(value, ty.bits())).collect::<Option<Vec<Slot>>>()?;
        let object = Some(self.operand_access(object, 8)?);
        let moves = Moves::Values { to, values, width: ty.bytes() };
        self.push_bulk(BulkOperation { moves, object, reduction, multicast: None });
        Some(())
    }

    fn tensor(&mut self, copy: &TensorCopy) -> Option<()> {
        let TensorCopy { map, coordinates, shared, object, reduction, multicast } = copy;
        // The type of the elements is known to the map only.
        let reduction = match reduction {
            None => None,
            Some(name) => Some((AtomicOperation::of(name)?, ScalarType::B(32))),
        };
        let (map, shared) = (self.operand_access(map, 16)?, self.operand_access(shared, 16)?);
        let coordinates = coordinates.iter().map(|one| self.source(one, 32)).collect::<Option<Vec<Slot>>>()?;
        let loads = object.is_some();
        let object = match object {
            Some(object) => Some(self.operand_access(object, 8)?),
            None => None,
        };
        let multicast = self.optional(multicast.as_ref())?;
        let moves = Moves::Tensor { map, coordinates, shared, loads };
        self.push_bulk(BulkOperation { moves, object, reduction, multicast });
        Some(())
    }

    fn map(&mut self, operation: &MapUse) -> Option<()> {
        let operation = match operation {
            MapUse::Acquire { map } => MapOperation::Acquire { map: self.operand_access(map, MAP_BYTES)? },
            MapUse::Publish { to, from } => MapOperation::Publish {
                to: self.operand_access(to, MAP_BYTES)?,
                from: self.operand_access(from, MAP_BYTES)?,
            },
            MapUse::Replace { map, field, value } => {
                let map = self.operand_access(map, MAP_BYTES)?;
                let (at, width) = tensor::field(*field);
                let coded = match value {
                    Operand::Integer(value) => tensor::coded(*field, *value),
                    _ if tensor::is_coded(*field) => Err("by a register".to_string()),
                    _ => Ok(None),
                };
                let value = match coded {
                    Ok(Some(value)) => self.constant(value),
                    Ok(None) => self.source(
                        value,
                        if matches!(field, MapField::Address | MapField::Stride(_)) { 64 } else { 32 },
                    )?,
                    Err(reason) => {
                        self.refuse(format!("`tensormap.replace` {reason} is not emulated"));
                        return Some(());
                    }
                };
                MapOperation::Replace { map, at, width, value }
            }
        };
        let index = self.program.map_operations.len() as u32;
        self.program.map_operations.push(operation);
        if matches!(operation, MapOperation::Publish { .. }) {
            self.emit(Code::MapRead(index));
        }
        self.emit(Code::Map(index));
        Some(())
    }

    /// The values of a product are not computed.
    fn product(&mut self, product: &MatrixProduct) -> Option<()> {
        let [along_m, along_n] = product.transposed;
        let a = match &product.a[..] {
            [descriptor] => Some((self.source(descriptor, 64)?, PRODUCT_ROWS, along_m)),
            _ => None,
        };
        let b = (self.source(&product.b, 64)?, product.columns, along_n);
        self.program.products.push(Product { a, b });
        self.emit(Code::Product(self.program.products.len() as u32 - 1));
        self.opaque(&product.dst);
        Some(())
    }

    /// Both halves of an operation.
    fn push_bulk(&mut self, operation: BulkOperation) {
        let index = self.program.bulk_operations.len() as u32;
        let reads = !matches!(operation.moves, Moves::Values { .. });
        self.program.bulk_operations.push(operation);
        if reads {
            self.emit(Code::BulkRead(index));
        }
        self.emit(Code::BulkWrite(index));
    }

    pub(super) fn object(&mut self, usage: &ObjectUse) -> Option<()> {
        let kind = match &usage.action {
            ObjectAction::Initialise { count } => ObjectKind::Initialise { count: self.source(count, 32)? },
            ObjectAction::Invalidate => ObjectKind::Invalidate,
            ObjectAction::Expect { bytes } => ObjectKind::Expect { bytes: self.source(bytes, 32)? },
            ObjectAction::Complete { bytes } => ObjectKind::Complete { bytes: self.source(bytes, 32)? },
            ObjectAction::Arrive { count, bytes, drops, incomplete } => ObjectKind::Arrive {
                count: self.optional(count.as_ref())?,
                bytes: self.optional(bytes.as_ref())?,
                drops: *drops,
                incomplete: *incomplete,
            },
            ObjectAction::Wait { phase, parity, tries } => {
                let phase = self.source(phase, if *parity { 32 } else { 64 })?;
                ObjectKind::Wait { phase, parity: *parity, tries: *tries }
            }
        };
        let d = match &usage.dst {
            Some(dst) => Some(self.destination(dst)?),
            None => None,
        };
        let ordered = !matches!(usage.ordering, Ordering::Relaxed(_));
        self.push_object(&usage.place, kind, d, ordered)
    }

    /// The slot of an operand that need not be there.
    pub(super) fn optional(&mut self, operand: Option<&Operand>) -> Option<Option<Slot>> {
        match operand {
            Some(operand) => self.source(operand, 32).map(Some),
            None => Some(None),
        }
    }

    pub(super) fn push_object(
        &mut self,
        place: &MemoryOperand,
        kind: ObjectKind,
        d: Option<(Slot, u8)>,
        ordered: bool,
    ) -> Option<()> {
        let access = self.operand_access(place, 8)?;
        self.program.objects.push(ObjectOperation { access, kind, d, ordered });
        self.emit(Code::Object(self.program.objects.len() as u32 - 1));
        Some(())
    }

    /// Width of a register or constant: that of a predicate is 1.
    fn bits_of(&self, operand: &Operand) -> u32 {
        match operand {
            Operand::NotPredicate(_) => 1,
            Operand::Register(_) => self.destination(operand).map_or(32, |(_, bits)| u32::from(bits)),
            _ => 32,
        }
    }
}
