//! Which pages are fetched again for lost URLs, and what becomes of lost URLs that none of them leads to.
//!
//! Invariants: a lost URL is called no longer linked only if each page that has the link was fetched again, and is a page of the same kind
//! without it. If one was not, the URL stays doubtful even when all were visited once more: they may be of another kind now. A new page
//! with the link is fetched again like the others. One of the pages with a link is fetched again in the first round, and then as many as
//! before: so the rounds are few, and no more pages are fetched than twice what is needed.

use std::collections::HashMap;

use rusqlite::params;

use super::{AT_ONCE, Fault, KeptVisit, LinkSweep};
use crate::store::{AfterSweep, LostState, Refetch, RescueOrder, sqlite::refill};

/// Pages that are fetched again before the next sweep.
const MOST_PAGES: usize = 4_096;

/// Lost URLs that they are fetched again for; of one page it may be more.
const MOST_LINKS: usize = 65_536;

/// A lost URL that has no row yet.
struct Missing {
    /// Its row among the lost ones.
    id: u64,
    /// Pages that have the link and were fetched again.
    asked: u32,
    /// Pages that are to be fetched again.
    ordered: u32,
    /// Whether a page is left that was not fetched again.
    open: bool,
    /// Whether one of those fetched again may still lead to it.
    doubtful: bool,
}

/// Lost URLs that are looked for at once: by their links.
struct Part {
    missing: HashMap<u64, Missing>,
    /// The last row of them.
    up_to: u64,
}

/// What the visits tell of a part.
#[derive(Default)]
struct Chosen {
    pages: Vec<(u64, Refetch, Vec<u64>)>,
    links: usize,
}

impl LinkSweep<'_> {
    /// The pages to be fetched again, if that is to be done. What became of lost URLs is noted, of all where there is no page left.
    pub(super) fn parents(&self, then: AfterSweep) -> Result<Vec<RescueOrder>, Fault> {
        let mut after = 0;
        while let Some(mut part) = self.missing(after)? {
            let mut chosen = Chosen::default();
            self.each_visit("", |kept| {
                part.look_at(&kept, &mut chosen);
                Ok(())
            })?;
            self.note_states(&part)?;
            if then == AfterSweep::Rescue && !chosen.pages.is_empty() {
                return chosen.pages.into_iter().map(|order| self.order(order)).collect();
            }
            after = part.up_to;
        }
        Ok(Vec::new())
    }

    /// The next lost URLs behind a row.
    fn missing(&self, after: u64) -> Result<Option<Part>, Fault> {
        let mut select = self.connection.prepare_cached(
            "SELECT id, substr(fingerprint, 1, 8) FROM lost
             WHERE sequence = ? AND swept AND admitted IS NULL AND id > ? ORDER BY id LIMIT ?",
        )?;
        let rows = select.query_map(params![self.current.sequence, after, AT_ONCE], |row| {
            let missing = Missing { id: row.get(0)?, asked: 0, ordered: 0, open: false, doubtful: false };
            Ok((u64::from_be_bytes(row.get(1)?), missing))
        })?;
        let missing: HashMap<_, _> = rows.collect::<Result<_, _>>()?;
        let up_to = missing.values().map(|missing| missing.id).max();
        Ok(up_to.map(|up_to| Part { missing, up_to }))
    }

    fn order(&self, (page, refetch, links): (u64, Refetch, Vec<u64>)) -> Result<RescueOrder, Fault> {
        Ok(RescueOrder { parent: refill::one(self.connection, page, self.current)?, refetch, links })
    }

    fn note_states(&self, part: &Part) -> Result<(), Fault> {
        let transaction = self.connection.unchecked_transaction()?;
        let mut update = transaction.prepare_cached(
            "UPDATE lost SET state = ?1 WHERE id = ?2 AND state <> ?1 AND (?3 OR state <> 'parent_unreachable')",
        )?;
        for missing in part.missing.values() {
            update.execute(params![missing.state().as_str(), missing.id, missing.has_page()])?;
        }
        drop(update);
        Ok(transaction.commit()?)
    }
}

impl Part {
    /// Takes note of a page that may have some of these links.
    fn look_at(&mut self, kept: &KeptVisit<'_>, chosen: &mut Chosen) {
        let (covered, proves) = kept.refetched.unwrap_or_default();
        let (mut links, mut is_wanted) = (Vec::new(), false);
        for link in kept.links() {
            let Some(missing) = self.missing.get_mut(&link) else { continue };
            if missing.id <= covered {
                missing.asked += 1;
                missing.doubtful |= !proves;
            } else {
                missing.open = true;
                is_wanted |= missing.ordered < missing.asked.max(1);
                links.push(link);
            }
        }
        if !is_wanted || chosen.pages.len() >= MOST_PAGES || chosen.links >= MOST_LINKS {
            return;
        }
        for link in &links {
            self.missing.entry(*link).and_modify(|missing| missing.ordered += 1);
        }
        chosen.links += links.len();
        chosen.pages.push((kept.page, Refetch { visit: kept.visit, up_to: self.up_to }, links));
    }
}

impl Missing {
    /// Whether a page has the link by its latest visit.
    fn has_page(&self) -> bool {
        self.open || self.asked > 0
    }

    fn state(&self) -> LostState {
        match self {
            Self { open: true, .. } => LostState::Lost,
            Self { doubtful: true, .. } => LostState::ParentUnreachable,
            Self { .. } => LostState::NoLongerLinked,
        }
    }
}
