//! Sums all linear memories and tables of one call.

use wasmtime::ResourceLimiter;

/// Bytes that one table entry costs the host: a pointer.
const TABLE_ENTRY_BYTES: u64 = 8;

/// Counts the memories and tables of one store and refuses growth over the call's limits.
/// wasmtime asks about each memory by itself; the sum is kept here, because many small
/// memories weigh as much as a large one.
pub(crate) struct Limiter {
    memory_limit: u64,
    table_limit: u64,
    memory_bytes: u64,
    table_elements: u64,
    peak_bytes: u64,
    refused: bool,
}

impl Limiter {
    pub(crate) fn new(memory_limit: u64, table_limit: u64) -> Self {
        Self {
            memory_limit,
            table_limit,
            memory_bytes: 0,
            table_elements: 0,
            peak_bytes: 0,
            refused: false,
        }
    }

    /// The largest sum so far, in bytes.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.peak_bytes
    }

    /// Bytes that may still be taken.
    pub(crate) fn remaining_bytes(&self) -> u64 {
        self.memory_limit.saturating_sub(self.memory_bytes)
    }

    /// Whether growth was refused: a guest that stops after it stopped for want of memory.
    pub(crate) fn refused(&self) -> bool {
        self.refused
    }

    fn note_peak(&mut self) {
        let sum = self.memory_bytes + self.table_elements * TABLE_ENTRY_BYTES;
        self.peak_bytes = self.peak_bytes.max(sum);
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            self.refused = true;
            return Ok(false);
        }
        let sum = self.memory_bytes + desired.saturating_sub(current) as u64;
        if sum > self.memory_limit {
            self.refused = true;
            return Ok(false);
        }
        self.memory_bytes = sum;
        self.note_peak();
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            self.refused = true;
            return Ok(false);
        }
        let sum = self.table_elements + desired.saturating_sub(current) as u64;
        if sum > self.table_limit {
            self.refused = true;
            return Ok(false);
        }
        self.table_elements = sum;
        self.note_peak();
        Ok(true)
    }

    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        self.refused = true;
        Ok(())
    }

    fn table_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        self.refused = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_are_summed() -> wasmtime::Result<()> {
        let mut limiter = Limiter::new(100, 10);
        assert!(limiter.memory_growing(0, 60, None)?);
        assert!(limiter.memory_growing(0, 40, None)?);
        assert!(!limiter.refused());
        assert!(!limiter.memory_growing(0, 1, None)?);
        assert!(limiter.refused());
        assert_eq!(limiter.peak_bytes(), 100);
        Ok(())
    }

    #[test]
    fn tables_are_summed() -> wasmtime::Result<()> {
        let mut limiter = Limiter::new(100, 10);
        assert!(limiter.table_growing(0, 6, None)?);
        assert!(!limiter.table_growing(0, 6, None)?);
        assert!(limiter.refused());
        Ok(())
    }
}
