//! [`Sources`]: which sitemaps of a host the crawl reads, beside the pages that lead to each other.
//!
//! Owns: of each host, whether its sitemaps were looked for in this sequence; and answers to requests for `/sitemap.xml` until the
//! URL has its turn as one of the crawl.
//!
//! Invariants: the sitemaps of a host are looked for once a sequence, when its robots.txt is known. Memory holds few answers.
//!
//! Does not know: robots.txt, how a sitemap is read, and how its URL is admitted.

use std::collections::VecDeque;

use crate::{
    candidate::HostId,
    config::{ListsChoice, SourcesSettings},
    engine::report::{Content, KeptResponse},
    frontier::WorkItem,
    store::{HostSitemaps, HostState, SitemapsRow},
    url::{Origin, WebUrl},
};

/// Sitemaps that one robots.txt may name.
const MOST_NAMED: usize = 1_000;

/// Answers that wait for the turn of their URL, and links of theirs. Beyond it the oldest goes, and its URL is asked for once more.
const MOST_ANSWERS: usize = 16;
const MOST_LINKS: usize = 100_000;

/// Where the sitemap of a host is looked for if robots.txt names none.
const USUAL: &str = "/sitemap.xml";

/// The sitemaps of all hosts.
#[derive(Debug)]
pub(super) struct Sources {
    reads_sitemaps: bool,
    /// Those that the user gave.
    given: Vec<WebUrl>,
    /// Whether an answer may be kept for its URL: not where each answer is handed out as it comes.
    keeps: bool,
    /// By the number of the host.
    hosts: Vec<HostSitemaps>,
    answers: VecDeque<KeptAnswer>,
    /// Hosts that an earlier run has fetched from, and whose sitemaps it did not come to look for.
    left: Vec<HostId>,
}

/// The answer to a guess that was right.
#[derive(Debug)]
struct KeptAnswer {
    url: WebUrl,
    answer: KeptResponse,
    links: usize,
}

/// Sitemaps that are to be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NamedSitemaps {
    /// The host that they are of; `None` where the user gave them.
    pub(super) host: Option<HostId>,
    pub(super) urls: Vec<WebUrl>,
    /// It is the usual place, and was no more than a guess.
    pub(super) is_guessed: bool,
}

/// Where the sitemaps of a host may be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SitemapPlace {
    /// Here.
    Named(NamedSitemaps),
    /// Perhaps here.
    Perhaps(WebUrl),
}

impl Sources {
    /// Those of a run; `keeps` says whether an answer may be kept for its URL.
    pub(super) fn new(settings: &SourcesSettings, has_levels: bool, keeps: bool) -> Self {
        let reads_sitemaps = settings.sitemaps == ListsChoice::On && has_levels;
        let given = settings.sitemap.clone();
        Self { reads_sitemaps, given, keeps, hosts: Vec::new(), answers: VecDeque::new(), left: Vec::new() }
    }

    /// What earlier runs have found out about a host.
    pub(super) fn resume(&mut self, host: &HostState) {
        *self.known(host.id) = host.sitemaps;
        if self.reads_sitemaps && !host.sitemaps.are_asked && host.fetched > 0 && host.robots_fetched.is_some() {
            self.left.push(host.id);
        }
    }

    /// A host of which nothing may be left to fetch, and whose sitemaps are still to be looked for.
    pub(super) fn next_left(&mut self) -> Option<HostId> {
        while let Some(host) = self.left.pop() {
            if !self.known(host).are_asked {
                return Some(host);
            }
        }
        None
    }

    /// The robots.txt of a host is known, with what it says of sitemaps: where they are, if that is still to be looked for.
    pub(super) fn of_host(&mut self, host: HostId, origin: &Origin, lines: &[String]) -> Option<SitemapPlace> {
        if !self.reads_sitemaps || std::mem::replace(&mut self.known(host).are_asked, true) {
            return None;
        }
        let robots = origin.robots_txt();
        let named = lines.iter().take(MOST_NAMED).filter_map(|line| robots.join(line).ok());
        let given = self.given.iter().filter(|url| url.origin() == *origin).cloned();
        let mut urls: Vec<_> = given.chain(named).collect();
        if urls.is_empty() {
            let usual = robots.join(USUAL).ok()?;
            if !self.known(host).is_guessed {
                return Some(SitemapPlace::Perhaps(usual));
            }
            urls.push(usual);
        }
        Some(SitemapPlace::Named(NamedSitemaps { host: Some(host), urls, is_guessed: false }))
    }

    /// Those that the user gave.
    pub(super) fn given(&self) -> Option<NamedSitemaps> {
        let urls = self.given.clone();
        (self.reads_sitemaps && !urls.is_empty()).then_some(NamedSitemaps { host: None, urls, is_guessed: false })
    }

    /// The sitemaps of a host were looked for; what is to be written.
    pub(super) fn settle(&mut self, host: HostId, is_guessed: bool) -> SitemapsRow {
        self.known(host).is_guessed |= is_guessed;
        SitemapsRow { host, is_guessed }
    }

