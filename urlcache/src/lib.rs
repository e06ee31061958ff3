//! Bounded URL caches.
