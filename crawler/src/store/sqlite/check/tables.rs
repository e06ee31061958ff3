//! What the columns of each table may hold.
//!
//! Invariants: every column of the schema is here, but for computed ones. Each enum alone defines its words.

use std::ops::RangeInclusive;

use rusqlite::{Connection, Result};

use super::{
    super::{
        archive,
        checked_ends::{self, LinkCheckColumns},
        fields, schema, search,
    },
    columns::{CheckedColumn, CheckedTable, ValueKind},
};
use crate::{
    candidate::Hop,
    changes::{Change, Condition, Doubt},
    fetch::Truncation,
    health::Wait,
    store::{AfterSweep, AreaSource, LinkCheckOutcome, LostState, PageChange, Revisit, VisitOutcome},
};

/// How the run of a sequence ends.
pub(super) const ENDS: [&str; 6] = ["drained", "budget", "unreachable", "loss", "signal", "failed"];

/// More bytes, seconds or rows than there can be; sums of such numbers are numbers still.
const MOST: i64 = 1 << 53;
const FLAG: RangeInclusive<i64> = 0..=1;
const ONE: RangeInclusive<i64> = 1..=1;
const ANY: RangeInclusive<i64> = i64::MIN..=i64::MAX;
const COUNT: RangeInclusive<i64> = 0..=MOST;
/// Milliseconds since 1970.
const MOMENT: RangeInclusive<i64> = 0..=MOST;
const SMALL: RangeInclusive<i64> = 0..=u32::MAX as i64;
const STATUS: RangeInclusive<i64> = 100..=999;
/// A hash of 31 bits.
const HASH: RangeInclusive<i64> = 0..=0x7fff_ffff;
const SHA256: usize = 32;
const SHA1: usize = 20;

/// The last rows of some tables: what names a row cannot be more.
struct Last {
    sequence: i64,
    visit: i64,
    text: i64,
    lost: i64,
    ticket: i64,
}

impl Last {
    fn read(connection: &Connection) -> Result<Self> {
        let last = "SELECT (SELECT max(n) FROM sequence), (SELECT max(id) FROM visit), (SELECT max(id) FROM text),
            (SELECT max(id) FROM lost), max((SELECT coalesce(max(id), 0) FROM url),
                (SELECT coalesce(cast(max(readmission) AS INTEGER), 0) FROM url WHERE readmission IS NOT NULL))";
        connection.query_row(last, [], |row| {
            let last = |column| row.get::<_, Option<i64>>(column).map(Option::unwrap_or_default);
            Ok(Self { sequence: last(0)?, visit: last(1)?, text: last(2)?, lost: last(3)?, ticket: last(4)? })
        })
    }
}

/// All tables.
pub(super) fn all(connection: &Connection) -> Result<Vec<CheckedTable>> {
    let last = Last::read(connection)?;
    let mut tables = Vec::from(crawl(&last));
    if schema::has_forgotten_column(connection)? {
        tables[0].columns.push(number("forgotten_to", 0..=last.visit).or_null());
    }
    let mut of_urls = urls(&last);
    if schema::has_said_columns(connection)? {
        of_urls[1].columns.extend(said_columns());
    }
    tables.extend(of_urls);
    tables.extend(lost(&last));
    tables.extend(changes(&last));
    tables.extend(revisits(&last));
    // One that was written by an older program may have none.
    let columns = checked_ends::columns(connection)?;
    tables.extend(columns.map(|columns| link_check(&last, columns)));
    tables.extend((columns >= Some(LinkCheckColumns::WithNames)).then(sheet_part));
    if archive::is_kept(connection)? {
        tables[0].columns.push(number("archive", 1..=2).or_null());
        tables[0].columns.push(text("archive_types", ValueKind::Json).or_null());
        tables.extend(archive_tables(&last));
    }
    if search::has_table(connection)? {
        tables[0].columns.push(number("indexed_to", 0..=last.visit).or_null());
        let mut page = indexed_page(&last);
        if schema::has_removed_table(connection)? {
            page.columns.push(number("similarity", ANY).or_null());
            page.columns.push(number("similar", 0..=last.ticket).or_null());
        }
        tables.push(page);
    }
    if schema::has_removed_table(connection)? {
        tables.push(table("removed_url", vec![column("fingerprint", ValueKind::Exactly(16))]));
    }
    if schema::has_mask_table(connection)? {
        for (name, columns) in noise_columns(&last) {
            let table = tables.iter_mut().find(|table| table.name == name);
            table.expect("it is among them").columns.extend(columns);
        }
        tables.extend(noise_tables(&last));
    }
    if fields::are_kept(connection)? {
        tables.extend(field_tables(&last));
    }
    Ok(tables)
}