    /// Keeps the answer to a guess that was right until its URL has its turn.
    pub(super) fn keep(&mut self, url: WebUrl, mut answer: KeptResponse) {
        let Content::Page(page) = &mut answer.content else { return };
        // While it waits for its turn, it must hold nothing that others wait for: neither room for links, nor for bodies.
        page.room = None;
        let links = page.links.len();
        if !self.keeps || answer.kept.iter().any(Option::is_some) {
            return;
        }
        self.answers.push_back(KeptAnswer { url, answer, links });
        let links = |answers: &VecDeque<KeptAnswer>| answers.iter().map(|kept| kept.links).sum::<usize>();
        while self.answers.len() > MOST_ANSWERS || links(&self.answers) > MOST_LINKS {
            self.answers.pop_front();
        }
    }

    /// The answer that is kept for a URL of the table.
    pub(super) fn take(&mut self, item: &WorkItem) -> Option<KeptResponse> {
        let at = self.answers.iter().position(|kept| item.purpose.is_counted() && kept.url == item.url)?;
        self.answers.remove(at).map(|kept| kept.answer)
    }

    fn known(&mut self, host: HostId) -> &mut HostSitemaps {
        let place = host.0 as usize;
        if self.hosts.len() <= place {
            self.hosts.resize(place + 1, HostSitemaps::default());
        }
        &mut self.hosts[place]
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::Semaphore;

    use super::*;
    use crate::{
        candidate::{Hop, Ticket},
        engine::report::BodyRecord,
        purpose::Purpose,
    };

    fn sources() -> Sources {
        Sources::new(
            &SourcesSettings { sitemaps: ListsChoice::On, ..crate::config::Settings::default().sources },
            true,
            true,
        )
    }

    fn origin() -> Origin {
        WebUrl::parse("http://h/").unwrap().origin()
    }

    fn named(host: u32, urls: &[&str]) -> SitemapPlace {
        let urls = urls.iter().map(|url| WebUrl::parse(url).unwrap()).collect();
        SitemapPlace::Named(NamedSitemaps { host: Some(HostId(host)), urls, is_guessed: false })
    }

    #[test]
    fn a_host_is_asked_once_for_what_its_robots_txt_names() {
        let mut sources = sources();
        let lines = ["/s.xml", "http://other/s.xml", "mailto:x"].map(str::to_owned);
        assert_eq!(
            sources.of_host(HostId(3), &origin(), &lines),
            Some(named(3, &["http://h/s.xml", "http://other/s.xml"]))
        );
        assert_eq!(sources.of_host(HostId(3), &origin(), &lines), None);
    }

    #[test]
    fn where_none_is_named_the_usual_place_is_tried_and_remembered() {
        let mut one = sources();
        let usual = WebUrl::parse("http://h/sitemap.xml").unwrap();
        assert_eq!(one.of_host(HostId(0), &origin(), &[]), Some(SitemapPlace::Perhaps(usual)));
        assert!(one.settle(HostId(0), true).is_guessed);
        let mut later = sources();
        later.resume(&HostState {
            sitemaps: HostSitemaps { are_asked: false, is_guessed: true },
            robots_fetched: Some(crate::time::Moment::EPOCH),
            fetched: 1,
            ..HostState::default()
        });
        assert_eq!(later.next_left(), Some(HostId(0)), "nothing of it may be left to fetch");
        assert_eq!(later.of_host(HostId(0), &origin(), &[]), Some(named(0, &["http://h/sitemap.xml"])));
        let mut done = sources();
        done.resume(&HostState {
            sitemaps: HostSitemaps { are_asked: true, is_guessed: false },
            fetched: 1,
            ..HostState::default()
        });
        assert_eq!((done.next_left(), done.of_host(HostId(0), &origin(), &[])), (None, None));
    }

    #[test]
    fn a_kept_answer_holds_no_room_and_few_are_kept() {
        let room = Arc::new(Semaphore::new(1));
        let url = |number: usize| WebUrl::parse(&format!("http://h{number}/sitemap.xml")).unwrap();
        let item = |number| WorkItem::discover(Ticket(1), HostId(0), url(number), Hop::Sitemap);
        let answer = |room| {
            let page = BodyRecord { room, ..BodyRecord::default() };
            let content = Content::Page(Box::new(page));
            KeptResponse {
                status: 200,
                address: None,
                took: std::time::Duration::ZERO,
                retry_after: None,
                steady: None,
                wire_bytes: 0,
                truncated: None,
                content,
                kept: Vec::new(),
            }
        };
        let mut sources = sources();
        sources.keep(url(0), answer(Arc::clone(&room).try_acquire_owned().ok()));
        assert_eq!(room.available_permits(), 1, "others may have it");
        (1..=MOST_ANSWERS).for_each(|number| sources.keep(url(number), answer(None)));
        assert!(sources.take(&item(0)).is_none() && sources.take(&item(1)).is_some());
        assert!(sources.take(&WorkItem { purpose: Purpose::Rescue, ..item(2) }).is_none());
        assert!(sources.take(&item(2)).is_some() && sources.take(&item(2)).is_none());
    }

    #[test]
    fn nothing_is_asked_where_sitemaps_are_off() {
        let settings = SourcesSettings { sitemaps: ListsChoice::Off, ..crate::config::Settings::default().sources };
        assert_eq!(Sources::new(&settings, true, true).of_host(HostId(0), &origin(), &[]), None);
        assert_eq!(
            Sources::new(&crate::config::Settings::default().sources, false, true).of_host(HostId(0), &origin(), &[]),
            None
        );
    }
}
