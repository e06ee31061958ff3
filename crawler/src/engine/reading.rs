//! From an answer to the record of its body, and to its links.
//!
//! Owns: what is kept of an answer beside its links, and which answers take long to read.
//!
//! Does not know: how the answer was fetched, and what becomes of the links.

use sha2::{Digest, Sha256};

use super::report::{BodyRecord, shortened};
use crate::{
    extract::{self, LinkLimits, MetaRobots, PageAnchors, PagePart, PartsWanted, RawLinks, Reading},
    fetch::FetchResponse,
    media_type::is_style_sheet,
    queue::{KnownText, Validators},
    store::TextRow,
    url::WebUrl,
};

/// Bodies of this size and more are parsed off the reactor.
const BIG_BODY: usize = 512 * 1024;

/// The longest value that tells of a copy and is kept, in bytes. A server that makes longer ones has its pages fetched whole.
const LONGEST_VALIDATOR: usize = 512;

/// The longest `Content-Type` that is kept, in bytes: no media type with its parameters needs more.
const LONGEST_TYPE: usize = 256;

/// Whether an answer is so large that it is read off the reactor.
pub(super) fn is_big(response: &FetchResponse) -> bool {
    response.body.len() >= BIG_BODY
}

/// The record of a sitemap or a feed, and what it lists.
pub(super) fn list(response: &FetchResponse, agent: &str, links: RawLinks) -> (BodyRecord, Option<RawLinks>) {
    let page = BodyRecord {
        html: false,
        validators: kept_validators(response),
        digest: Sha256::digest(&response.body).into(),
        follows: !header_robots(response, agent).nofollow,
        ..record(response)
    };
    (page, Some(links))
}

/// The record of a page, and its links: of what is not HTML those in the header of the answer.
pub(super) fn page(
    url: &WebUrl,
    response: &FetchResponse,
    agent: &str,
    (reading, known): (&Reading, Option<KnownText>),
) -> (BodyRecord, Option<RawLinks>) {
    let mut page = record(response);
    page.validators = kept_validators(response);
    page.digest = Sha256::digest(&response.body).into();
    let values = response.headers.iter().filter(|(name, _)| &**name == "link").map(|(_, value)| &**value);
    let header = extract::link_header(values, url);
    let keeps_assets = reading.beside.parts == PartsWanted::Candidates;
    if !page.html {
        page.head.name_canonical(header.canonical, url);
        page.head.robots = header_robots(response, agent);
        let text =
            reading.text.as_ref().and_then(|_| extract::plain_text(&response.body, response.content_type(), url));
        page.text = text.map(|text| TextRow::of(&text, known));
        let is_sheet = keeps_assets && is_style_sheet(response.content_type());
        if header.pages.is_empty() && !is_sheet {
            return (page, None);
        }
        page.follows = !page.head.robots.nofollow;
        let mut links = RawLinks::none(url, reading.limits, reading.seed, reading.beside.labels);
        links.add_header(&header.pages);
        if is_sheet {
            let loaded = extract::sheet_parts(&response.body, url, reading.limits).into_iter().map(PagePart::from);
            links.add_assets(&loaded.collect::<Vec<_>>());
        }
        return (page, Some(links));
    }
    let mut scanned = extract::scan(&response.body, response.content_type(), url, reading);
    page.text = scanned.text.take().map(|text| TextRow::of(&text, known));
    page.head = std::mem::take(&mut scanned.head);
    page.head.robots |= header_robots(response, agent);
    page.follows = !page.head.robots.nofollow;
    page.head.name_canonical(header.canonical, url);
    scanned.links.add_header(&header.pages);
    if let Some(canonical) = page.head.canonical.as_deref().filter(|_| reading.follows_canonical) {
        scanned.links.add_canonical(canonical);
    }
    let parts = || extract::parts(&response.body, response.content_type(), url, reading.limits);
    if reading.beside.anchors {
        scanned.links.anchors = Some(anchors(url, response, reading.limits));
    }
    match reading.beside.parts {
        PartsWanted::No => {}
        PartsWanted::Named => scanned.links.parts = parts(),
        PartsWanted::Candidates => scanned.links.add_assets(&parts()),
    }
    (page, Some(scanned.links))
}

/// The anchors of a page. Of one that is cut short the rest may have any name.
pub(super) fn anchors(url: &WebUrl, response: &FetchResponse, limits: LinkLimits) -> PageAnchors {
    let anchors = extract::anchors(&response.body, response.content_type(), url, limits);
    PageAnchors { names: anchors.names.filter(|_| response.truncated.is_none()), ..anchors }
}

/// What a response says of the copy that it is.
pub(super) fn kept_validators(response: &FetchResponse) -> Validators {
    let short = |value: Option<Box<[u8]>>| value.filter(|value| (1..=LONGEST_VALIDATOR).contains(&value.len()));
    let Validators { etag, last_modified } = response.validators();
    Validators { etag: short(etag), last_modified: short(last_modified) }
}

/// What is kept of any body.
pub(super) fn record(response: &FetchResponse) -> BodyRecord {
    BodyRecord {
        content_type: response.content_type().map(|text| shortened(text, LONGEST_TYPE).into()),
        html: extract::is_html(response.content_type(), &response.body),
        bytes: response.body.len() as u64,
        ..BodyRecord::default()
    }
}

fn header_robots(response: &FetchResponse, agent: &str) -> MetaRobots {
    let values = response.headers.iter().filter(|(name, _)| &**name == "x-robots-tag");
    extract::robots_header(values.filter_map(|(_, value)| std::str::from_utf8(value).ok()), agent)
}
