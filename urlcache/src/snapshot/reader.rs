//! [`SnapshotReader`]: numbers from bytes, never more than there are.

use std::collections::TryReserveError;

use super::SnapshotError;

/// What is left to be read.
pub(crate) struct SnapshotReader<'a> {
    rest: &'a [u8],
}

impl<'a> SnapshotReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn u8(&mut self) -> Result<u8, SnapshotError> {
        self.array().map(|[byte]| byte)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, SnapshotError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, SnapshotError> {
        self.array().map(u64::from_le_bytes)
    }

    /// A number of things, of which there can be no more than 2^56.
    pub(crate) fn count(&mut self) -> Result<u64, SnapshotError> {
        let count = self.u64()?;
        if count >> 56 == 0 { Ok(count) } else { Err(SnapshotError::Senseless("a count beyond all bounds")) }
    }

    /// A number that is no infinity and not below 0.
    pub(crate) fn f64(&mut self) -> Result<f64, SnapshotError> {
        let value = f64::from_bits(self.u64()?);
        if value.is_finite() && value >= 0.0 { Ok(value) } else { Err(SnapshotError::Senseless("no number")) }
    }

    /// As many items of `SIZE` bytes as a count before them says; the count must fit into what is left.
    pub(crate) fn items<const SIZE: usize, T>(
        &mut self,
        make: impl Fn([u8; SIZE]) -> T,
    ) -> Result<Vec<T>, SnapshotError> {
        let count = usize::try_from(self.u64()?).unwrap_or(usize::MAX);
        let length = count.checked_mul(SIZE).filter(|length| *length <= self.rest.len());
        let (items, rest) = self.rest.split_at(length.ok_or(TOO_SHORT)?);
        self.rest = rest;
        let mut read = Vec::new();
        read.try_reserve_exact(count).map_err(|_: TryReserveError| SnapshotError::Memory { bytes: items.len() })?;
        read.extend(items.as_chunks().0.iter().map(|item| make(*item)));
        Ok(read)
    }

    /// Everything was read.
    pub(crate) fn end(self) -> Result<(), SnapshotError> {
        if self.rest.is_empty() { Ok(()) } else { Err(SnapshotError::Senseless("there is more than it says")) }
    }

    fn array<const SIZE: usize>(&mut self) -> Result<[u8; SIZE], SnapshotError> {
        let (array, rest) = self.rest.split_first_chunk().ok_or(TOO_SHORT)?;
        self.rest = rest;
        Ok(*array)
    }
}

const TOO_SHORT: SnapshotError = SnapshotError::Senseless("it is shorter than it says");
