//! What is told of a site whose pages change, and that nothing else is: `webloom changes`, judged by what was changed.

mod classes;
mod ignored;
mod killed;
mod listing;
mod masses;
mod site;
mod walls;

/// No line at all.
const NOTHING: [&str; 0] = [];
