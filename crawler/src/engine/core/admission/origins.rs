//! [`Origins`]: finds the number of a host by its origin.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;

use crate::{candidate::HostId, url::Origin};

/// The hosts of a crawl. Who asks has their texts: there may be very many.
#[derive(Debug, Default)]
pub(in crate::engine) struct Origins {
    table: HashTable<HostId>,
    hasher: RandomState,
}

impl Origins {
    /// With room for so many, and no more than that.
    pub(in crate::engine) fn with_capacity(hosts: usize) -> Self {
        Self { table: HashTable::with_capacity(hosts), ..Self::default() }
    }

    /// The host of this origin.
    pub(in crate::engine) fn get<'a>(
        &self,
        origin: &Origin,
        origin_of: impl Fn(HostId) -> &'a Origin,
    ) -> Option<HostId> {
        self.table.find(self.hasher.hash_one(origin), |host| origin_of(*host) == origin).copied()
    }

    /// How many there are.
    pub(in crate::engine) fn len(&self) -> usize {
        self.table.len()
    }

    /// Adds a host; there is no other of its origin.
    pub(in crate::engine) fn insert<'a>(&mut self, host: HostId, origin_of: impl Fn(HostId) -> &'a Origin) {
        let hash = |host: &HostId| self.hasher.hash_one(origin_of(*host));
        self.table.insert_unique(hash(&host), host, hash);
    }
}
