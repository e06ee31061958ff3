//! Conformance with cases made by others: URLs, robots.txt, links.

mod robots;
mod links;
mod urls;
