//! Planted faults: `check` finds each, says so by its exit code, and names the invariant that is broken.

mod cases;
mod columns;
mod crawled;
mod filled;
