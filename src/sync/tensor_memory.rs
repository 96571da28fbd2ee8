//! Tensor memory, as far as where values come from goes.
//!
//! Input: an operation of `tcgen05` that is executed next. Establishes: which columns, lanes and pieces of shared memory it accesses is
//! not open. Relies on: where columns are allocated hardware decides, so an address is the start of an allocation plus a fixed number;
//! the whole of tensor memory starts at column 0. What tensor memory holds is open: nobody computes it.
//! [`run`](super::run) compares addresses with allocations. Reference: `exec::tensor_memory`, which it mirrors.

use super::follow::{Flow, Refusal, What};
use super::own::Own;
use super::taint::Taint;
use crate::exec::decode::{Code, TensorOperation};
use crate::exec::tensor_products;
use crate::exec::thread::Thread;
use crate::exec::world::World;

impl Flow<'_> {
    /// What an operation needs that must be the same in all executions.
    pub(super) fn tensor_memory(
        &mut self,
        world: &World,
        thread: &Thread,
        own: &Own,
        (at, index): (u32, u32),
    ) -> Result<(), Refusal> {
        let program = self.program;
        let operation = &program.tensor_operations[index as usize];
        if operation.is_started() && matches!(program.code[at as usize], Code::TensorRead(_)) {
            // The instruction behind it asks.
            return Ok(());
        }
        if let Some(size) = operation.sizes() {
            self.need(own.get(size), What::Size, at)?;
        }
        for descriptor in operation.descriptors() {
            let found = tensor_products::place(thread.value(descriptor));
            self.descriptor(own.get(descriptor), found, at)?;
        }
        for place in operation.places() {
            self.need(Taint { place: None, ..own.get(place.base) }, What::Address, at)?;
        }
        if let TensorOperation::Allocate { access, .. } = operation {
            self.place(world, thread, own, (at, *access))?;
        }
        Ok(())
    }
}
