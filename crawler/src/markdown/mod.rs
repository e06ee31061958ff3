//! From an HTML page to its main content, and from that to Markdown, plain text and chunks.
//!
//! Owns: what of a page is content, how its elements are blocks and lines ([`MainContent`]), and how these are written so that readers show
//! nothing else. [`Repeated`] has it learn from other pages of a section what is chrome there.
//!
//! Invariants: it never fails and never panics, whatever the page; its time and memory are linear in it, and the same page gives the same
//! text. No HTML is in the Markdown, and no link but to `http`, `https` and `mailto`.
//!
//! `tokens` and `parse` make a `tree`; `boilerplate`, `repeated` and `main_part` choose what of it is looked at (a `view`), by `words` and
//! `density`; `flow`, with `inline`, `code` and `table`, reads that into `block`s; `write` with `escape`, `text` and `chunks` write them.
//!
//! Does not know: charsets (it gets text), scripts and style sheets (what they show or hide), files.

mod block;
mod boilerplate;
mod chunks;
mod code;
mod density;
mod document;
mod escape;
mod flow;
mod inline;
mod main_part;
mod meta;
mod parse;
mod repeated;
mod table;
mod tags;
#[cfg(test)]
mod tests;
mod text;
mod tokens;
mod tree;
mod view;
mod words;
mod write;

pub use block::{Code, ContentBlock, Heading, Inline, List, TableContent};
pub use chunks::Chunk;
pub use document::{MainContent, block_keys};
pub use repeated::Repeated;
