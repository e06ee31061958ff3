//! [`CheckedEnds`]: what came of the URLs that were checked.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};

use crate::{
    extract::AnchorNames,
    store::{LinkCheckCounts, LinkCheckOutcome, LinkEnd, LinkFound, sqlite::words::word_or_none, take_names},
    url::WebUrl,
};

/// The reason of a URL that is not asked for, because its host has as many as are asked for.
pub(super) const LIMIT: &str = "max_per_host";

/// The reason of a link to be changed to https.
pub(super) const SECURE: &str = "https";

/// Redirects that are followed.
const MOST_REDIRECTS: usize = 32;

/// What the table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LinkCheckColumns {
    /// All but what follows.
    First,
    /// Those for the names of elements too.
    WithNames,
    /// All that this program writes.
    WithGuesses,
}

/// The columns of the table: a database of an older program may have fewer, or none.
pub(super) fn columns(connection: &Connection) -> Result<Option<LinkCheckColumns>> {
    let query = "SELECT sum(name IN ('names', 'guessed')) FROM pragma_table_info('link_check')";
    let later: Option<u32> = connection.prepare_cached(query)?.query_row([], |row| row.get(0))?;
    Ok(later.map(|later| match later {
        0 => LinkCheckColumns::First,
        1 => LinkCheckColumns::WithNames,
        _ => LinkCheckColumns::WithGuesses,
    }))
}

/// Answers for the URLs that were checked in a sequence.
pub(super) struct CheckedEnds<'c> {
    connection: &'c Connection,
    sequence: u32,
    columns: Option<LinkCheckColumns>,
}

/// A row.
struct Checked {
    url: String,
    outcome: String,
    status: Option<u16>,
    reason: Option<String>,
    target: Option<String>,
}

/// Something that a style sheet loads.
pub(super) struct SheetLine {
    number: i64,
    /// The style sheet.
    pub(super) sheet: String,
    /// What it loads.
    pub(super) part: String,
    /// Whether that is a style sheet too.
    pub(super) is_sheet: bool,
}

/// Where it redirects to, its status, and the names on its page.
type NameRow = (Option<String>, Option<u16>, Option<Vec<u8>>);

/// Where a URL that was checked leads in the end.
pub(super) enum NameEnd {
    /// To a page with these names.
    Page {
        /// The status of its answer.
        status: Option<u16>,
        /// What its elements are named.
        names: AnchorNames,
    },
    /// To a URL that was not read: it may be one of the crawl.
    Elsewhere(String),
    /// It is not known.
    Unknown,
}

const ROWS: &str = "SELECT url, outcome, status, reason, target FROM link_check WHERE checked_in = ?1";

impl<'c> CheckedEnds<'c> {
    /// Those of a sequence.
    pub(super) fn of(connection: &'c Connection, sequence: u32) -> Result<Self> {
        Ok(Self { connection, sequence, columns: columns(connection)? })
    }

