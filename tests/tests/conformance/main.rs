//! Conformance with cases made by others: URLs, robots.txt, links.

mod links;
mod robots;
mod urls;
