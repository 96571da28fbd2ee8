//! Small numbers that look random and are always the same, for tests.

/// The next one follows from the last.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    /// One below `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// One of a list.
    pub(super) fn from<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}
