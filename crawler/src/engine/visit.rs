//! One lease carried out: fetch, digest, extract, and the pure half of admission. Each visit is a task of its own.
//!
//! Owns: the second request of a lease, for a page that redirects to itself; the work that is done on another thread (bodies of 512 KiB and
//! more, more than 5,000 links); the room for the links of a page.
//!
//! Invariants: a redirect to another page ends the visit; the room for links is taken while the room for the body is held, never the other
//! way round.
//!
//! Does not know: what becomes of the page, and whether its links were seen.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::sync::Semaphore;

use super::{
    judge::Memo,
    lists::{FetchedAs, Lists},
    outcome,
    preparing::{Preparers, apart_if},
    reading,
    report::{BodyRecord, Content, Judging, KeptResponse, VisitLinks},
    sending,
    visit_events::{EventKind, FailedVisit, FetchedPage, Followed, Steering, VisitEvents},
    wanted_types::WantedTypes,
};
use crate::{
    extract::{BesideLinks, LinkKinds, LinkLimits, Omitted, RawLinks, Reading, ReferenceSeed},
    fetch::{BodyRoom, FetchError, FetchRequest, FetchResponse, Fetcher, Head, HeadRule, Identity, Method, ReadBody},
    frontier::Lease,
    purpose::{Body, Purpose},
    queue::{KnownCopy, Validators},
    robots,
    time::Moment,
    url::{Canonicalizer, WebUrl},
};

/// More links than these are judged off it.
const MANY_LINKS: usize = 5_000;

/// The status of an answer without a body: the copy is still good.
const NOT_MODIFIED: u16 = 304;

/// Links of a page that need no room of their own: as many pages as there are requests at once may have so many.
const FEW_LINKS: usize = 500;

/// What is to be done with a lease.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) task: FetchTask,
    /// What it is for.
    pub(super) purpose: Purpose,
    /// Whose it is to look like: to a host that is none of the crawl's, nobody's.
    pub(super) identity: Identity,
    /// The pause that the host has between requests.
    pub(super) pause: Duration,
    /// What it is fetched as.
    pub(super) fetched_as: FetchedAs,
    /// The copy that is known of it.
    pub(super) copy: Option<Arc<KnownCopy>>,
    /// Of a page, where somebody follows the crawl.
    pub(super) followed: Option<Followed>,
}

/// What is to be fetched.
#[derive(Debug, Clone)]
pub(super) enum FetchTask {
    /// Fetch and read a page, or hear that the copy is still good which these tell of.
    Page(WebUrl, Validators),
    /// Fetch a robots.txt.
    Robots(WebUrl),
    /// Find out whether there is an answer.
    Check(WebUrl),
    /// Find out what the answer is, asking so.
    Head(WebUrl, Method),
    /// Find out what is inside.
    Content(WebUrl),
    /// Find out on which machines its host is.
    LookUp(WebUrl),
}

impl Job {
    /// Of this lease, which stays where it is.
    pub(super) fn of(lease: &Lease) -> Self {
        let url = lease.url().clone();
        let task = match lease.purpose().row().body {
            Body::Robots => FetchTask::Robots(url),
            Body::FirstByte => FetchTask::Check(url),
            Body::Head => FetchTask::Head(url, outcome::method(lease.item())),
            Body::Content => FetchTask::Content(url),
            Body::Addresses => FetchTask::LookUp(url),
            Body::Page => FetchTask::Page(url, lease.item().validators().cloned().unwrap_or_default()),
        };
        let copy = lease.item().copy.clone();
        let fetched_as = FetchedAs::of(lease.item());
        Self {
            task,
            purpose: lease.purpose(),
            identity: if lease.is_elsewhere() { Identity::Stranger } else { Identity::Own },
            pause: lease.delay(),
            fetched_as,
            copy,
            followed: None,
        }
    }
}

