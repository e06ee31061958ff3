//! [`Reader`]: numbers and bytes from a file, never more than there are.

use thiserror::Error;

use super::format::VERSION;

/// Why bytes are no classifier.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadError {
    /// They do not begin like one.
    #[error("this is not a classifier")]
    Foreign,
    /// They were written by a later version of the library.
    #[error("the classifier has format {found}, this library reads {VERSION}")]
    Newer {
        /// The format's number.
        found: u32,
    },
    /// They are cut short or changed.
    #[error("the classifier is damaged: its checksum does not match")]
    Damaged,
    /// They begin like one, and yet mean nothing.
    #[error("the classifier makes no sense: {0}")]
    Senseless(&'static str),
    /// There is no memory for what it holds.
    #[error("no memory for a part of {bytes} bytes")]
    Memory {
        /// The length of the part.
        bytes: usize,
    },
}

/// What is left to be read.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

const TOO_SHORT: ReadError = ReadError::Senseless("it is shorter than it says");

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn u8(&mut self) -> Result<u8, ReadError> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn u32(&mut self) -> Result<u32, ReadError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, ReadError> {
        self.array().map(u64::from_le_bytes)
    }

    /// So many bytes, copied only if there are as many.
    pub(super) fn bytes(&mut self, count: u64) -> Result<Vec<u8>, ReadError> {
        self.items(count, |[byte]| byte)
    }

    /// So many words.
    pub(super) fn words(&mut self, count: u64) -> Result<Vec<u64>, ReadError> {
        self.items(count, u64::from_le_bytes)
    }

    fn items<const SIZE: usize, T>(&mut self, count: u64, make: impl Fn([u8; SIZE]) -> T) -> Result<Vec<T>, ReadError> {
        let length = usize::try_from(count).ok().and_then(|count| count.checked_mul(SIZE));
        let (items, rest) = length.and_then(|length| self.rest.split_at_checked(length)).ok_or(TOO_SHORT)?;
        self.rest = rest;
        let mut read = Vec::new();
        let memory = |_| ReadError::Memory { bytes: items.len() };
        read.try_reserve_exact(items.len() / SIZE).map_err(memory)?;
        read.extend(items.as_chunks().0.iter().map(|item| make(*item)));
        Ok(read)
    }

    /// Everything was read.
    pub(super) fn end(self) -> Result<(), ReadError> {
        if self.rest.is_empty() { Ok(()) } else { Err(ReadError::Senseless("there is more than it says")) }
    }

    fn array<const SIZE: usize>(&mut self) -> Result<[u8; SIZE], ReadError> {
        let (array, rest) = self.rest.split_first_chunk().ok_or(TOO_SHORT)?;
        self.rest = rest;
        Ok(*array)
    }
}
