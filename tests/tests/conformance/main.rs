//! Conformance with cases made by others: URLs, SURTs, robots.txt, links.

mod links;
mod robots;
mod surt;
mod urls;