fn crawl(last: &Last) -> [CheckedTable; 4] {
    let crawl = vec![
        number("id", ONE),
        number("created_at", MOMENT),
        number("fingerprint_seed", ANY),
        text("key_rules", ValueKind::KeyRules),
        text("settings", ValueKind::Json),
        number("looked_at", 0..=last.visit).or_null(),
        number("pruned_to", 0..=last.visit).or_null(),
        number("learnt", 0..=last.visit).or_null(),
        text("classed_by", ValueKind::Text).or_null(),
        number("weighed", 0..=last.sequence).or_null(),
    ];
    let sources = [AreaSource::Start, AreaSource::GuessedStart, AreaSource::Redirect, AreaSource::Fallback];
    let area = vec![text("url", ValueKind::Url), word("source", sources.map(AreaSource::as_str))];
    [table("crawl", crawl), table("area", area), table("sequence", sequence(last)), table("host", host(last))]
}

fn sequence(last: &Last) -> Vec<CheckedColumn> {
    vec![
        number("n", 0..=last.sequence),
        number("began_at", MOMENT),
        number("hash_seed", ANY),
        word("revisit", [Revisit::KnownFirst.as_str()]).or_null(),
        // A sequence whose scope grew says that only the next keeps the same links.
        number("links_since", 0..=last.sequence + 1),
        number("text_rule", 0..=i64::MAX).or_null(),
        word("end", ENDS).or_null(),
        number("ended_at", MOMENT).or_null(),
        number("runs", SMALL),
        column("seconds", ValueKind::Real),
        column("cpu_seconds", ValueKind::Real),
        number("peak_memory", COUNT).or_null(),
        text("counters", ValueKind::Json),
        number("exact", FLAG),
        text("cache", ValueKind::Json).or_null(),
        number("audit_sample", COUNT).or_null(),
        number("audit_urls", 0..=last.ticket).or_null(),
        number("audit_lost", 0..=last.lost).or_null(),
        word("swept", [AfterSweep::Report, AfterSweep::Rescue].map(AfterSweep::as_str)).or_null(),
        number("swept_links", COUNT).or_null(),
        number("revisited", ONE).or_null(),
        number("pruned", ONE).or_null(),
    ]
}

fn host(last: &Last) -> Vec<CheckedColumn> {
    vec![
        number("id", SMALL),
        text("origin", ValueKind::Url),
        number("robots_status", STATUS).or_null(),
        column("robots_body", ValueKind::Bytes).or_null(),
        number("robots_fetched_at", MOMENT).or_null(),
        number("robots_first_failed", MOMENT).or_null(),
        column("robots_seen", ValueKind::Exactly(SHA256)).or_null(),
        number("crawl_delay", COUNT).or_null(),
        text("address", ValueKind::Address).or_null(),
        number("wrong_since", MOMENT).or_null(),
        number("sitemaps_in", 0..=last.sequence).or_null(),
        number("sitemap_guessed", ONE).or_null(),
        number("failures", SMALL).or_null(),
        number("ailing_since", MOMENT).or_null(),
        column("cause", ValueKind::Cause).or_null(),
        number("not_before", MOMENT).or_null(),
        word("wait", [Wait::BackOff, Wait::Asked, Wait::Paused].map(Wait::as_str)).or_null(),
        text("known_good", ValueKind::Url).or_null(),
    ]
}

