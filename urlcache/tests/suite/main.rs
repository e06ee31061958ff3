//! What the crate promises, through its public interface alone: the contract of the port, the statistics of the
//! charges, and the loss budget in simulated crawls.

#![expect(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

mod budget;
mod charges;
mod contract;
mod keys;
mod layers;
mod rates;
mod rotation;
