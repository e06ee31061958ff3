//! Conformance with cases made by others: URLs, robots.txt, links, sitemaps.

mod links;
mod robots;
mod sitemaps;
mod urls;