fn urls(last: &Last) -> [CheckedTable; 3] {
    let url = vec![
        number("id", 0..=last.ticket),
        number("host", SMALL),
        text("url", ValueKind::Url),
        text("key", ValueKind::Url).or_null(),
        column("fingerprint", ValueKind::Exactly(16)),
        word("hop", Hop::ALL.map(Hop::as_str)),
        number("via", 0..=last.ticket).or_null(),
        number("depth", SMALL),
        number("redirects", SMALL),
        number("rank", ANY),
        number("admitted_in", 0..=last.sequence),
        word("state", ["queued", "finished", "abandoned"]),
        number("attempts", SMALL),
        number("due", MOMENT).or_null(),
        number("failed_at", MOMENT).or_null(),
        text("reason", ValueKind::Text).or_null(),
        number("visit", 0..=last.visit).or_null(),
        number("copy", 0..=last.visit).or_null(),
        number("readmission", COUNT).or_null(),
    ];
    let past = vec![
        number("url", 0..=last.ticket),
        number("sequence", 0..=last.sequence),
        word("state", ["queued", "abandoned"]),
        text("reason", ValueKind::Text).or_null(),
    ];
    [table("url", url), table("visit", visit(last)), table("past", past)]
}

/// What pages say of themselves.
fn said_columns() -> [CheckedColumn; 4] {
    let directives = ["noindex", "nofollow", "noindex,nofollow"];
    [
        text("language", ValueKind::Text).or_null(),
        text("h1", ValueKind::Text).or_null(),
        word("robots", directives).or_null(),
        number("words", COUNT).or_null(),
    ]
}

fn visit(last: &Last) -> Vec<CheckedColumn> {
    let outcomes = [VisitOutcome::Stored, VisitOutcome::Redirected, VisitOutcome::Broken, VisitOutcome::Failed];
    let gone = Change::Gone.as_str();
    let changes = PageChange::ALL.map(PageChange::as_str).into_iter().chain([gone]);
    let cuts = [Truncation::Size, Truncation::Time, Truncation::Slow, Truncation::Expansion, Truncation::Disconnect];
    // Not all of its links are kept.
    let cuts = cuts.map(Truncation::name).into_iter().chain([Truncation::Rule.name(), "links"]);
    vec![
        number("id", 0..=last.visit),
        number("url", 0..=last.ticket),
        number("sequence", 0..=last.sequence),
        number("fetched_at", MOMENT),
        word("outcome", outcomes.map(VisitOutcome::as_str)),
        number("status", STATUS).or_null(),
        text("reason", ValueKind::Text).or_null(),
        text("content_type", ValueKind::Text).or_null(),
        number("html", FLAG),
        number("bytes", COUNT),
        number("wire_bytes", COUNT),
        column("digest", ValueKind::Exactly(SHA256)).or_null(),
        text("title", ValueKind::Text).or_null(),
        text("description", ValueKind::Text).or_null(),
        text("canonical", ValueKind::Url).or_null(),
        number("needs_js", FLAG),
        text("redirect", ValueKind::Text).or_null(),
        word("truncated", cuts).or_null(),
        word("change", changes).or_null(),
        number("same", 0..=last.visit).or_null(),
        number("before", 0..=last.visit).or_null(),
        column("etag", ValueKind::Bytes).or_null(),
        column("last_modified", ValueKind::Bytes).or_null(),
        number("audited", FLAG),
        number("text", 0..=last.text).or_null(),
        number("steady", SMALL).or_null(),
        number("links_hash", HASH).or_null(),
        column("links", ValueKind::Bytes),
        column("labels", ValueKind::Bytes).or_null(),
    ]
}

fn lost(last: &Last) -> [CheckedTable; 2] {
    let states = [
        LostState::Lost,
        LostState::Rescued,
        LostState::Found,
        LostState::NoLongerLinked,
        LostState::ParentUnreachable,
    ];
    let rows = vec![
        number("id", COUNT),
        number("sequence", 0..=last.sequence),
        column("fingerprint", ValueKind::Bytes),
        text("url", ValueKind::Url).or_null(),
        text("found_by", ValueKind::Text),
        number("found_at", MOMENT),
        number("via", 0..=last.ticket).or_null(),
        number("swept", FLAG),
        word("state", states.map(LostState::as_str)),
        number("admitted", 0..=last.ticket).or_null(),
        number("recovered_in", 0..=last.sequence).or_null(),
    ];
    let refetch = vec![number("visit", 0..=last.visit), number("up_to", 0..=last.lost), number("read", FLAG)];
    [table("lost", rows), table("refetch", refetch)]
}

