//! [`World`]: the web as its servers have it, what they were asked, and [`WebFetcher`], through which a crawl asks
//! them.

mod pages;

use std::{
    collections::HashMap,
    net::IpAddr,
    panic::resume_unwind,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use tokio::time::sleep;
use xxhash_rust::xxh3::xxh3_64;

use super::{
    Random,
    faults::{Outage, Trouble},
    follower::Follower,
    offline::Offline,
    spelling::of_web,
    strain::{Servers, Strain},
    time,
    web::{Host, SimulatedPage, SimulatedRobots, Web, split},
};
use crate::{
    engine::{Gated, MachineReading, StopSignal},
    fetch::{
        AsSent, Cause, FetchError, FetchFailure, FetchRequest, FetchResponse, Fetcher, Method, Phase, RawHead,
        Truncation, resolve::HostAddresses,
    },
    purpose::Purpose,
    url::WebUrl,
};

/// How long a request waits for an answer that does not come, in milliseconds.
pub(super) const TIMEOUT: u64 = 30_000;

/// A request as the servers saw it.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) run: u64,
    pub(super) sequence: u32,
    /// How often pages of the sequence were visited once more before.
    pub(super) origin: String,
    pub(super) url: String,
    pub(super) purpose: Purpose,
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) what: What,
    /// What became of it.
    pub(super) reach: Arrival,
    /// The pause that its answer asked for, in seconds.
    pub(super) pause: Option<u64>,
    /// When its lease was granted.
    pub(super) granted: u64,
    /// It follows another of the same lease at once: a page that leads to itself.
    pub(super) is_second: bool,
    /// What was sent, if it was a page.
    pub(super) page: Option<Sent>,
    /// Where it leads, if it is a redirect.
    pub(super) location: Option<String>,
    /// Bytes of the body.
    pub(super) bytes: u64,
    /// Whether whoever asked was still there when the answer came.
    pub(super) is_heard: bool,
}

impl Request {
    /// Whether its answer may be that of a URL of the crawl. That of a guess that was right is.
    pub(super) fn is_look(&self) -> bool {
        self.purpose.is_counted() || self.purpose.is_due() || self.purpose == Purpose::Guess
    }
}

/// A page as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sent {
    /// SHA-256 of its body; `None` where the copy was still good.
    pub(super) digest: Option<[u8; 32]>,
    pub(super) links: Vec<String>,
    /// Whether it says anything of links: it is a page, and they may be followed.
    pub(super) follows: bool,
}

/// What its answer was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// The last word on its URL.
    Final,
    /// It led its URL to itself: the next of the same lease counts.
    ToItself,
    /// A body that was cut short.
    Cut,
    /// None, or one that says that it cannot serve now.
    Trouble,
}

/// Where a request came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// Its server was at work on it.
    Served,
    /// Its server does not bear so many.
    Refused,
    /// Its server was away, or down.
    Away,
}

/// The web, and what it was asked.
#[derive(Debug)]
pub(super) struct World {
    pub(super) web: Web,
    pub(super) requests: Vec<Request>,
    /// The number of the present run, from 1.
    pub(super) run: u64,
    pub(super) sequence: u32,
    random: Random,
    /// Times in which the crawl's own machine can make no request, from and to, in milliseconds from the beginning.
    pub(super) own_faults: Vec<(u64, u64)>,
    /// From and to when the disk is nearly full and when memory is short.
    pub(super) scarce: [Option<(u64, u64)>; 2],
    /// When it is offline while links are checked.
    pub(super) offline: Option<Offline>,
    /// The longest that a request waits for its turn among other crawls, in milliseconds.
    pub(super) longest_wait: u64,
    /// When a request for each URL was asked for last.
    granted: HashMap<String, u64>,
    /// Requests that each page with trouble of its own has had.
    had: HashMap<String, u32>,
    servers: Servers,
    /// Of the request being answered: when it came, how long it takes, if that is long, and what its answer asks for with
    /// `Retry-After`, in seconds.
    at: u64,
    took: Option<u64>,
    pause: Option<u64>,
    arrival: Arrival,
    links: Vec<String>,
    /// Of the page being answered: what its links are spelled by, where they are.
    spelling: Option<u64>,
    /// Whether links are written in several spellings.
    pub(super) spells: bool,
    /// What follows the crawl, if anything does.
    pub(super) follower: Option<Follower>,
}

/// Notes when leases were granted, whose requests may wait for the rate then.
pub(super) struct Granted {
    pub(super) world: Arc<Mutex<World>>,
    pub(super) gated: Gated<WebFetcher>,
}

