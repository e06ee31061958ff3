//! Which pages are fetched once more at the end of a sequence, to see what of them moves by itself, and what they said then.
//!
//! Owns: how many there may be, and which come first.
//!
//! Invariant: only to ask changes nothing: the same rows give the same pages.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
    time::Duration,
};

use rusqlite::{Connection, Result, params};
use xxhash_rust::xxh3::xxh3_64;

use super::{
    super::{error::Fault, refill},
    Finder, judged, looks,
    mass::{self, Telling},
    noise::NoiseBook,
    page_links,
    places::places,
    sections, texts,
};
use crate::{
    changes::{Difference, LookOutcome, Way, has_clock, link_edits},
    purpose::Purpose,
    queue::WorkItem,
    store::{Counters, SecondLookRow},
    time::Moment,
};

/// Second looks of a sequence that need no share.
const FEWEST: u64 = 10;

/// The share of a sequence's requests that second looks may add at most.
const OF_SEQUENCE: f64 = 0.25;

/// The requests of so many milliseconds count for the share.
const MONTH: u64 = 30 * 24 * 3_600_000;

/// Pages of a section that are looked at twice, at most, where something moves in the first sequence or much changed at once.
const OF_SECTION: usize = 8;

/// Of so many requests of the first sequence one may be a second look, as long as none has shown anything that moves; at least [`FEWEST`], but half of what there may be.
const CALM: u64 = 200;

/// Pages of a section that share an edit and are looked at twice.
const SHARED: usize = 3;

/// After this time a clock that shows seconds shows another one.
const A_SECOND: Duration = Duration::from_millis(1_100);

/// Where it is known what moves in texts.
const KNOWN: &str = "SELECT section FROM mask WHERE mask ->> '$.kind' NOT IN ('bytes', 'link')";

/// Whether a page that waited for this look has another text than it had then: it may have another at each look.
const REPEATS: &str =
    "(SELECT waited.text IS NOT now.text FROM page_state JOIN visit AS waited ON waited.id = page_state.unsure
     JOIN visit AS now ON now.id = look.visit WHERE page_state.url = look.url AND doubt IN ('unsure', 'mass') AND waited.id < now.id)";

/// Texts of links that are kept of a second look, at most.
const MOST_LINKS: usize = 1_000;

/// With fewer nothing is known of a section.
const FEWEST_OF_SECTION: usize = 3;

impl Finder<'_> {
    /// Whether pages are looked at twice at the end of the sequence. What is visited between sequences is reported at once.
    pub(super) fn looks_twice(&self) -> bool {
        self.rules.confirm_share > 0.0 && !self.current.revisited
    }

    /// The pages to be fetched once more, now that nothing is left to fetch. `counters` are those of the sequence.
    pub(in crate::store::sqlite) fn unsure_pages(
        &self,
        counters: &Counters,
    ) -> std::result::Result<Vec<WorkItem>, Fault> {
        if !self.looks_twice() {
            return Ok(Vec::new());
        }
        let room = room(self, counters)?;
        let pages = match room {
            0 => Vec::new(),
            room if self.current.is_without_copies() => sample(self.connection, room, counters)?,
            room => unsure(self, room)?,
        };
        let mut items = Vec::new();
        for page in pages {
            let item = refill::due_again(self.connection, page, self.current.sequence)?;
            let due = due(self.connection, page)?;
            items.extend(item.map(|item| WorkItem { purpose: Purpose::Confirm, due, ..item }));
        }
        Ok(items)
    }
}

