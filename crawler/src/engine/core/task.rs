//! [`Task`]: something that came back and is taken in, one part a turn.

use std::collections::VecDeque;

use super::{NamedSitemaps, RefetchedPage, Unfinished};
use crate::{engine::report::Report, store::Step, time::Moment};

/// Something to be taken in.
pub(super) enum Task {
    /// The URL cache is to be filled from the URL table.
    Restore,
    /// Starts that are not in the URL table.
    Starts(VecDeque<Box<str>>),
    /// Sitemaps of a host that are to be read.
    Sitemaps(NamedSitemaps),
    /// A visit that ended at this moment.
    Visit(Box<Report>, Moment),
    /// A page whose visit ended at this moment, and whose links were held back until the starts had their answers.
    Held(Box<Report>, Moment),
    /// A page whose links are being admitted.
    Links(Box<Unfinished>),
    /// A page fetched again, whose lost links are to be admitted, and what is to be written of it.
    Rescued(Box<RefetchedPage>, Box<Step>),
}