#[derive(Debug, Clone)]
pub(super) struct WebFetcher {
    pub(super) world: Arc<Mutex<World>>,
    pub(super) stop: StopSignal,
}

type Answer = Result<FetchResponse, FetchError>;

impl World {
    pub(super) fn new(web: Web, random: Random) -> Self {
        Self {
            web,
            requests: Vec::new(),
            run: 0,
            sequence: 0,
            random,
            own_faults: Vec::new(),
            scarce: [None; 2],
            offline: None,
            longest_wait: 0,
            granted: HashMap::new(),
            had: HashMap::new(),
            servers: Servers::default(),
            at: 0,
            took: None,
            pause: None,
            arrival: Arrival::Away,
            links: Vec::new(),
            spelling: None,
            spells: false,
            follower: None,
        }
    }

    /// Another web takes the place of this one.
    pub(super) fn change(&mut self, web: Web) {
        (self.web, self.servers) = (web, Servers::default());
        self.had.clear();
    }

    /// The next sequence begins within the run.
    pub(super) fn begin_sequence(&mut self) {
        self.sequence += 1;
    }

    /// A request comes at a moment; its answer, and after how long it is there.
    fn ask(&mut self, request: &FetchRequest, granted: u64, at: u64) -> (Answer, u64) {
        let url = &*of_web(&request.url);
        self.spelling = self.spells.then(|| xxh3_64(url.as_bytes()));
        (self.at, self.took, self.pause, self.arrival) = (at, None, None, Arrival::Away);
        self.links.clear();
        if let Some(follower) = &mut self.follower {
            follower.withheld.remove(url);
        }
        let origin = request.url.origin().as_str().to_owned();
        let leads_to_itself = self.leads_to_itself(url);
        let is_second = leads_to_itself && self.is_second(url, granted);
        let answer = match self.offline.as_mut().and_then(|offline| offline.asked(request.purpose, at)) {
            Some(trouble) => self.fail(trouble),
            None => self.answer(url, is_second).map(|answer| with_validators(answer, request)),
        };
        let answer = if request.method == Method::Head { answer.map(without_body) } else { answer };
        let took = self.took.unwrap_or_else(|| 1 + self.random.below(60));
        if self.arrival == Arrival::Served {
            self.servers.serves(&origin, at + took);
        }
        let is_robots = request.purpose == Purpose::Robots;
        tracing::debug!(url, purpose = ?request.purpose, at, took, what = ?what(&answer, is_robots), links = ?self.links, "asked");
        let page = self.sent(&answer);
        let what = match what(&answer, is_robots) {
            What::Final if leads_to_itself && !is_second => What::ToItself,
            what => what,
        };
        self.requests.push(Request {
            run: self.run,
            sequence: self.sequence,
            origin,
            url: url.to_owned(),
            purpose: request.purpose,
            from: at,
            to: at + took,
            what,
            reach: self.arrival,
            pause: self.pause,
            granted,
            is_second,
            page,
            location: answer.as_ref().ok().and_then(|answer| location(&request.url, answer)),
            bytes: answer.as_ref().map_or(0, |answer| answer.wire_bytes),
            is_heard: false,
        });
        (answer, took)
    }

    /// Whether a request is made at once after another that led its URL to itself.
    fn is_second(&self, url: &str, granted: u64) -> bool {
        let last = self.requests.iter().rev().take_while(|last| last.run == self.run).find(|last| last.url == url);
        last.is_some_and(|last| last.to == granted && last.what == What::ToItself)
    }

    fn leads_to_itself(&self, url: &str) -> bool {
        let page = || {
            let (origin, path) = split(url)?;
            self.web.hosts.get(origin)?.pages.get(path)
        };
        matches!(page(), Some(SimulatedPage::RedirectToItself))
    }

    /// What the answer holds, if it is a page.
    fn sent(&mut self, answer: &Answer) -> Option<Sent> {
        use sha2::{Digest, Sha256};
        let answer = answer.as_ref().ok().filter(|answer| matches!(answer.status, 200 | 304))?;
        let whole = answer.status == 200 && answer.truncated.is_none();
        let digest = whole.then(|| Sha256::digest(&answer.body).into());
        // Without a body it says that the links are those of before.
        let is_html =
            || answer.content_type().is_some_and(|text| text.starts_with("text/html") || text == "application/xml");
        let is_page = answer.status == 304 || (is_html() && !answer.body.is_empty());
        let follows = is_page && answer.headers.iter().all(|(name, _)| &**name != "x-robots-tag");
        Some(Sent { digest, links: std::mem::take(&mut self.links), follows })
    }

    /// How long a request waits before it is sent.
    fn wait(&mut self) -> u64 {
        if self.longest_wait > 0 && self.random.percent(30) { self.random.below(self.longest_wait) } else { 0 }
    }

