//! Pages that are gone at one address and new at another: with a redirect there, or with nearly the same text.

use rusqlite::{Connection, OptionalExtension, Result, params};
use xxhash_rust::xxh3::xxh3_64;

use super::{
    Finder, judged, looks,
    noise::{MOST_LINES, NoiseBook},
    sections::SectionBoilerplate,
    standings,
};
use crate::{
    changes::{Boilerplate, ChangedLines, Difference, Explained, LookOutcome, SimHash, Standing},
    text::Text,
};

/// Words that a text must have to be known again.
const FEWEST_WORDS: usize = 3;

/// Bits by which near hashes are looked up: with at most three that differ, one of four parts is equal.
const PART: u32 = 16;

/// Pages with an equal part that are compared, at most.
const MOST_COMPARED: i64 = 1_000;

/// Notes which new pages are likely to be others that are not found, or were redirected there: they are not reported as new before
/// it is known what became of these.
pub(super) fn find(finder: &Finder<'_>, sections: &SectionBoilerplate) -> Result<()> {
    // What is on many pages makes no two of them one, wherever they lie.
    let mut boilerplate = Boilerplate::default();
    for section in sections.values() {
        boilerplate.add(section);
    }
    let search = Search { finder, boilerplate, book: NoiseBook::read(finder.connection, false)? };
    if finder.connection.prepare(&new_pages())?.exists([])? {
        search.keep_clues()?;
        search.compare()?;
    }
    Ok(())
}

/// Pages that are there for the first time.
fn new_pages() -> String {
    format!(
        "SELECT look.url, look.visit, url.url FROM temp.look LEFT JOIN page_state ON page_state.url = look.url
         JOIN visit ON visit.id = look.visit JOIN url ON url.id = look.url
         WHERE look = {} AND page_state.good IS NULL AND moved_from IS NULL AND visit.before IS NULL ORDER BY look.visit",
        LookOutcome::There(Difference::Unknown).code()
    )
}

/// Pages that were there and are redirected or not found, with their last good copy.
fn vanished_pages() -> String {
    let vanished =
        [LookOutcome::Redirected, LookOutcome::Missing { for_good: false }, LookOutcome::Missing { for_good: true }];
    format!(
        "SELECT look.url, coalesce(page_state.good, visit.before), visit.redirect FROM temp.look
         JOIN visit ON visit.id = look.visit LEFT JOIN page_state ON page_state.url = look.url
         WHERE look IN ({}) AND good_mark IS NOT NULL AND moved_to IS NULL
           AND coalesce(condition, 'there') NOT IN ('gone', 'moved') ORDER BY look.visit",
        looks::codes(vanished)
    )
}

struct Search<'a> {
    finder: &'a Finder<'a>,
    boilerplate: Boilerplate,
    book: NoiseBook,
}

