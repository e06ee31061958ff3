//! The links of pages as they are compared: what they say, and where they lead.
//!
//! Does not know: which of them move by themselves.

use rusqlite::{Connection, OptionalExtension, Result, Row, ToSql};

use crate::{
    changes::{LinkEdit, TextLink, link_edits},
    extract::Element,
    store::{ANCHOR, ASSET, Labels, LinkChange},
};

/// Link edits of a page that are kept with its change.
const MOST_KEPT: usize = 50;

/// Targets of links with one text that are kept.
const MOST_TARGETS: usize = 5;

/// Bytes of the text of a link that are kept.
const LONGEST_TEXT: usize = 200;

/// What begins the target of a link of the crawl, before the first bytes of its fingerprint.
const OWN: &str = "#";

/// The link edits between two visits; none where it is not kept what links say.
pub(super) fn edits(connection: &Connection, before: Option<i64>, now: i64) -> Result<Vec<LinkEdit>> {
    let Some(before) = of_visit(connection, before)? else { return Ok(Vec::new()) };
    let Some(now) = of_visit(connection, Some(now))? else { return Ok(Vec::new()) };
    let mut edits = Vec::new();
    for edit in link_edits(&before, &now) {
        if !is_judged_otherwise(connection, &edit)? {
            edits.push(edit);
        }
    }
    Ok(edits)
}

/// Whether links lead where they led, and are of the crawl now or were before.
fn is_judged_otherwise(connection: &Connection, edit: &LinkEdit) -> Result<bool> {
    let are_own = |targets: &str| targets.split(' ').all(|target| target.starts_with(OWN));
    if edit.targets.iter().all(|targets| are_own(targets)) {
        return Ok(false);
    }
    let [before, after] = &edit.targets;
    let all = |targets: &str| addresses(connection, targets, usize::MAX);
    let [before, after] = [all(before)?, all(after)?].map(|targets| {
        let mut targets: Vec<_> = targets.split(' ').map(|target| without_query(target).to_owned()).collect();
        targets.sort_unstable();
        targets
    });
    Ok(before == after)
}

/// The links of a visit, if it is kept what they say.
fn of_visit(connection: &Connection, visit: Option<i64>) -> Result<Option<Vec<TextLink>>> {
    let query =
        "SELECT kept.links, kept.labels FROM visit JOIN visit AS kept ON kept.id = coalesce(visit.same, visit.id)
                 WHERE visit.id = ?";
    read(connection, query, visit)
}

/// The same of the last visit of a page.
pub(super) fn of_page(connection: &Connection, url: u64) -> Result<Option<Vec<TextLink>>> {
    let query = "SELECT kept.links, kept.labels FROM url JOIN visit ON visit.id = url.visit
                 JOIN visit AS kept ON kept.id = coalesce(visit.same, visit.id) WHERE url.id = ?";
    read(connection, query, url)
}

fn read(connection: &Connection, query: &str, row: impl ToSql) -> Result<Option<Vec<TextLink>>> {
    let kept = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let found: Option<(Vec<u8>, Option<Vec<u8>>)> =
        connection.prepare_cached(query)?.query_row([row], kept).optional()?;
    Ok(found.and_then(|(links, labels)| of_kept(&links, &labels?)))
}

/// The same of what is kept with a visit. Parts and links to names on a page are none; targets out of the crawl have no query, as that
/// is where sessions are.
pub(super) fn of_kept(links: &[u8], labels: &[u8]) -> Option<Vec<TextLink>> {
    let labels = Labels::read(labels)?;
    let is_seen = |element: Element| matches!(element, Element::Anchor | Element::Area);
    let kept = labels.kept.into_iter().zip(links.chunks_exact(8));
    let kept = kept.filter(|(label, _)| is_seen(label.element)).map(|(label, target)| TextLink {
        text: label.text,
        target: format!("{OWN}{:016x}", u64::from_be_bytes(target.try_into().unwrap_or_default())).into(),
    });
    let is_link = |reason: &str| reason != ASSET && reason != ANCHOR;
    let refused = labels.refused.into_iter().filter(|link| is_seen(link.label.element) && is_link(&link.reason));
    let refused = refused.map(|link| TextLink { text: link.label.text, target: without_query(&link.url).into() });
    Some(kept.chain(refused).collect())
}

fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or(url)
}

/// Link edits as they are kept with a change, with the addresses of their targets.
pub(super) fn kept(connection: &Connection, edits: &[LinkEdit]) -> Result<Option<String>> {
    if edits.is_empty() {
        return Ok(None);
    }
    let shown = |targets: &str| addresses(connection, targets, MOST_TARGETS);
    let mut changes = Vec::new();
    for edit in edits.iter().take(MOST_KEPT) {
        let text = edit.text[..edit.text.floor_char_boundary(LONGEST_TEXT)].to_owned();
        let [before, after] = &edit.targets;
        changes.push(LinkChange { text, before: shown(before)?, after: shown(after)? });
    }
    Ok(Some(serde_json::to_string(&changes).expect("texts and addresses are plain JSON")))
}

fn addresses(connection: &Connection, targets: &str, most: usize) -> Result<String> {
    let mut select =
        connection.prepare_cached("SELECT url FROM url WHERE fingerprint BETWEEN unhex(?1) AND unhex(?2) LIMIT 1")?;
    let mut found = Vec::new();
    for target in targets.split(' ').take(most) {
        found.push(match target.strip_prefix(OWN) {
            None => target.to_owned(),
            Some(start) => {
                let [least, most] = ["0", "f"].map(|rest| format!("{start}{}", rest.repeat(16)));
                let address: Option<String> = select.query_row([least, most], |row| row.get(0)).optional()?;
                address.unwrap_or_else(|| "a lost URL".to_owned())
            }
        });
    }
    Ok(found.join(" "))
}
