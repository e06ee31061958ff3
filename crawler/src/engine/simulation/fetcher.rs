//! [`WebFetcher`]: the web as a fetcher sees it at a moment. It answers at once; how long that took is the simulation's.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use xxhash_rust::xxh3::xxh3_64;

use super::{
    crawl::Arrival,
    faults::{Outage, Trouble},
    strain::{Servers, Strain},
    web::{Host, Page, Robots, Web, endless, split},
};
use crate::{
    fetch::{Cause, FetchError, FetchFailure, FetchRequest, FetchResponse, Fetcher, Phase, Truncation},
    url::WebUrl,
};

/// How long a request waits for an answer that does not come.
pub(super) const TIMEOUT: u64 = 30_000;

/// The web at the moment of the next request.
#[derive(Debug)]
pub(super) struct Moments {
    pub(super) web: Web,
    /// Milliseconds from the beginning.
    pub(super) at: u64,
    /// Requests that each page with trouble of its own has had.
    had: HashMap<String, u32>,
    /// How long the last request took, if it was long.
    pub(super) took: Option<u64>,
    /// What the last answer asked for with `Retry-After`, in seconds.
    pub(super) pause: Option<u64>,
    servers: Servers,
    /// The last request, and when it was: a lease may make two at once.
    last: (String, u64),
    /// Where the last request came to.
    pub(super) arrival: Arrival,
}

#[derive(Debug, Clone)]
pub(super) struct WebFetcher(pub(super) Arc<Mutex<Moments>>);

type Answer = Result<FetchResponse, FetchError>;

impl Moments {
    pub(super) fn new(web: Web) -> Self {
        Self {
            web,
            at: 0,
            had: HashMap::new(),
            took: None,
            pause: None,
            servers: Servers::default(),
            last: (String::new(), 0),
            arrival: Arrival::Away,
        }
    }

    fn answer(&mut self, url: &str) -> Answer {
        let Some((origin, path)) = split(url) else { return Err(FetchError::NoName(cause())) };
        self.took = None;
        self.pause = None;
        self.arrival = Arrival::Away;
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
        let is_second = std::mem::replace(&mut self.last, (url.to_owned(), self.at)) == (url.to_owned(), self.at);
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

    fn page(&mut self, url: &str, origin: &str, page: Page) -> Answer {
        let mut had = || {
            let had = self.had.entry(url.to_owned()).or_default();
            *had += 1;
            *had
        };
        let redirect = |to: String| response(301, Some(("location", to)), "");
        match page {
            Page::Missing => Ok(response(404, None, "")),
            Page::Links(links) => Ok(html(&links)),
            Page::Living(changes, links) => {
                let mut page = html(&links);
                let times = changes.partition_point(|change| *change <= self.at);
                page.body.extend(format!("<p>It was changed {times} times.</p>").bytes());
                Ok(page)
            }
            Page::Slow(took, links) => {
                self.took = Some(took);
                Ok(html(&links))
            }
            Page::Redirect(to) => Ok(redirect(to)),
            Page::RedirectUntil(at, one, other) => Ok(redirect(if self.at < at { one } else { other })),
            Page::RedirectToItself => Ok(redirect(url.to_owned())),
            Page::Endless(number) => Ok(redirect(endless(origin, number + 1))),
            Page::Broken => Ok(response(500, None, "")),
            Page::Panics => Err(FetchError::Internal),
            Page::Hangs => self.fail(Trouble::Hangs),
            Page::Flaky(times, links) => {
                let had = had();
                match (had <= times, had.is_multiple_of(2)) {
                    (true, true) => Err(FetchError::Closed(cause())),
                    (true, false) => Ok(response(502, None, "")),
                    (false, _) => Ok(html(&links)),
                }
            }
            Page::Crashes(crash, links) => {
                if had() > crash.times {
                    return Ok(html(&links));
                }
                self.servers.crash(origin, crash, self.at);
                // Who is connected sees the connection end.
                self.fail(if crash.trouble == Trouble::Refused { Trouble::Closed } else { crash.trouble })
            }
            Page::Cut(times, links) => {
                let (had, mut whole) = (had(), html(&links));
                if had <= times {
                    whole.body.truncate(whole.body.len() / 2);
                    whole.truncated = Some(Truncation::Disconnect);
                }
                Ok(whole)
            }
        }
    }

    /// The last request ends at a moment.
    pub(super) fn ends(&mut self, origin: &str, until: u64) {
        if self.arrival == Arrival::Served {
            self.servers.serves(origin, until);
        }
    }

    fn fail(&mut self, trouble: Trouble) -> Answer {
        match trouble {
            Trouble::NoName => Err(FetchError::NoName(cause())),
            Trouble::Refused => Err(FetchError::Refused(cause())),
            Trouble::NoRoute => Err(FetchError::NoRoute(cause())),
            Trouble::Tls => Err(FetchError::Tls(cause())),
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

impl Fetcher for WebFetcher {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchFailure> {
        let answer = self.0.lock().unwrap().answer(request.url.as_str());
        let answer = answer.map_err(|error| {
            let requests = u64::from(had_connection(&error));
            error.after(requests)
        })?;
        let answer = with_validators(answer, &request);
        Ok(FetchResponse { final_url: request.url, ..answer })
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
    !matches!(error, NoName(_) | Refused(_) | NoRoute(_) | Tls(_))
}

fn cause() -> Cause {
    Cause::new("as the seed says")
}

fn robots(host: &Host, at: u64) -> FetchResponse {
    let file = |rules: &str| response(200, None, &format!("User-agent: *\n{rules}\n"));
    match &host.robots {
        Robots::Missing => response(404, None, ""),
        Robots::ForbidsPrivate => file("Disallow: /private"),
        Robots::CrawlDelay(seconds) => file(&format!("Crawl-delay: {seconds}")),
        Robots::Changes if Robots::forbids_at(at) => file("Disallow: /private"),
        Robots::Changes => file("Disallow: /nothing"),
        Robots::At(there) => response(302, Some(("location", format!("{there}/robots.txt"))), ""),
    }
}

fn html(links: &[String]) -> FetchResponse {
    let links = links.iter().fold(String::new(), |html, link| html + "<a href=\"" + link + "\">x</a>");
    response(200, Some(("content-type", "text/html".to_owned())), &links)
}

fn response(status: u16, header: Option<(&str, String)>, body: &str) -> FetchResponse {
    FetchResponse {
        headers: header.into_iter().map(|(name, value)| (name.into(), value.into_bytes().into())).collect(),
        body: body.as_bytes().to_vec(),
        wire_bytes: body.len() as u64,
        ..FetchResponse::new(WebUrl::parse("http://simulated/").unwrap(), status)
    }
}