fn field_tables(last: &Last) -> [CheckedTable; 2] {
    let rows = vec![number("visit", 0..=last.visit), text("fields", ValueKind::Json)];
    let files = vec![
        text("name", ValueKind::Text),
        text("path", ValueKind::Text),
        number("bytes", COUNT),
        number("line", COUNT),
        number("hash", ANY),
        number("visit", 0..=last.visit),
    ];
    [table("page_field", rows), table("items_file", files)]
}

fn archive_tables(last: &Last) -> [CheckedTable; 2] {
    let files = vec![number("id", COUNT), text("name", ValueKind::Text), number("bytes", COUNT)];
    let records = vec![
        number("visit", 0..=last.visit),
        number("url", 0..=last.ticket),
        number("sequence", 0..=last.sequence),
        number("at", MOMENT),
        number("status", STATUS),
        text("content_type", ValueKind::Text).or_null(),
        number("file", COUNT),
        number("start", COUNT),
        number("length", COUNT),
        number("whole", COUNT),
        number("body", 0..=last.visit).or_null(),
        column("payload", ValueKind::Exactly(SHA1)),
        text("coding", ValueKind::Text).or_null(),
    ];
    [table("archive_file", files), table("archive_record", records)]
}

fn indexed_page(last: &Last) -> CheckedTable {
    let rows = vec![
        number("url", 0..=last.ticket),
        number("words", ANY),
        number("links", COUNT),
        column("importance", ValueKind::Real),
    ];
    table("indexed_page", rows)
}

fn sheet_part() -> CheckedTable {
    let rows = vec![number("sheet", COUNT), text("url", ValueKind::Url), number("is_sheet", FLAG)];
    table("sheet_part", rows)
}

fn link_check(last: &Last, columns: LinkCheckColumns) -> CheckedTable {
    let mut rows = vec![
        number("id", COUNT),
        text("url", ValueKind::Url),
        number("redirects", SMALL),
        number("wanted_in", 0..=last.sequence),
        number("checked_in", 0..=last.sequence).or_null(),
        number("checked_at", MOMENT).or_null(),
        word("outcome", LinkCheckOutcome::ALL.map(LinkCheckOutcome::as_str)).or_null(),
        number("status", STATUS).or_null(),
        text("reason", ValueKind::Text).or_null(),
        text("target", ValueKind::Url).or_null(),
    ];
    if columns >= LinkCheckColumns::WithNames {
        rows.extend([number("reads", FLAG), column("names", ValueKind::Bytes).or_null()]);
    }
    if columns >= LinkCheckColumns::WithGuesses {
        rows.push(number("guessed", FLAG));
    }
    table("link_check", rows)
}