/// When a page may be fetched once more, if it has a clock: this shows another second then.
fn due(connection: &Connection, page: i64) -> Result<Option<Moment>> {
    let last = "SELECT fetched_at, text FROM url JOIN visit ON visit.id = url.visit WHERE url.id = ?";
    let (at, text): (u64, Option<i64>) =
        connection.prepare_cached(last)?.query_row([page], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let text = texts::load(connection, text)?;
    Ok(text.filter(|(_, text)| has_clock(text)).map(|_| Moment::from_millis(at) + A_SECOND))
}

/// How many second looks there may be.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is bounded by the requests")]
fn room(finder: &Finder<'_>, counters: &Counters) -> Result<usize> {
    let sums = "SELECT coalesce(sum(counters ->> '$.requests'), 0), coalesce(sum(counters ->> '$.second_looks'), 0)
         FROM sequence WHERE n < ?1 AND began_at > (SELECT began_at FROM sequence WHERE n = ?1) - ?2";
    let (requests, looks): (u64, u64) =
        finder
            .connection
            .query_row(sums, params![finder.current.sequence, MONTH], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let own = counters.second_looks;
    let share = |of: u64, share: f64| (of as f64 * share) as u64;
    let of_month = share(requests + counters.requests, finder.rules.confirm_share).saturating_sub(looks + own);
    let of_sequence = share(counters.requests, OF_SEQUENCE).saturating_sub(own);
    let room = of_month.min(of_sequence).max(FEWEST.saturating_sub(own));
    Ok(usize::try_from(room).unwrap_or(usize::MAX))
}

/// Pages with a text, a few of each section. Once one of these shows that something moves, as many of each section as it takes to know what
/// moves on all of its pages, but none of sections where nothing did. The largest sections come first.
fn sample(connection: &Connection, room: usize, counters: &Counters) -> Result<Vec<i64>> {
    let looked = looked_sections(connection)?;
    let moves = looked.values().any(|moves| *moves);
    let calm = usize::try_from((counters.requests / CALM).max(FEWEST)).unwrap_or(usize::MAX);
    // On a small site half of them is left for what the first ones show.
    let made = usize::try_from(counters.second_looks).unwrap_or(usize::MAX);
    let room = if moves { room } else { calm.min(room.saturating_add(made).div_ceil(2)).saturating_sub(made) };
    if room == 0 {
        return Ok(Vec::new());
    }
    let mut sections = HashMap::<i64, (usize, BinaryHeap<SampledPage>)>::new();
    let mut select = connection.prepare(
        "SELECT url.id, url.url, EXISTS (SELECT 1 FROM second_look WHERE second_look.url = url.id)
         FROM url CROSS JOIN visit ON visit.id = url.visit WHERE visit.outcome = 'stored' AND visit.text IS NOT NULL",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let url = row.get_ref(1)?.as_str()?;
        let section = places(url)[1];
        if moves && looked.get(&section).is_some_and(|moves| !moves) {
            continue;
        }
        let (pages, sample) = sections.entry(section).or_default();
        *pages += 1;
        sample.push((xxh3_64(url.as_bytes()), row.get(0)?, row.get(2)?));
        if sample.len() > OF_SECTION {
            sample.pop();
        }
    }
    let mut sections: Vec<_> = sections.into_iter().collect();
    sections.sort_by_key(|(section, (pages, _))| (Reverse(*pages), *section));
    let samples = sections.into_iter().map(|(_, (_, sample))| sample.into_sorted_vec());
    Ok(chosen(samples.collect(), room, moves))
}

/// The hash of its address, its number, and whether it was looked at twice.
type SampledPage = (u64, i64, bool);

/// One of each section, then another of each, and so on. Where something moves, each has as many as it needs before any has more.
fn chosen(mut samples: Vec<Vec<SampledPage>>, room: usize, moves: bool) -> Vec<i64> {
    if moves {
        let mut needed = 0;
        let mut has_room = |sample: &Vec<SampledPage>| {
            needed += sample.iter().take(FEWEST_OF_SECTION).filter(|(.., is_looked)| !is_looked).count();
            needed <= room
        };
        let known = samples.iter().position(|sample| !has_room(sample)).unwrap_or(samples.len());
        samples.truncate(known.max(1));
    }
    let most = if moves { OF_SECTION } else { FEWEST_OF_SECTION };
    let turn = |turn: usize| samples.iter().filter_map(move |sample| sample.get(turn));
    let open = (0..most).flat_map(turn).filter(|(.., is_looked)| !is_looked);
    open.map(|(_, page, _)| *page).take(room).collect()
}

/// The sections of which pages were looked at twice, and whether bytes of one were others then.
fn looked_sections(connection: &Connection) -> Result<HashMap<i64, bool>> {
    let mut select = connection.prepare(
        "SELECT url.url, second_look.digest IS NOT visit.digest FROM second_look JOIN url ON url.id = second_look.url
         JOIN visit ON visit.id = second_look.visit WHERE second_look.digest IS NOT NULL",
    )?;
    let mut rows = select.query([])?;
    let mut sections = HashMap::new();
    while let Some(row) = rows.next()? {
        *sections.entry(places(row.get_ref(0)?.as_str()?)[1]).or_default() |= row.get::<_, bool>(1)?;
    }
    Ok(sections)
}

/// Pages that changed in what no mask hides, and were not looked at twice: first some of each section of which nothing is known, then
/// those that waited and changed again, then those that changed most. Where so much changed at once that the next sequence is waited for,
/// some of each section, as all of it may move by itself.
fn unsure(finder: &Finder<'_>, room: usize) -> std::result::Result<Vec<i64>, Fault> {
    let connection = finder.connection;
    let (from, to) = finder.visits()?;
    looks::prepare(connection)?;
    let mut book = NoiseBook::read(connection, false)?;
    looks::gather(finder, (from, to), &mut book)?;
    judged::judge(finder, &sections::boilerplate(finder)?, Telling::Nobody)?;
    mass::mark(finder, (from, to), Telling::Nobody)?;
    let differ =
        looks::codes([Way::Onwards, Way::Back, Way::Shrunk].map(|way| LookOutcome::There(Difference::Text(way))));
    let new = LookOutcome::There(Difference::Unknown).code();
    let [bytes, shared] = [Difference::Bytes, Difference::SiteWide].map(|way| LookOutcome::There(way).code());
    // Of what many pages share it is enough to see some twice.
    let mut select = connection.prepare(&format!(
        "SELECT url FROM (
             SELECT url, look, mass, repeats, length(lines) AS lines,
                    section NOT IN ({KNOWN}) AND ~host NOT IN ({KNOWN}) AS unknown,
                    row_number() OVER (PARTITION BY section, look, mass ORDER BY length(lines) DESC, url) AS place
             FROM (SELECT look.*, coalesce({REPEATS}, 0) AS repeats FROM temp.look)
             WHERE (unsure OR repeats) AND url NOT IN (SELECT url FROM page_state WHERE volatile AND (flaps > 0 OR look = {bytes}))
               AND look IN ({differ}, {bytes}, {shared}, {new}))
         WHERE CASE look WHEN {shared} THEN place <= {SHARED} WHEN {new} THEN place <= {OF_SECTION} AND unknown
               ELSE place <= {OF_SECTION} OR NOT mass END
         ORDER BY unknown AND place <= ?1 DESC, repeats DESC, lines DESC, url LIMIT ?2"
    ))?;
    let pages = select.query_map(params![OF_SECTION, room], |row| row.get(0))?.collect::<Result<Vec<i64>>>()?;
    drop(select);
    looks::clear(connection)?;
    Ok(pages)
}

/// The texts of links that led elsewhere at the second look, as they are kept.
fn moved_links(connection: &Connection, url: u64, look: &SecondLookRow) -> Result<String> {
    let before = page_links::of_page(connection, url)?;
    let links = look.links.as_ref().map(|(links, labels)| (links.iter().flat_map(|link| link.to_be_bytes()), labels));
    let now = links.and_then(|(links, labels)| page_links::of_kept(&links.collect::<Vec<_>>(), labels));
    let edits = before.zip(now).map(|(before, now)| link_edits(&before, &now)).unwrap_or_default();
    let texts: Vec<&str> = edits.iter().map(|edit| &*edit.text).take(MOST_LINKS).collect();
    Ok(serde_json::to_string(&texts).expect("texts are plain JSON"))
}

/// Writes what a page said when it was fetched once more.
pub(in crate::store::sqlite) fn write_second_look(
    connection: &Connection,
    url: u64,
    look: &SecondLookRow,
) -> Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT OR REPLACE INTO second_look (url, visit, digest, rule, body, places, links)
         SELECT id, visit, ?2, ?3, ?4, ?5, ?6 FROM url WHERE id = ?1 AND visit IS NOT NULL",
    )?;
    let text = look.text.as_ref();
    let body = text.map(|text| &text.body).filter(|body| !body.is_empty());
    let places = text.filter(|_| body.is_some()).map(|text| &text.places);
    let links = moved_links(connection, url, look)?;
    insert.execute(params![url, look.digest, text.map(|text| text.rule), body, places, links]).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_section_has_as_many_as_it_needs_before_any_has_more() {
        let section = |from: i64, looked: i64| (from..from + 9).map(|page| (0, page, page < from + looked)).collect();
        let still = || [10, 20, 30].map(|from| section(from, 0)).to_vec();
        assert_eq!(chosen(still(), 5, false), [10, 20, 30, 11, 21]);
        assert_eq!(chosen(still(), 100, false).len(), 9);
        let moves = || vec![section(10, 2), section(20, 1), section(30, 0)];
        assert_eq!(chosen(moves(), 3, true), [21, 12, 22], "the last has no room for all that it needs");
        assert_eq!(chosen(moves(), 7, true), [30, 21, 31, 12, 22, 32, 13]);
        assert_eq!(chosen(moves(), 100, true).len(), 6 + 7 + 8);
    }
}