    /// What is left of the machine at a moment.
    pub(super) fn machine(&self, at: u64) -> MachineReading {
        let is_scarce = self.scarce.map(|scarce| scarce.is_some_and(|(from, to)| (from..to).contains(&at)));
        let plenty = |is_scarce: bool, few| if is_scarce { few } else { 1 << 30 };
        let [disk, memory] = is_scarce;
        MachineReading {
            free_disk: Some(plenty(disk, 1 << 20)),
            whole_disk: None,
            memory: Some((1 << 30) - plenty(memory, 1 << 20)),
        }
    }

    fn own_machine_fails(&self, at: u64) -> bool {
        self.own_faults.iter().any(|(from, to)| (*from..*to).contains(&at))
    }

    fn answer(&mut self, url: &str, is_second: bool) -> Answer {
        let Some((origin, path)) = split(url) else { return Err(FetchError::NoName(cause())) };
        let by_http = origin.replace("https:", "http:");
        // Where nothing listens, nothing answers that it cannot serve now.
        let speaks = self.web.hosts.contains_key(origin);
        let trouble = self.web.trouble(&by_http, self.at).filter(|trouble| speaks || *trouble == Trouble::NoName);
        if let Some(trouble) = trouble {
            return self.fail(trouble);
        }
        let Some(host) = self.web.hosts.get(origin) else {
            // Nothing listens there but the same by `http`.
            let known = self.web.hosts.contains_key(&by_http);
            return Err(if known { FetchError::Refused(cause()) } else { FetchError::NoName(cause()) });
        };
        let is_robots = path == "/robots.txt";
        let strain = host.strain.filter(|strain: &Strain| !(is_robots && strain.serves_robots));
        if let Some(trouble) = self.servers.asked(origin, strain.filter(|_| !is_second), self.at) {
            if strain.is_some_and(|strain| strain.refusal == trouble) {
                self.arrival = Arrival::Refused;
            }
            return self.fail(trouble);
        }
        self.arrival = Arrival::Served;
        if is_robots {
            let away =
                host.robots_outages.iter().find(|outage| outage.holds(self.at)).map(|outage: &Outage| outage.trouble);
            return match away {
                Some(trouble) => self.fail(trouble),
                None => Ok(robots(host, self.at)),
            };
        }
        let Some(page) = host.pages.get(path).cloned() else { return Ok(response(404, None, "")) };
        self.page(url, origin, page)
    }

    fn fail(&mut self, trouble: Trouble) -> Answer {
        match trouble {
            Trouble::NoName => Err(FetchError::NoName(cause())),
            Trouble::Refused => Err(FetchError::Refused(cause())),
            Trouble::NoRoute => Err(FetchError::NoRoute(cause())),
            Trouble::Tls => Err(FetchError::Tls(crate::health::TlsFault::Other, cause())),
            Trouble::Closed => Err(FetchError::Closed(cause())),
            Trouble::Hangs => {
                self.took = Some(TIMEOUT);
                Err(FetchError::TimedOut(Phase::FirstByte))
            }
            Trouble::Status(status, pause) => {
                self.pause = pause.seconds();
                Ok(response(
                    status,
                    pause.header().map(|pause| ("retry-after", pause)),
                    "<a href=\"/not-a-page\">x</a>",
                ))
            }
        }
    }
}

impl Fetcher for Granted {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchFailure> {
        self.world.lock().unwrap().granted.insert(of_web(&request.url), time::now());
        self.gated.fetch(request).await
    }

    async fn look_up(&self, url: &WebUrl) -> HostAddresses {
        self.gated.look_up(url).await
    }
}

impl WebFetcher {
    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }
}

impl Fetcher for WebFetcher {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchFailure> {
        let (granted, wait) = {
            let mut world = self.world();
            (world.granted[&of_web(&request.url)], world.wait())
        };
        if wait > 0 {
            let mut stop = self.stop.clone();
            tokio::select! {
                biased;
                _ = stop.asked() => return Err(FetchError::Withdrawn.after(0)),
                () = sleep(Duration::from_millis(wait)) => {}
            }
        }
        let at = time::now();
        if self.world().own_machine_fails(at) {
            return Err(FetchError::OwnMachine(cause()).after(0));
        }
        let (answer, took) = self.world().ask(&request, granted, at);
        let number = self.world().requests.len() - 1;
        sleep(Duration::from_millis(took)).await;
        self.world().requests[number].is_heard = true;
        let answer = answer.map_err(|error| {
            if matches!(error, FetchError::Internal) {
                // As a bug of ours would, without the message.
                resume_unwind(Box::new("as the seed says"));
            }
            let requests = u64::from(had_connection(&error));
            error.after(requests)
        })?;
        let as_sent = request.keep.body_as_sent.then_some(AsSent::Body);
        let raw_head = request.keep.raw_head.then(|| raw_head(&answer));
        Ok(FetchResponse { final_url: request.url, as_sent, raw_head, ..answer })
    }

