//! `[machine]`.

use crate::config::{
    reader::KeyReader,
    rules::{Size, Unless},
};

/// Less memory than this is not enough for any crawl, in bytes.
pub const LEAST_MEMORY: u64 = 32 << 20;

/// The most memory that this process may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryChoice {
    /// As the container allows that it runs in.
    Container,
    /// So many bytes.
    Most(u64),
    /// As much as it needs.
    Unlimited,
}

/// What the crawl may take of this machine.
#[derive(Debug, Clone)]
pub struct MachineSettings {
    /// Memory of the whole process.
    pub max_memory: MemoryChoice,
    /// Bytes that are left free on the disk of the crawl directory.
    pub min_free_disk: Option<u64>,
}

impl MachineSettings {
    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        let container = Unless { word: "auto", rule: Size(LEAST_MEMORY..=1 << 50) };
        let memory = Unless { word: "unlimited", rule: container };
        let max_memory = match reader.read("machine.max_memory", &memory) {
            None => MemoryChoice::Unlimited,
            Some(None) => MemoryChoice::Container,
            Some(Some(most)) => MemoryChoice::Most(most),
        };
        let disk = Unless { word: "none", rule: Size(1..=1 << 50) };
        Self { max_memory, min_free_disk: reader.read("machine.min_free_disk", &disk) }
    }
}
