//! Pages to which no page links, though a sitemap or a feed leads there, or a page did.

use std::collections::HashSet;

use rusqlite::{Row, params};

use super::{KEPT_PAGES, Reader};
use crate::store::{
    LinkEnd, LinkLine,
    sqlite::{error::Fault, runs},
};

/// Pages that are there, but for starts, with what named them.
const PAGES: &str = "SELECT substr(url.fingerprint, 1, 8), url.url, visit.status, (SELECT page.url FROM url AS page WHERE page.id = url.via)
    FROM url JOIN visit ON visit.id = url.visit
    WHERE url.hop <> 'start' AND url.url NOT IN (SELECT area.url FROM area) AND visit.outcome = 'stored' AND visit.html";

/// Where redirects lead.
const REDIRECTS: &str =
    "SELECT visit.links, x'' FROM url JOIN visit ON visit.id = url.visit WHERE visit.outcome = 'redirected'";

impl Reader<'_> {
    /// Shows each of them to `each`, in the order of their admission, until that answers `false`.
    pub(super) fn orphans(&mut self, each: &mut impl FnMut(LinkLine) -> bool) -> Result<(), Fault> {
        self.read.is_known = true;
        let of_sequence = self.current.rows();
        let (mut pages, mut linked) = (self.sorter(), self.sorter());
        for links in [
            format!("SELECT kept.links, substr(url.fingerprint, 1, 8) {KEPT_PAGES} AND kept.html AND {of_sequence}"),
            format!("{REDIRECTS} AND {of_sequence}"),
        ] {
            self.each_row(&links, |row| {
                let own = row.get_ref(1)?.as_blob().unwrap_or_default();
                let links = row.get_ref(0)?.as_blob().unwrap_or_default().chunks_exact(8);
                links.filter(|link| *link != own).try_for_each(|link| linked.push(number(link)))?;
                Ok(true)
            })?;
        }
        self.each_row(&format!("{PAGES} AND {of_sequence}"), |row| {
            pages.push(number(row.get_ref(0)?.as_blob().unwrap_or_default()))?;
            Ok(true)
        })?;
        let mut orphans = HashSet::new();
        runs::subtract(pages.sorted()?, linked.sorted()?, |page| {
            orphans.insert(page);
            Ok::<(), Fault>(())
        })?;
        if orphans.is_empty() {
            return Ok(());
        }
        self.each_row(&format!("{PAGES} AND {of_sequence} ORDER BY url.id"), |row| {
            if !orphans.contains(&number(row.get_ref(0)?.as_blob().unwrap_or_default())) {
                return Ok(true);
            }
            let outcome = Some("stored".to_owned());
            let to = LinkEnd { url: row.get(1)?, status: row.get(2)?, outcome, ..LinkEnd::default() };
            let from = row.get::<_, Option<String>>(3)?.unwrap_or_default();
            Ok(each(LinkLine { from, to, label: None }))
        })
    }

    /// Shows the rows of a query about the sequence, until the answer is `false`.
    fn each_row(&self, query: &str, mut each: impl FnMut(&Row<'_>) -> Result<bool, Fault>) -> Result<(), Fault> {
        let mut select = self.connection.prepare(query)?;
        let mut rows = select.query(params![self.current.sequence])?;
        while let Some(row) = rows.next()? {
            if !each(row)? {
                break;
            }
        }
        Ok(())
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_be_bytes)
}