/// What every visit of a run needs.
pub(super) struct Visitor<F> {
    pub(super) fetcher: F,
    pub(super) max_body: u64,
    /// The longest URL that is kept, in bytes.
    pub(super) max_url_length: usize,
    pub(super) links: LinkLimits,
    /// What counts as a link.
    pub(super) kinds: LinkKinds,
    /// Whether the canonical page that a page names is one of its links.
    pub(super) follows_canonical: bool,
    /// Which answers are read as lists of URLs.
    pub(super) lists: Lists,
    /// The types whose bodies are read.
    pub(super) types: WantedTypes,
    /// Whose turn it is to unpack such a list.
    pub(super) unpacking: Semaphore,
    /// Room for the links of all visits.
    pub(super) link_room: Arc<Semaphore>,
    pub(super) rules: Canonicalizer,
    pub(super) seed: ReferenceSeed,
    /// Where the links of earlier pages lead. A visit that finds it in use goes without.
    pub(super) memo: Arc<Mutex<Memo>>,
    pub(super) agent: Arc<str>,
    /// What is left out of the texts of pages; `None` where no text is kept.
    pub(super) omitted: Option<Arc<Omitted>>,
    /// What is kept of pages beside their links.
    pub(super) beside: BesideLinks,
    /// What the crawl's clock shows.
    pub(super) now: Box<dyn Fn() -> Moment + Send + Sync>,
    /// What hands events to whoever follows the crawl, if anybody does.
    pub(super) events: Option<VisitEvents>,
    /// What makes of an answer what takers keep of it.
    pub(super) preparers: Preparers,
}

/// How a page is read.
struct PageReading {
    judging: Judging,
    fetched_as: FetchedAs,
    copy: Option<Arc<KnownCopy>>,
    followed: Option<Followed>,
    /// The request says which copy is known.
    is_conditional: bool,
}

/// What a request came to.
pub(super) struct Fetched {
    /// Those that reached a server.
    pub(super) requests: u64,
    pub(super) result: Result<FetchResponse, FetchError>,
}

/// What a visit brings back.
#[derive(Debug)]
pub(super) struct Visited {
    /// Requests that reached a server.
    pub(super) requests: u64,
    pub(super) result: Result<KeptResponse, FetchError>,
    /// What is handed out if the URL has failed for good.
    pub(super) failed: Option<Box<FailedVisit>>,
}

impl<F: Fetcher> Visitor<F> {
    /// Carries a lease out.
    pub(super) async fn visit(&self, job: Job, judging: Judging) -> Visited {
        let Job { task, purpose, identity, pause, fetched_as, copy, followed } = job;
        let get = |url, most| FetchRequest { identity, purpose, pause, ..FetchRequest::get(url, most) };
        match task {
            FetchTask::Page(url, validators) => {
                let keep = self.preparers.keeps();
                let rule = self.types.rule(&url, fetched_as);
                let request = FetchRequest { validators, rule, keep, ..get(url, fetched_as.longest(self.max_body)) };
                self.page(request, PageReading { judging, fetched_as, copy, followed, is_conditional: false }).await
            }
            FetchTask::Robots(url) => self.robots(get(url, robots::MAX_BYTES as u64)).await,
            FetchTask::Check(url) => {
                let rule = Some(HeadRule::new(first_byte_of_a_success));
                self.robots(FetchRequest { rule, ..get(url, robots::MAX_BYTES as u64) }).await
            }
            FetchTask::Head(url, method) => self.head(get(url, 0), method).await,
            FetchTask::Content(url) => self.content(get(url, self.max_body)).await,
            FetchTask::LookUp(url) => {
                let addresses = self.fetcher.look_up(&url).await;
                Visited { requests: 0, result: Ok(KeptResponse::of_addresses(addresses)), failed: None }
            }
        }
    }

    async fn robots(&self, request: FetchRequest) -> Visited {
        let url = request.url.clone();
        let Fetched { requests, result } = self.fetch(request).await;
        let result = result.map(|mut response| {
            let location = redirect_target(&url, &response).filter(|to| to.as_str().len() <= self.max_url_length);
            let body = std::mem::take(&mut response.body);
            self.kept(&response, Content::Robots { body, location })
        });
        Visited { requests, result, failed: None }
    }