    /// Whether any URL redirects, or leads nowhere.
    pub(super) fn any_to_show(&self) -> Result<bool> {
        // What is there with https may be there with http too.
        let query = "SELECT 1 FROM link_check WHERE checked_in = ? AND (outcome IN ('redirected', 'broken', 'failed')
                     OR (url LIKE 'https:%' AND outcome = 'checked'))";
        Ok(self.columns.is_some() && self.connection.prepare_cached(query)?.exists([self.sequence])?)
    }

    /// What came of a URL; `None` where it was not checked. `of_crawl` knows where URLs of the crawl lead.
    pub(super) fn end(&self, url: &str, of_crawl: impl Fn(&str) -> Result<Option<LinkEnd>>) -> Result<Option<LinkEnd>> {
        let Some(first) = self.row(url)? else { return Ok(None) };
        let (redirect, reason) = match &first.target {
            Some(target) => (Some(self.follow(&first.url, target, of_crawl)?), None),
            None => self.secure(&first)?.map(|secure| (secure, SECURE.to_owned())).unzip(),
        };
        let reason = reason.or(first.reason);
        Ok(Some(LinkEnd { url: Some(first.url), status: first.status, outcome: Some(first.outcome), reason, redirect }))
    }

    /// The same URL with https, if both are there.
    fn secure(&self, plain: &Checked) -> Result<Option<LinkFound>> {
        if self.columns < Some(LinkCheckColumns::WithGuesses) || plain.outcome != LinkCheckOutcome::Good.as_str() {
            return Ok(None);
        }
        let secure = WebUrl::parse(&plain.url).ok().and_then(|url| with_https(&url));
        let row = secure.map(|url| self.row(url.as_str())).transpose()?.flatten();
        let found = |Checked { url, status, outcome, .. }| LinkFound {
            url,
            status,
            outcome: Some(outcome),
            circle: Vec::new(),
        };
        Ok(row.filter(|row| row.outcome == plain.outcome).map(found))
    }

    /// The condition for a URL to which nothing leads.
    fn guessed(&self) -> &'static str {
        if self.columns == Some(LinkCheckColumns::WithGuesses) { "guessed" } else { "0" }
    }

    fn follow(
        &self,
        from: &str,
        target: &str,
        of_crawl: impl Fn(&str) -> Result<Option<LinkEnd>>,
    ) -> Result<LinkFound> {
        let mut passed = vec![from.to_owned()];
        let mut next = target.to_owned();
        loop {
            if let Some(first) = passed.iter().position(|url| *url == next) {
                let redirected = Some(LinkCheckOutcome::Redirected.as_str().to_owned());
                let circle = passed.split_off(first);
                return Ok(LinkFound { url: next, outcome: redirected, circle, ..LinkFound::default() });
            }
            let Some(row) = self.row(&next)? else {
                return Ok(match of_crawl(&next)? {
                    Some(LinkEnd { redirect: Some(found), .. }) => found,
                    Some(end) => LinkFound { url: next, status: end.status, outcome: end.outcome, circle: Vec::new() },
                    None => LinkFound { url: next, ..LinkFound::default() },
                });
            };
            match row.target {
                Some(target) if passed.len() < MOST_REDIRECTS => {
                    passed.push(std::mem::replace(&mut next, target));
                }
                _ => {
                    let outcome = Some(row.outcome);
                    return Ok(LinkFound { url: next, status: row.status, outcome, circle: Vec::new() });
                }
            }
        }
    }

    /// What style sheets load that were read, behind some part, so much at most.
    pub(super) fn sheet_parts(&self, behind: Option<&SheetLine>, most: usize) -> Result<Vec<SheetLine>> {
        if self.columns < Some(LinkCheckColumns::WithNames) {
            return Ok(Vec::new());
        }
        let mut select = self.connection.prepare_cached(
            "SELECT part.sheet, sheet.url, part.url, part.is_sheet FROM sheet_part AS part JOIN link_check AS sheet ON sheet.id = part.sheet
             WHERE sheet.checked_in = ?1 AND sheet.outcome = 'checked' AND (part.sheet, part.url) > (?2, ?3)
             ORDER BY part.sheet, part.url LIMIT ?4",
        )?;
        let (number, url) = behind.map_or((0, ""), |last| (last.number, &last.part));
        let line = |row: &Row<'_>| {
            Ok(SheetLine { number: row.get(0)?, sheet: row.get(1)?, part: row.get(2)?, is_sheet: row.get(3)? })
        };
        select.query_map(params![self.sequence, number, url, most], line)?.collect()
    }

    fn row(&self, url: &str) -> Result<Option<Checked>> {
        if self.columns.is_none() {
            return Ok(None);
        }
        let mut select = self.connection.prepare_cached(&format!("{ROWS} AND url = ?2"))?;
        select.query_row(params![self.sequence, url], checked).optional()
    }

    /// The page that a URL leads to in the end.
    pub(super) fn end_of_name(&self, url: &str) -> Result<NameEnd> {
        let mut next = url.to_owned();
        if self.columns < Some(LinkCheckColumns::WithNames) {
            return Ok(NameEnd::Unknown);
        }
        let query = "SELECT target, status, iif(outcome = 'checked', names, NULL) FROM link_check WHERE checked_in = ?1 AND url = ?2";
        let mut select = self.connection.prepare_cached(query)?;
        for _ in 0..MOST_REDIRECTS {
            let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            let found: Option<NameRow> = select.query_row(params![self.sequence, next], row).optional()?;
            match found {
                None if next == url => return Ok(NameEnd::Unknown),
                None => return Ok(NameEnd::Elsewhere(next)),
                Some((Some(target), ..)) => next = target,
                Some((None, status, names)) => {
                    let names = names.and_then(|names| take_names(&mut &*names));
                    return Ok(names.map_or(NameEnd::Elsewhere(next), |names| NameEnd::Page { status, names }));
                }
            }
        }
        Ok(NameEnd::Unknown)
    }

    /// How many URLs came to what.
    pub(super) fn counts(&self) -> Result<LinkCheckCounts> {
        let mut counts = LinkCheckCounts::default();
        if self.columns.is_none() {
            return Ok(counts);
        }
        let query = format!(
            "SELECT iif(checked_in = ?1, outcome, NULL), iif(checked_in = ?1, reason, NULL) IS '{LIMIT}', count(*)
             FROM link_check WHERE wanted_in = ?1 AND NOT {} GROUP BY 1, 2",
            self.guessed()
        );
        let mut select = self.connection.prepare_cached(&query)?;
        let mut rows = select.query([self.sequence])?;
        while let Some(row) = rows.next()? {
            let is_beyond_limit = row.get(1)?;
            let count = match word_or_none(row, 0, LinkCheckOutcome::of_word)? {
                None => &mut counts.left,
                Some(LinkCheckOutcome::Good) => &mut counts.good,
                Some(LinkCheckOutcome::Redirected) => &mut counts.redirected,
                Some(LinkCheckOutcome::Broken) => &mut counts.broken,
                Some(LinkCheckOutcome::Failed) => &mut counts.failed,
                Some(LinkCheckOutcome::LeftOut) if is_beyond_limit => &mut counts.beyond_limit,
                Some(LinkCheckOutcome::LeftOut) => &mut counts.forbidden,
            };
            *count = row.get(2)?;
        }
        Ok(counts)
    }
}

/// The same URL with https, where a server of http has one beside it: at the usual ports.
pub(super) fn with_https(url: &WebUrl) -> Option<WebUrl> {
    let is_plain = url.as_str().starts_with("http://") && url.port() == 80;
    is_plain.then(|| url.with_scheme("https")).flatten()
}

fn checked(row: &Row<'_>) -> Result<Checked> {
    Ok(Checked {
        url: row.get(0)?,
        outcome: row.get(1)?,
        status: row.get(2)?,
        reason: row.get(3)?,
        target: row.get(4)?,
    })
}
