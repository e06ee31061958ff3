//! What the program `urlcache` evaluates beside the caches of the library of that name: [classifiers](cascade) of a closed
//! set of keys, and [sketches](sketch) of a stream.
//!
//! No crawl needs any of it; the program and its tests do. Like the library it does no I/O, reads no clock and starts no
//! thread.

pub mod cascade;
pub mod sketch;
