//! The entries of a sitemap or a feed as the links of a page.
//!
//! Owns: what is kept with an entry beside its URL: a label ([`RawLinks::label`]) whose text says what the sitemap says of it, such as
//! `lastmod=2026-01-02T00:00:00Z changefreq=daily priority=0.8`.
//!
//! Does not know: which sitemaps are read.

use jiff::Timestamp;

use super::{
    Element, LinkLimits, RawLinks, ReferenceSeed,
    sitemap::{SourceEntry, SourceFault, SourceKind, SourceList},
};
use crate::{time::Moment, url::WebUrl};

const LASTMOD: &str = "lastmod=";
const PRIORITY: &str = "priority=";

/// What a list of URLs leads to: the pages, or the sitemaps that it names.
pub fn listed(list: &SourceList, url: &WebUrl, limits: LinkLimits, seed: ReferenceSeed) -> RawLinks {
    let Some(kind) = list.kind else { return RawLinks::none(url, limits, seed, true) };
    let mut links = RawLinks::none(url, limits, seed, true).listed_by(kind);
    let entries = if kind == SourceKind::Index { &list.sitemaps } else { &list.entries };
    for entry in entries {
        links.add_entry(&entry.url, element(kind), &note(entry));
    }
    links.leave_out(left_out(list));
    links
}

/// The same, of which nothing is taken.
pub fn none_of(list: &SourceList, url: &WebUrl, limits: LinkLimits, seed: ReferenceSeed) -> RawLinks {
    let mut links = RawLinks::none(url, limits, seed, true);
    links.leave_out(left_out(list) + (list.entries.len() + list.sitemaps.len()) as u64);
    links
}

/// Entries that were not read: those beyond its limits, and as one those after its end.
fn left_out(list: &SourceList) -> u64 {
    let is_cut = list.problems.iter().any(|problem| problem.fault == SourceFault::TooLong);
    list.beyond + u64::from(is_cut)
}

/// When an entry was modified last, by the text of its label.
pub fn listed_lastmod(label: &str) -> Option<Moment> {
    let date = label.split(' ').find_map(|word| word.strip_prefix(LASTMOD))?;
    let millis = date.parse::<Timestamp>().ok()?.as_millisecond();
    u64::try_from(millis).ok().map(Moment::from_millis)
}

/// How an entry is rated among those of its site, from 0 to 1, by the text of its label.
pub fn listed_priority(label: &str) -> Option<f64> {
    label.split(' ').find_map(|word| word.strip_prefix(PRIORITY))?.parse().ok()
}

fn element(kind: SourceKind) -> Element {
    match kind {
        SourceKind::Urlset | SourceKind::Text => Element::Sitemap,
        SourceKind::Index => Element::SitemapIndex,
        SourceKind::Rss | SourceKind::Atom => Element::FeedEntry,
    }
}

/// What the list says of an entry.
fn note(entry: &SourceEntry) -> String {
    let date = |moment: Moment| {
        i64::try_from(moment.millis()).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok())
    };
    let lastmod = entry.lastmod.and_then(date).map(|date| format!("{LASTMOD}{date}"));
    let changefreq = entry.changefreq.map(|frequency| format!("changefreq={}", frequency.word()));
    let priority = entry.priority.map(|priority| format!("{PRIORITY}{priority}"));
    [lastmod, changefreq, priority].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::sitemap::{self, SourceLimits};

    fn links(body: &str) -> RawLinks {
        let url = WebUrl::parse("http://h/sitemap.xml").unwrap();
        let list = sitemap::read(body.as_bytes(), Some("application/xml"), &url, &SourceLimits::default());
        listed(&list, &url, LinkLimits::NONE, ReferenceSeed::random())
    }

    #[test]
    fn an_entry_is_a_link_with_what_is_said_of_it() {
        let entry = "<url><loc>http://h/a</loc><lastmod>2026-01-02</lastmod><changefreq>daily</changefreq><priority>0.8</priority></url>";
        let links = links(&format!("<urlset>{entry}<url><loc>http://h/b</loc></url></urlset>"));
        assert_eq!((links.len(), links.list()), (2, Some(SourceKind::Urlset)));
        let label = |number| links.label(number).map(|label| (label.element, label.text.to_owned()));
        let said = "lastmod=2026-01-02T00:00:00Z changefreq=daily priority=0.8";
        assert_eq!(label(0), Some((Element::Sitemap, said.to_owned())));
        assert_eq!(label(1), Some((Element::Sitemap, String::new())));
        assert_eq!(listed_lastmod(said), Some(Moment::from_millis(1_767_312_000_000)));
        assert_eq!([listed_lastmod("changefreq=daily"), listed_lastmod("lastmod=soon")], [None, None]);
        assert_eq!([said, "priority=", ""].map(listed_priority), [Some(0.8), None, None]);
    }

    #[test]
    fn what_the_limits_leave_out_is_counted() {
        let url = WebUrl::parse("http://h/sitemap.txt").unwrap();
        let read = |limits: SourceLimits| {
            let list = sitemap::read(b"http://h/1\nhttp://h/2\nhttp://h/3", Some("text/plain"), &url, &limits);
            listed(&list, &url, LinkLimits::NONE, ReferenceSeed::random())
        };
        let few = read(SourceLimits { entries: 2, ..SourceLimits::default() });
        assert_eq!((few.len(), few.beyond()), (2, 1));
        let short = read(SourceLimits { bytes: 12, ..SourceLimits::default() });
        assert_eq!((short.len(), short.beyond()), (1, 1));
    }

    #[test]
    fn an_index_leads_to_its_sitemaps() {
        let links = links("<sitemapindex><sitemap><loc>http://h/1.xml</loc></sitemap></sitemapindex>");
        assert_eq!(links.url(0).map(|url| url.to_string()).as_deref(), Some("http://h/1.xml"));
        assert_eq!(links.label(0).map(|label| label.element), Some(Element::SitemapIndex));
    }
}
