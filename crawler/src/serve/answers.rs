//! [`CrawlAnswers`]: what is asked of a crawl, as JSON.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
};

use data_encoding::HEXLOWER;
use serde_json::{Value, json};

use crate::{
    export::{archived_content, decoded_body},
    extract,
    markdown::MainContent,
    observe::{
        alike::AlikeChanges,
        figures, found,
        summary::{self, SummaryView},
    },
    search::Query,
    session::{
        CommandFailure,
        directory::{self, ArchiveMoment, ArchivedCopy},
    },
    store::{ChangeLine, LinkLine, LinkQuery, ReadSide, Since, StoreError},
    time::Moment,
    url::WebUrl,
};

/// Threads that read the crawl for whoever asks.
pub(super) const READERS: usize = 4;

/// Pages that a search shows, if it is not said how many, and at most.
pub(super) const HITS: u64 = 10;
pub(super) const MOST_HITS: u64 = 100;

/// Changes that are shown at most, the last ones.
const MOST_CHANGES: usize = 1_000;

/// Broken links of a report at most.
const MOST_BROKEN: usize = 200;

/// What a sequence reports.
pub(super) struct CrawlReport {
    pub(super) sequence: u32,
    /// The summary as people read it.
    pub(super) summary: String,
    pub(super) changes: Vec<Value>,
    /// Links to what is broken.
    pub(super) broken: Vec<LinkLine>,
    /// Whether there are more of them.
    pub(super) is_cut: bool,
}

/// Answers about the crawl in a directory. It is read anew for each.
#[derive(Debug, Clone)]
pub(super) struct CrawlAnswers {
    dir: PathBuf,
}

/// An archived page.
pub(super) struct ArchivedPage {
    pub(super) url: WebUrl,
    pub(super) copy: ArchivedCopy,
    /// The body without its codings.
    pub(super) body: Vec<u8>,
}

impl ArchivedPage {
    /// Whether it is HTML.
    pub(super) fn is_html(&self) -> bool {
        extract::is_html(self.copy.content_type.as_deref(), &self.body)
    }

    /// The page as text, in the charset that it names.
    pub(super) fn text(&self) -> String {
        extract::decoded(&self.body, self.copy.content_type.as_deref(), &self.url).into_owned()
    }

    /// What it says; `None` if it is no text.
    pub(super) fn content(&self) -> Option<MainContent> {
        archived_content(&self.body, self.copy.content_type.as_deref(), &self.url)
    }

    /// The status that the server gave.
    pub(super) fn status(&self) -> Option<u16> {
        let line = self.copy.head.split(|byte| *byte == b'\r').next()?;
        std::str::from_utf8(line).ok()?.split(' ').nth(1)?.parse().ok()
    }
}

impl CrawlAnswers {
    /// Of the crawl in this directory.
    pub(super) fn of(dir: &Path) -> Result<Self, CommandFailure> {
        let records = directory::records(dir)?;
        records.last_sequence()?.ok_or_else(|| StoreError::Empty { path: dir.to_owned() })?;
        Ok(Self { dir: dir.to_owned() })
    }

    /// Pages with these words.
    pub(super) fn search(&self, words: &str, limit: Option<u64>) -> Result<Value, CommandFailure> {
        let limit = limit.unwrap_or(HITS);
        if !(1..=MOST_HITS).contains(&limit) {
            return Err(CommandFailure::Usage(format!("limit: give a number from 1 to {MOST_HITS}")));
        }
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let found = directory::records(&self.dir)?.search(&Query::parse(words), limit, None)?;
        let Some(found) = found else {
            let why = "its pages are not indexed: crawl it again with --archive warc, or with search.index on";
            return Err(CommandFailure::Usage(why.to_owned()));
        };
        Ok(found::document(words, &found))
    }

    /// An archived page, the last copy or that of a sequence; `None` if there is none.
    pub(super) fn archived(&self, url: &str, sequence: Option<u32>) -> Result<Option<ArchivedPage>, CommandFailure> {
        let Ok(url) = WebUrl::parse(url) else { return Ok(None) };
        let url = url.without_credentials();
        let moment = sequence.map_or(ArchiveMoment::Last, ArchiveMoment::Sequence);
        let Some(copy) = directory::archived(&self.dir, &url, moment)?.filter(|copy| copy.is_page) else {
            return Ok(None);
        };
        let Ok(body) = decoded_body(&copy.body, copy.coding.as_deref()) else { return Ok(None) };
        Ok(Some(ArchivedPage { url, copy, body }))
    }

