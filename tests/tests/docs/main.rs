//! The documents keep their promises: commands run, tables are complete, every name exists.
//!
//! Each rule is one test. Text that a rule reads is found by its heading or its fence, so a document can be rewritten
//! freely as long as what it says is true.

#![expect(clippy::unwrap_used, reason = "a document that cannot be read fails the test")]

mod architecture;
mod commands;
mod database;
mod manual;
mod program;
mod project;
mod settings;
mod text;
