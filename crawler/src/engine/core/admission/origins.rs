//! [`Origins`]: the number of a host, by its origin.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;

use crate::{candidate::HostId, frontier::Frontier, url::Origin};

/// The hosts of a [`Frontier`], which has their text: there may be very many.
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
    pub(in crate::engine) fn get(&self, origin: &Origin, frontier: &Frontier) -> Option<HostId> {
        self.table.find(self.hasher.hash_one(origin), |host| frontier.origin(*host) == origin).copied()
    }

    /// Adds a host that the frontier has, and no other of the same origin.
    pub(in crate::engine) fn insert(&mut self, host: HostId, frontier: &Frontier) {
        let hash = |host: &HostId| self.hasher.hash_one(frontier.origin(*host));
        self.table.insert_unique(hash(&host), host, hash);
    }
}
