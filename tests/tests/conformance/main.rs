//! Conformance with cases made by others: URLs, SURTs, robots.txt, links, sitemaps.

mod links;
mod robots;
mod sitemaps;
mod surt;
mod urls;
