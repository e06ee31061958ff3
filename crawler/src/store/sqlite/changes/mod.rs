//! What has changed since changes were reported last.
//!
//! Owns: the visits that are looked at, and the order of the steps: what each look found, which edits many pages share, which texts appear
//! in the place of many pages, where too much changed at once; then what is reported of each page.
//!
//! Invariants: all of it is one transaction, with the end of the sequence; a visit is looked at once; what each look found is kept in
//! temporary tables, and memory hardly grows with the pages that changed. A page that has not changed and is not in doubt costs no more
//! than passing over its visit.
//!
//! Does not know: how a page is compared, and when a change is reported: the pure core does.

mod dates;
mod finder;
mod judged;
#[cfg(test)]
mod large;
mod learnt;
mod looks;
mod mass;
mod moves;
mod noise;
mod noise_figures;
mod orphans;
mod page_links;
mod places;
mod read;
mod reported;
mod robots;
mod samples;
mod sections;
mod shown;
mod standings;
mod still_bytes;
mod texts;
mod unsure;

use mass::Telling;
use noise::NoiseBook;
use rusqlite::OptionalExtension;

pub(super) use finder::Finder;
pub(super) use noise_figures::figures;
pub(super) use read::{changes, count_pending, pending};
pub(super) use shown::{masked, masks};
pub(super) use texts::insert as insert_text;
pub(super) use unsure::write_second_look;

use super::error::Fault;

impl Finder<'_> {
    /// Reports what has changed.
    pub(super) fn run(&self) -> Result<(), Fault> {
        let (mut from, to) = self.visits()?;
        while from < to {
            let until = self.first_repeated(from, to)?.map_or(to, |repeated| repeated - 1);
            self.look(from, until, until == to)?;
            from = until;
        }
        robots::report(self)?;
        self.connection.execute("UPDATE crawl SET looked_at = ?", [to])?;
        Ok(())
    }

    /// Looks at visits, at most one of each page. First visits of all pages have nothing to be compared with.
    fn look(&self, from: i64, to: i64, is_last: bool) -> Result<(), Fault> {
        if self.current.is_without_copies() {
            learnt::learn(self, (from, to))?;
            self.connection.execute("DELETE FROM second_look", [])?;
            return Ok(());
        }
        learnt::learn(self, (from, to))?;
        looks::prepare(self.connection)?;
        let mut book = NoiseBook::read(self.connection, true)?;
        looks::gather(self, (from, to), &mut book)?;
        book.finish(self, (from, to))?;
        let sections = sections::boilerplate(self)?;
        judged::judge(self, &sections, Telling::Warn)?;
        mass::mark(self, (from, to), Telling::Warn)?;
        moves::find(self, &sections)?;
        let links_may_differ = looks::any_changed(self.connection)?;
        reported::report(self, &sections)?;
        if self.complete && is_last && links_may_differ {
            orphans::report(self)?;
        }
        self.connection.execute("DELETE FROM second_look", [])?;
        texts::prune(self)?;
        looks::clear(self.connection)?;
        Ok(())
    }

    /// The first visit of a page that has another one before it among these: what that found must be known first.
    fn first_repeated(&self, from: i64, to: i64) -> Result<Option<i64>, Fault> {
        if !self.current.revisited {
            return Ok(None);
        }
        let repeated = "SELECT id FROM visit WHERE id > ?1 AND id <= ?2 AND EXISTS (
                            SELECT 1 FROM visit AS earlier INDEXED BY visit_of_url
                            WHERE earlier.url = visit.url AND earlier.sequence = visit.sequence
                              AND earlier.id > ?1 AND earlier.id < visit.id)
                        ORDER BY id LIMIT 1";
        let mut select = self.connection.prepare_cached(repeated)?;
        Ok(select.query_row([from, to], |row| row.get(0)).optional()?)
    }

    /// The last visit that was looked at, and the last that there is. A crawl that looks for the first time begins with its
    /// current sequence.
    pub(super) fn visits(&self) -> Result<(i64, i64), Fault> {
        let to = self.connection.query_row("SELECT coalesce(max(id), 0) FROM visit", [], |row| row.get(0))?;
        let from: Option<i64> = self.connection.query_row("SELECT looked_at FROM crawl", [], |row| row.get(0))?;
        let first = "SELECT min(id) - 1 FROM visit WHERE sequence = ?";
        let from = match from {
            Some(from) => Some(from),
            None => self.connection.query_row(first, [self.current.sequence], |row| row.get(0)).optional()?.flatten(),
        };
        Ok((from.unwrap_or(to), to))
    }
}