    async fn page(&self, first: FetchRequest, mut reading: PageReading) -> Visited {
        reading.is_conditional = first.validators != Validators::default();
        let mut url = first.url.clone();
        let (purpose, pause) = (first.purpose, first.pause);
        let keep = first.keep;
        if let (Some(events), Some(followed)) = (&self.events, &mut reading.followed) {
            followed.room = events.room().await;
        }
        let Fetched { mut requests, mut result } = self.fetch(first).await;
        let target = result.as_ref().ok().and_then(|response| redirect_target(&url, response));
        if let Some(itself) = target.filter(|target| self.is_same(target, &url)) {
            // A redirect to the page itself (a cookie, a fragment, another spelling of its key): the second request of the same lease,
            // once. Before it the first answer goes: the second may wait for the room that this one holds.
            drop(result);
            // Its links begin where it is.
            url = itself.clone();
            let again = FetchRequest {
                rule: self.types.rule(&url, reading.fetched_as),
                keep,
                purpose,
                pause,
                ..FetchRequest::get(itself, reading.fetched_as.longest(self.max_body))
            };
            let second = self.fetch(again).await;
            requests += second.requests;
            result = second.result;
            reading.is_conditional = false;
        }
        let result = match result {
            Ok(response) => {
                let (response, kept) = self.preparers.prepare(&url, response).await;
                let answer = self.read(url, response, &mut reading).await;
                Ok(KeptResponse { kept, ..answer })
            }
            Err(error) => Err(error),
        };
        // Nothing was handed out, so it is no page.
        let failed = reading.followed.filter(|followed| !followed.is_rescue).map(|followed| {
            let status = result.as_ref().ok().map(|answer| answer.status);
            Box::new(followed.failed((self.now)(), status))
        });
        Visited { requests, result, failed }
    }

    pub(super) async fn fetch(&self, request: FetchRequest) -> Fetched {
        sending::begins();
        match self.fetcher.fetch(request).await {
            Ok(response) => Fetched { requests: response.requests, result: Ok(response) },
            Err(failure) => Fetched { requests: failure.requests, result: Err(failure.error) },
        }
    }

    async fn read(&self, url: WebUrl, response: FetchResponse, how: &mut PageReading) -> KeptResponse {
        if how.is_conditional && response.status == NOT_MODIFIED {
            let answer = self.kept(&response, Content::NotModified(reading::kept_validators(&response)));
            self.hand(how.followed.take(), EventKind::Unchanged(None)).await;
            return answer;
        }
        if let Some(target) = redirect_target(&url, &response).filter(|target| !self.is_same(target, &url)) {
            let answer = self.kept(&response, Content::Redirect(target.clone()));
            drop(response);
            self.hand(how.followed.take(), EventKind::Redirected(target)).await;
            return answer;
        }
        if !(200..300).contains(&response.status) {
            let leads_to_itself = redirect_target(&url, &response).is_some();
            return self.kept(
                &response,
                Content::Other(Box::new(BodyRecord { leads_to_itself, ..reading::record(&response) })),
            );
        }
        let agent = Arc::clone(&self.agent);
        let (kinds, follows_canonical) = (self.kinds, self.follows_canonical);
        let links = Reading { kinds, follows_canonical, ..Reading::links(self.links, self.seed) };
        let reading = Reading { text: self.omitted.clone(), beside: self.beside, ..links };
        let known = how.copy.as_ref().and_then(|copy| copy.text);
        let (lists, fetched_as) = (self.lists, how.fetched_as);
        let unpacks = lists.unpack((&url, fetched_as), &response);
        // What comes out of it may be large, however small it is: one at a time.
        let turn = if unpacks { self.unpacking.acquire().await.ok() } else { None };
        let (url, response, mut page, mut scanned) = apart_if(unpacks || reading::is_big(&response), move || {
            let listed = lists.read((&url, fetched_as), &response, (reading.limits, reading.seed));
            let (page, scanned) = match listed {
                Some(links) => reading::list(&response, &agent, links),
                None => reading::page(&url, &response, &agent, (&reading, known)),
            };
            (url, response, page, scanned)
        })
        .await;
        drop(turn);
        let answer = self.kept(&response, Content::Page(Box::default()));
        let (steering, room) = self.hand_page(how, response, &page).await;
        self.steer(&url, &mut page, &mut scanned, &steering);
        let page = match scanned {
            Some(links) => self.judge(page, links, how.judging.clone()).await,
            None => page,
        };
        // Held until there is room for its links: so what waits there is little.
        drop(room);
        KeptResponse { content: Content::Page(Box::new(page)), ..answer }
    }

