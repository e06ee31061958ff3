//! [`KeptPart`]: what is kept of an answer for one taker, on its way to the writer.
//!
//! Does not know: what it is. One half of a taker makes it, the other half takes it.

use std::{any::Any, fmt, sync::Arc};

/// What was made of an answer, before its visit is written.
#[derive(Clone)]
pub struct KeptPart {
    matter: Arc<dyn Any + Send + Sync>,
    bytes: usize,
    /// Given back when this is dropped.
    _room: Option<Arc<dyn Any + Send + Sync>>,
}

impl KeptPart {
    /// This, which takes so many bytes of memory.
    pub fn new(matter: impl Any + Send + Sync, bytes: usize) -> Self {
        Self { matter: Arc::new(matter), bytes, _room: None }
    }

    /// Holds room in memory until it is written.
    #[must_use]
    pub fn in_room(self, room: impl Any + Send + Sync) -> Self {
        Self { _room: Some(Arc::new(room)), ..self }
    }

    /// Bytes of memory that it takes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// What was made, if it is of this type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.matter.downcast_ref()
    }
}

impl fmt::Debug for KeptPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptPart").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}
