//! The command line: what the program can be asked, and nothing of how it is done.

pub mod flags;