    /// Hands a page to whoever follows the crawl; with the answer the memory of its body, which nobody needs any more then.
    async fn hand_page(
        &self,
        how: &mut PageReading,
        mut response: FetchResponse,
        page: &BodyRecord,
    ) -> (Steering, BodyRoom) {
        let room = std::mem::take(&mut response.room);
        let copy = how.copy.as_ref();
        let fetched = || {
            Box::new(FetchedPage {
                title: page.head.title.clone(),
                digest: page.digest,
                is_new: copy.is_none(),
                response,
            })
        };
        let kind = match copy {
            _ if how.followed.is_none() => return (Steering::default(), room),
            Some(copy) if copy.digest == page.digest => EventKind::Unchanged(Some(fetched())),
            _ => EventKind::Page(fetched()),
        };
        (self.hand(how.followed.take(), kind).await, room)
    }

    /// Hands out what came of a URL, if somebody follows.
    async fn hand(&self, followed: Option<Followed>, kind: EventKind) -> Steering {
        match followed {
            Some(followed) => followed.hand((self.now)(), kind).await,
            None => Steering::default(),
        }
    }

    /// Does with the links of a page as whoever follows the crawl says.
    fn steer(&self, url: &WebUrl, page: &mut BodyRecord, links: &mut Option<RawLinks>, steering: &Steering) {
        let none = || RawLinks::none(url, self.links, self.seed, self.beside.labels);
        if let Some(links) = links.as_mut().filter(|_| steering.skips_links) {
            *links = none();
        }
        if steering.links.is_empty() {
            return;
        }
        let links = links.get_or_insert_with(|| {
            // What has no links of its own does not say either whether they are to be followed.
            page.follows = true;
            none()
        });
        steering.links.iter().for_each(|link| links.add(link));
    }

    /// A page with its links: judged, unless that is to be done later.
    async fn judge(&self, mut page: BodyRecord, raw: RawLinks, judging: Judging) -> BodyRecord {
        let (follows, links) = (page.follows, raw.len());
        if links > FEW_LINKS {
            let room = u32::try_from(links).unwrap_or(u32::MAX);
            page.room = Arc::clone(&self.link_room).acquire_many_owned(room).await.ok();
        }
        let memo = Arc::clone(&self.memo);
        let judge = move || match judging {
            Judging::InVisit(pure) => {
                let mut memo = memo.try_lock().ok();
                VisitLinks::Judged(pure.links(raw, follows, memo.as_deref_mut()))
            }
            Judging::Later => VisitLinks::Raw(Box::new(raw), follows),
        };
        page.links = apart_if(links > MANY_LINKS, judge).await;
        page
    }

    /// What is kept of a response.
    pub(super) fn kept(&self, response: &FetchResponse, content: Content) -> KeptResponse {
        let now = (self.now)();
        KeptResponse {
            status: response.status,
            address: response.remote.map(|remote| remote.ip()),
            took: response.timings.total,
            retry_after: response.retry_after(now),
            steady: response.steady_for(now),
            wire_bytes: response.wire_bytes,
            truncated: response.truncated,
            content,
            kept: Vec::new(),
        }
    }

    /// Whether two URLs are one page.
    pub(super) fn is_same(&self, one: &WebUrl, other: &WebUrl) -> bool {
        self.rules.key(one) == self.rules.key(other)
    }
}

/// Where a 3xx leads, if that is a URL.
pub(super) fn redirect_target(url: &WebUrl, response: &FetchResponse) -> Option<WebUrl> {
    let redirects = matches!(response.status, 301 | 302 | 303 | 307 | 308);
    redirects
        .then(|| response.escaped_location())
        .flatten()
        .and_then(|location| url.join(&location).ok())
        .map(WebUrl::without_credentials)
}

/// How much is read to find out whether a host answers. A success says so with its body: a connection that ends before the
/// first byte of one is no answer. Any other status says what it has to say without.
fn first_byte_of_a_success(head: Head<'_>) -> ReadBody {
    if (200..300).contains(&head.status) { ReadBody::AtMost(1) } else { ReadBody::Nothing }
}