/// What tables have since it is kept what moves by itself.
fn noise_columns(last: &Last) -> [(&'static str, Vec<CheckedColumn>); 4] {
    let change = vec![text("links", ValueKind::Json), number("alike", ANY), number("in_links", COUNT)];
    [
        ("change", change),
        ("text", vec![column("places", ValueKind::Bytes).or_null()]),
        ("page_state", vec![text("masks", ValueKind::Json).or_null(), number("unsure", 0..=last.visit).or_null()]),
        ("sequence", vec![text("noise", ValueKind::Json).or_null()]),
    ]
}

fn noise_tables(last: &Last) -> [CheckedTable; 2] {
    let masks = vec![
        number("id", COUNT),
        number("section", ANY),
        text("address", ValueKind::Url),
        text("mask", ValueKind::Json),
    ];
    let looks = vec![
        number("url", 0..=last.ticket),
        number("visit", 0..=last.visit),
        column("digest", ValueKind::Exactly(SHA256)).or_null(),
        number("rule", 0..=i64::MAX).or_null(),
        column("body", ValueKind::Packed).or_null(),
        column("places", ValueKind::Bytes).or_null(),
        text("links", ValueKind::Json),
    ];
    [table("mask", masks), table("second_look", looks)]
}

fn changes(last: &Last) -> [CheckedTable; 4] {
    let text_rows = vec![
        number("id", COUNT),
        number("url", 0..=last.ticket),
        number("rule", 0..=i64::MAX),
        column("digest", ValueKind::Exactly(SHA256)),
        column("body", ValueKind::Packed),
    ];
    let change = vec![
        number("id", COUNT),
        number("sequence", 0..=last.sequence),
        number("at", MOMENT),
        number("url", 0..=last.ticket).or_null(),
        text("address", ValueKind::Url).or_null(),
        word("change", Change::ALL.map(Change::as_str)),
        column("before", ValueKind::Exactly(SHA256)).or_null(),
        column("after", ValueKind::Exactly(SHA256)).or_null(),
        number("before_text", 0..=last.text).or_null(),
        number("after_text", 0..=last.text).or_null(),
        text("target", ValueKind::Text).or_null(),
        number("count", COUNT).or_null(),
        number("edit", ANY).or_null(),
    ];
    let site_wide = vec![number("line", ANY), number("sequence", 0..=last.sequence)];
    [
        table("text", text_rows),
        table("change", change),
        table("site_wide", site_wide),
        table("page_state", page_state(last)),
    ]
}

fn page_state(last: &Last) -> Vec<CheckedColumn> {
    let conditions = [Condition::There, Condition::Gone, Condition::Moved, Condition::Unreachable];
    let doubts = [Doubt::Missing, Doubt::Shrunk, Doubt::Mass, Doubt::Cut, Doubt::Unsure];
    vec![
        number("url", 0..=last.ticket),
        number("good", 0..=last.visit).or_null(),
        number("earlier", 0..=last.visit).or_null(),
        word("condition", conditions.map(Condition::as_str)),
        word("doubt", doubts.map(Doubt::as_str)).or_null(),
        number("doubted_since", MOMENT).or_null(),
        number("restless", SMALL),
        number("flaps", SMALL),
        number("calm", SMALL),
        number("volatile", FLAG),
        number("orphaned", FLAG),
        column("wall", ValueKind::Exactly(SHA256)).or_null(),
        number("moved_from", 0..=last.ticket).or_null(),
        number("moved_to", 0..=last.ticket).or_null(),
    ]
}

fn revisits(last: &Last) -> [CheckedTable; 3] {
    let revisit = vec![
        number("url", 0..=last.ticket),
        number("class", SMALL),
        number("visited_at", MOMENT),
        column("state", ValueKind::Exactly(20)),
        number("weight", 0..=3),
    ];
    let class = vec![number("class", SMALL), number("pages", COUNT)];
    let section = vec![number("section", ANY), number("pages", COUNT), number("rates", COUNT)];
    [table("revisit", revisit), table("revisit_class", class), table("revisit_section", section)]
}

fn table(name: &'static str, columns: Vec<CheckedColumn>) -> CheckedTable {
    CheckedTable { name, columns }
}

fn column(name: &'static str, kind: ValueKind) -> CheckedColumn {
    CheckedColumn { name, kind, is_optional: false }
}

fn number(name: &'static str, range: RangeInclusive<i64>) -> CheckedColumn {
    column(name, ValueKind::Number(range))
}

fn text(name: &'static str, kind: ValueKind) -> CheckedColumn {
    column(name, kind)
}

fn word(name: &'static str, words: impl IntoIterator<Item = &'static str>) -> CheckedColumn {
    column(name, ValueKind::Word(words.into_iter().collect()))
}

impl CheckedColumn {
    fn or_null(self) -> Self {
        Self { is_optional: true, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_here() {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::migrate(&mut connection, 0).unwrap();
        let mut select = connection
            .prepare(
                "SELECT tables.name || '.' || columns.name || iif(columns.\"notnull\" OR pk, '', ' or null')
                 FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'",
            )
            .unwrap();
        let mut there: Vec<String> = select.query_map([], |row| row.get(0)).unwrap().collect::<Result<_>>().unwrap();
        let name = |table: &CheckedTable, column: &CheckedColumn| {
            format!("{}.{}{}", table.name, column.name, if column.is_optional { " or null" } else { "" })
        };
        let tables = all(&connection).unwrap();
        let columns = tables.iter().flat_map(|table| table.columns.iter().map(|column| name(table, column)));
        let mut here: Vec<_> = columns.collect();
        here.sort();
        there.sort();
        assert_eq!(here, there);
    }

    #[test]
    fn every_end_is_a_word() {
        use crate::engine::RunEnd;
        for end in [RunEnd::Drained, RunEnd::Budget, RunEnd::Unreachable, RunEnd::Loss, RunEnd::Failed] {
            assert!(ENDS.contains(&end.as_str()));
        }
    }
}