    /// The same with what it says.
    pub(super) fn page(&self, url: &str, sequence: Option<u32>) -> Result<Option<Value>, CommandFailure> {
        let Some(page) = self.archived(url, sequence)? else { return Ok(None) };
        let content = page.content();
        let content = content.as_ref();
        Ok(Some(json!({
            "url": page.url.as_str(),
            "title": content.and_then(|content| content.title.as_deref()),
            "status": page.status(),
            "markdown": content.map(|content| content.markdown(&|url| url.as_str().to_owned())),
            "text": content.map(MainContent::text),
            "fetched_at": figures::rfc3339(page.copy.at),
            "sequence": page.copy.sequence,
        })))
    }

    /// What has changed since a sequence, a time, or in the last sequence; the last changes, if there are very many.
    pub(super) fn changes(&self, since: Option<&str>) -> Result<Vec<Value>, CommandFailure> {
        Ok(self.change_lines(since)?.iter().map(change).collect())
    }

    fn change_lines(&self, since: Option<&str>) -> Result<VecDeque<ChangeLine>, CommandFailure> {
        let records = directory::records(&self.dir)?;
        let since = match since.filter(|since| !since.is_empty()) {
            None => Since::Newest(u32::try_from(MOST_CHANGES).unwrap_or(u32::MAX)),
            Some("last") => Since::Sequence(records.last_sequence()?.unwrap_or(0)),
            Some(given) => match (given.parse(), given.parse::<jiff::Timestamp>()) {
                (Ok(sequence), _) => Since::Sequence(sequence),
                (_, Ok(time)) => Since::Moment(time.into()),
                _ => {
                    let why = "since: give last, the number of a sequence, or a time such as 2026-03-01T00:00:00Z";
                    return Err(CommandFailure::Usage(why.to_owned()));
                }
            },
        };
        // The most important ones of the last sequence come first; of several sequences the last one counts.
        let is_last = records.last_sequence()?.is_some_and(|last| since == Since::Sequence(last));
        let mut lines = VecDeque::new();
        records.changes(since, false, |line| {
            if lines.len() == MOST_CHANGES && !is_last {
                lines.pop_front();
            }
            lines.push_back(line);
            lines.len() < MOST_CHANGES || !is_last
        })?;
        Ok(lines)
    }

    /// What the last sequence reports.
    pub(super) fn report(&self) -> Result<CrawlReport, CommandFailure> {
        let stored = directory::summary(&self.dir)?;
        let view = SummaryView { dir: &self.dir, ended: None, next: false, missing: None };
        let mut broken = Vec::new();
        directory::records(&self.dir)?.links(&LinkQuery::Broken, |link| {
            broken.push(link);
            broken.len() <= MOST_BROKEN
        })?;
        let is_cut = broken.len() > MOST_BROKEN;
        broken.truncate(MOST_BROKEN);
        let (mut alike, lines) = (AlikeChanges::default(), self.change_lines(Some("last"))?);
        for line in &lines {
            alike.count(line);
        }
        let changes = lines.into_iter().filter_map(|line| alike.line(line)).map(|line| change(&line)).collect();
        let summary = summary::lines(&stored, &view).text;
        Ok(CrawlReport { sequence: stored.sequence, summary, changes, broken, is_cut })
    }

    /// Where the crawl began.
    pub(super) fn starts(&self) -> Result<String, CommandFailure> {
        let areas = directory::records(&self.dir)?.areas()?;
        Ok(areas.first().map(|area| area.url.clone()).unwrap_or_default())
    }

    /// The summary of the last sequence.
    pub(super) fn status(&self) -> Result<Value, CommandFailure> {
        Ok(summary::document(&directory::summary(&self.dir)?))
    }
}

fn change(line: &ChangeLine) -> Value {
    let digest = |digest: Option<[u8; 32]>| digest.map(|digest| format!("sha256:{}", HEXLOWER.encode(&digest)));
    json!({
        "at": figures::rfc3339(Moment::from_millis(line.at)), "sequence": line.sequence, "change": line.change.as_str(),
        "url": line.url, "to": line.to, "count": line.count, "before": digest(line.before), "after": digest(line.after),
    })
}