impl Search<'_> {
    /// Keeps by what each page that vanished is known again.
    fn keep_clues(&self) -> Result<()> {
        let connection = self.finder.connection;
        let mut select = connection.prepare(&vanished_pages())?;
        let mut insert = connection.prepare("INSERT OR IGNORE INTO temp.clue VALUES (?, ?, ?, ?)")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let url: i64 = row.get(0)?;
            if let Some(target) = row.get_ref(2)?.as_str_or_null()? {
                insert.execute(params![clue(b"address", target.as_bytes()), url, None::<i64>, None::<u32>])?;
            } else if let Some(text) = self.text(row.get(1)?)? {
                let hash = SimHash::of(&text);
                for clue in clues(&text, hash) {
                    insert.execute(params![clue, url, hash.bits().cast_signed(), hash.words()])?;
                }
            }
        }
        Ok(())
    }

    /// Compares each new page with them. Each of the others is one new page at most.
    fn compare(&self) -> Result<()> {
        let connection = self.finder.connection;
        let mut select = connection.prepare(&new_pages())?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let address = clue(b"address", row.get_ref(2)?.as_str()?.as_bytes());
            let mut old = self.known_by(address, None)?;
            if old.is_none()
                && let Some(text) = self.text(row.get(1)?)?
            {
                let hash = SimHash::of(&text);
                let [same, near @ ..] = clues(&text, hash);
                old = self.known_by(same, None)?;
                for part in near {
                    old = if old.is_none() { self.known_by(part, Some(hash))? } else { old };
                }
            }
            if let Some(old) = old {
                connection.prepare_cached("DELETE FROM temp.clue WHERE url = ?")?.execute([old])?;
                note(connection, old, row.get(0)?)?;
            }
        }
        Ok(())
    }

    /// A page that is known by this; where that is a part of its hash, one whose hash is near.
    fn known_by(&self, clue: i64, near: Option<SimHash>) -> Result<Option<i64>> {
        let query = "SELECT url, bits, words FROM temp.clue WHERE hash = ? ORDER BY url LIMIT ?";
        let mut select = self.finder.connection.prepare_cached(query)?;
        let mut rows = select.query([clue, MOST_COMPARED])?;
        while let Some(row) = rows.next()? {
            let is_it = match near {
                Some(hash) => SimHash::new(row.get::<_, i64>(1)?.cast_unsigned(), row.get(2)?).is_near(hash),
                None => true,
            };
            if is_it {
                return Ok(Some(row.get(0)?));
            }
        }
        Ok(None)
    }

    /// What is compared of the text of a visit, but for boilerplate; `None` where that is too little to be known again.
    fn text(&self, visit: Option<i64>) -> Result<Option<Text>> {
        let text = self.book.still_text(self.finder, visit)?;
        Ok(text.map(|text| self.boilerplate.main(&text)).filter(|text| text.words() >= FEWEST_WORDS))
    }
}

/// Whether a page that moved says something else than it said before, but for what many pages share. A page that was another when it
/// was seen first is that, and no edit.
pub(super) fn is_edited(
    (finder, book): (&Finder<'_>, &NoiseBook),
    sections: &SectionBoilerplate,
    [before, after]: [Option<i64>; 2],
    since_then: bool,
) -> Result<bool> {
    let Some(before) = book.page_text(finder, before)? else { return Ok(false) };
    let Some(after) = book.page_text(finder, after)? else { return Ok(false) };
    let masks = [before.masks, after.masks].concat();
    let explained = Explained::of(&before.text, &after.text, &masks);
    let removed: usize = explained.edits.iter().map(|edit| edit.removed.len()).sum();
    let is_it = since_then || removed * 2 <= before.text.lines().count();
    let changed = ChangedLines::of(&explained.edits, MOST_LINES);
    Ok(is_it && judged::any_own(finder, &changed, sections.get(&after.section))?)
}

/// By what a text is known: it, and each part of its hash.
fn clues(text: &Text, hash: SimHash) -> [i64; 5] {
    let part = |number: u32| ((hash.bits() >> (number * PART)) & ((1 << PART) - 1)).to_le_bytes();
    [
        clue(b"text", text.as_str().as_bytes()),
        clue(b"part 0", &part(0)),
        clue(b"part 1", &part(1)),
        clue(b"part 2", &part(2)),
        clue(b"part 3", &part(3)),
    ]
}

fn clue(kind: &[u8], value: &[u8]) -> i64 {
    xxh3_64(&[kind, b"\n", value].concat()).cast_signed()
}

/// Notes that a page is likely to have moved.
fn note(connection: &Connection, from: i64, to: i64) -> Result<()> {
    for url in [from, to] {
        if standings::load(connection, url)?.is_none() {
            let before = "SELECT before FROM visit WHERE id = (SELECT visit FROM url WHERE id = ?)";
            let good = connection.prepare_cached(before)?.query_row([url], |row| row.get(0)).optional()?.flatten();
            standings::put(connection, url, &Standing::of(good))?;
        }
    }
    let mut update = connection.prepare_cached("UPDATE page_state SET moved_to = ? WHERE url = ?")?;
    update.execute([to, from])?;
    let mut update = connection.prepare_cached("UPDATE page_state SET moved_from = ? WHERE url = ?")?;
    update.execute([from, to]).map(|_| ())
}