    async fn look_up(&self, url: &WebUrl) -> HostAddresses {
        HostAddresses::of(vec![machine(url.host())])
    }
}

/// What an archive keeps of the heads.
fn raw_head(answer: &FetchResponse) -> RawHead {
    let line = |(name, value): &(Box<str>, Box<[u8]>)| [name.as_bytes(), b": ", value, b"\r\n"].concat();
    let lines: Vec<u8> = answer.headers.iter().flat_map(line).collect();
    let bytes = [format!("HTTP/1.1 {} \r\n", answer.status).as_bytes(), &lines, b"\r\n"].concat();
    RawHead { bytes: bytes.into(), as_sent: true, request: b"GET / HTTP/1.1\r\n\r\n".as_slice().into() }
}

/// The machine that a host of this name is on.
pub(super) fn machine(name: &str) -> IpAddr {
    IpAddr::from([10, 0, 0, u8::try_from(xxh3_64(name.as_bytes()) % 2).expect("it is 0 or 1")])
}

fn without_body(answer: FetchResponse) -> FetchResponse {
    FetchResponse { body: Vec::new(), wire_bytes: 0, ..answer }
}

fn location(url: &WebUrl, answer: &FetchResponse) -> Option<String> {
    let (_, to) = answer.headers.iter().find(|(name, _)| &**name == "location")?;
    url.join(std::str::from_utf8(to).ok()?).ok().map(|to| of_web(&to))
}

/// What an answer is to a crawl that asks for it.
fn what(answer: &Answer, is_robots: bool) -> What {
    match answer {
        Err(FetchError::Internal) => What::Final,
        Err(_) => What::Trouble,
        Ok(answer) if matches!(answer.status, 429 | 500..) => What::Trouble,
        Ok(answer) if !is_robots && answer.truncated.is_some_and(Truncation::may_pass) => What::Cut,
        Ok(_) => What::Final,
    }
}

/// Most pages have an `ETag`, which follows from their body; where that is known, it is not sent.
fn with_validators(mut answer: FetchResponse, request: &FetchRequest) -> FetchResponse {
    let hash = xxh3_64(&answer.body);
    if answer.status != 200 || hash.is_multiple_of(4) || answer.truncated.is_some() {
        return answer;
    }
    let etag: Box<[u8]> = format!("\"{hash:x}\"").into_bytes().into();
    if request.validators.etag.as_ref() == Some(&etag) {
        return FetchResponse { headers: vec![("etag".into(), etag)], ..response(304, None, "") };
    }
    answer.headers.push(("etag".into(), etag));
    answer
}

/// Whether there was one to send a request on.
fn had_connection(error: &FetchError) -> bool {
    use FetchError::{NoName, NoRoute, Refused, Tls};
    !matches!(error, NoName(_) | Refused(_) | NoRoute(_) | Tls(..))
}

fn cause() -> Cause {
    Cause::new("as the seed says")
}

fn robots(host: &Host, at: u64) -> FetchResponse {
    let sitemap = host.sitemap.as_ref().map(|path| format!("Sitemap: {path}\n")).unwrap_or_default();
    let file = |rules: &str| response(200, None, &format!("User-agent: *\n{rules}\n{sitemap}"));
    match &host.robots {
        SimulatedRobots::Missing if host.sitemap.is_some() => file(""),
        SimulatedRobots::Missing => response(404, None, ""),
        SimulatedRobots::ForbidsPrivate => file("Disallow: /private"),
        SimulatedRobots::CrawlDelay(seconds) => file(&format!("Crawl-delay: {seconds}")),
        SimulatedRobots::Changes if SimulatedRobots::forbids_at(at) => file("Disallow: /private"),
        SimulatedRobots::Changes => file("Disallow: /nothing"),
        SimulatedRobots::At(there) => response(302, Some(("location", format!("{there}/robots.txt"))), ""),
    }
}

fn response(status: u16, header: Option<(&str, String)>, body: &str) -> FetchResponse {
    FetchResponse {
        headers: header.into_iter().map(|(name, value)| (name.into(), value.into_bytes().into())).collect(),
        body: body.as_bytes().to_vec(),
        wire_bytes: body.len() as u64,
        ..FetchResponse::new(WebUrl::parse("http://simulated/").unwrap(), status)
    }
}
