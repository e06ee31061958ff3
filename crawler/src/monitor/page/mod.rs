//! [`PortPage`]: what the management port shows people at `/`.
//!
//! Owns: the page as a whole, and how it is kept up to date: while somebody looks, what has changed of it is sent as server-sent events.
//! Without its script it is a page all the same.
//!
//! Invariant: whatever comes from the network is escaped; nothing is asked of another host.

mod crawl;
mod events;
mod freshness;
pub(crate) mod html;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

pub(super) use self::events::Events;

use self::{crawl::CrawlSection, html::escaped};
use super::{
    readings::{CrawlRead, Readings},
    roster::{Roster, RosterEntry},
};
use crate::{
    clock::Clock,
    observe::{figures::counted, pace::Pace},
};

pub(super) const STYLE: &str = include_str!("page.css");
pub(super) const SCRIPT: &str = include_str!("page.js");

/// Nothing is loaded from elsewhere, and nothing runs that is not ours.
pub(super) const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What is shown may be so old.
const AGE: Duration = Duration::from_secs(1);

/// The page of a roster.
pub(super) struct PortPage {
    roster: Roster,
    readings: Arc<Mutex<Readings>>,
    state: Mutex<State>,
}

/// What is kept from one look to the next.
#[derive(Default)]
struct State {
    /// How fast each crawl goes.
    paces: HashMap<Arc<str>, Pace>,
    began: Option<Instant>,
    /// The last body, and when it was made.
    last: Option<(Instant, Arc<str>)>,
}

impl PortPage {
    pub(super) fn new(roster: Roster, readings: Arc<Mutex<Readings>>) -> Self {
        Self { roster, readings, state: Mutex::default() }
    }

    /// The whole document.
    pub(super) fn document(&self) -> String {
        let body = self.body();
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Webloom</title>\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">\
             <link rel=\"icon\" href=\"data:,\"><link rel=\"stylesheet\" href=\"page.css\"><script src=\"page.js\" defer></script></head>\
             <body><a class=\"skip\" href=\"#crawls\">To the crawls</a>{body}\
             <footer><p id=\"connection\" role=\"status\"></p></footer></body></html>\n"
        )
    }

    /// What changes of it, on one line.
    pub(super) fn body(&self) -> Arc<str> {
        let mut state = self.state();
        if let Some((made, body)) = &state.last
            && made.elapsed() < AGE
        {
            return Arc::clone(body);
        }
        let body: Arc<str> = self.made(&mut state).into();
        state.last = Some((Instant::now(), Arc::clone(&body)));
        body
    }

    fn made(&self, state: &mut State) -> String {
        let crawls = self.roster.all();
        let read = self.readings.lock().unwrap_or_else(PoisonError::into_inner).read(&crawls);
        state.paces.retain(|name, _| crawls.iter().any(|(other, _)| other == name));
        let began = *state.began.get_or_insert_with(Instant::now);
        let now = Clock::start().now();
        let (mut sections, mut faulty) = (String::new(), 0);
        for (number, (name, entry)) in crawls.iter().enumerate() {
            let of_crawl = read.iter().find(|read| read.name == *name);
            let pace = state.paces.entry(Arc::clone(name)).or_default();
            take(pace, began, entry, of_crawl);
            let on_time = entry.on_time(now);
            faulty += u64::from(!on_time.is_well);
            sections += &CrawlSection { number, name, on_time: &on_time, read: of_crawl, pace }.html();
        }
        let overall = match (crawls.len() as u64, faulty) {
            (0, _) => "No crawl runs in this process yet".to_owned(),
            (all, 0) => format!("{}: all is well", counted(all, "crawl", "crawls")),
            (all, faulty) => format!("{faulty} of {} late or faulty", counted(all, "crawl", "crawls")),
        };
        let class = if faulty == 0 { "well" } else { "faulty" };
        format!(
            "<header><h1>Webloom</h1><p id=\"overall\" data-live class=\"{class}\" role=\"status\">{}</p></header>\
             <main id=\"crawls\" tabindex=\"-1\">{sections}</main>",
            escaped(&overall)
        )
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes in how far a crawl has come.
fn take(pace: &mut Pace, began: Instant, entry: &RosterEntry, read: Option<&CrawlRead>) {
    let Some(figures) = read.and_then(|read| read.figures.as_ref()).filter(|_| entry.is_running()) else {
        *pace = Pace::default();
        return;
    };
    let done = figures.admitted.saturating_sub(figures.queued + figures.in_flight);
    pace.take(began.elapsed(), done, figures.admitted);
}
