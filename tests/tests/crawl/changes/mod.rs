//! What is reported of a site whose pages change, and that nothing else is: `webloom changes`, judged by what was changed.

mod classes;
mod ignored;
mod in_between;
mod killed;
mod link_targets;
mod listing;
mod masses;
mod menus;
mod month;
mod moved;
mod noisy;
mod order;
mod rotating;
mod second_looks;
mod site;
mod walls;

/// No line at all.
const NOTHING: [&str; 0] = [];
