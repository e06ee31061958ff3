//! Whether each link that leaves the scope has the finding that the web gives it.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::super::{
    crawl::{Request, SimulatedCrawl, What},
    spelling::of_web,
    web::{Permission, SimulatedPage, is_outside, split},
};
use crate::{config::CheckChoice, purpose::Purpose, store::sqlite::Records, url::WebUrl};

/// What is said of a URL.
struct Finding {
    outcome: Option<String>,
    target: Option<String>,
    is_linked_to: bool,
    /// A link leads to a name on its page, and that was not read.
    is_unread: bool,
}

/// Judges a sequence that is complete.
pub(super) fn judge(crawl: &SimulatedCrawl) -> Result<(), String> {
    let checks = |request: &&Request| request.purpose.is_link_check();
    if crawl.settings.check.external == CheckChoice::Off {
        return crawl.in_sequence().find(checks).map_or(Ok(()), |request| Err(format!("{request:?} was sent")));
    }
    let records = Records::open(crawl.folder.path()).map_err(|error| error.to_string())?;
    let connection = records.connection();
    let found = read(connection, crawl.sequence).map_err(|error| error.to_string())?;
    for (url, finding) in &found {
        let said = finding.outcome.as_deref().ok_or_else(|| format!("{url} was not checked"))?;
        let expected = expected(crawl, url);
        if !expected.contains(&said) {
            return Err(format!("the link to {url} is {said}, and should be one of {expected:?}"));
        }
        if said == "checked" && finding.is_unread && is_out(url) {
            return Err(format!("{url} was not read"));
        }
        let missing = finding.target.as_ref().filter(|to| is_out(to) && !found.contains_key(*to));
        if let Some(target) = missing {
            return Err(format!("{url} leads to {target}, which was not checked"));
        }
    }
    each_link(crawl, connection, &found)?;
    once(crawl)
}

fn read(connection: &Connection, sequence: u32) -> rusqlite::Result<BTreeMap<String, Finding>> {
    let query = "SELECT url, iif(checked_in = ?1, outcome, NULL), target, redirects, reads AND names IS NULL FROM link_check WHERE wanted_in = ?1";
    let mut select = connection.prepare(query)?;
    let mut rows = select.query([sequence])?;
    let mut found = BTreeMap::<String, Finding>::new();
    while let Some(row) = rows.next()? {
        let key = |url: String| of_web(&WebUrl::parse(&url).unwrap());
        let finding = Finding {
            outcome: row.get(1)?,
            target: row.get::<_, Option<String>>(2)?.map(key),
            is_linked_to: row.get::<_, u32>(3)? == 0,
            is_unread: row.get(4)?,
        };
        // Another spelling of it may be the end of a redirect.
        let other = found.remove(&key(row.get(0)?)).is_some_and(|other| other.is_linked_to);
        found.insert(key(row.get(0)?), Finding { is_linked_to: finding.is_linked_to || other, ..finding });
    }
    Ok(found)
}

fn is_out(url: &str) -> bool {
    split(url).is_some_and(|(origin, _)| is_outside(origin))
}

/// What may have become of a URL.
fn expected(crawl: &SimulatedCrawl, url: &str) -> Vec<&'static str> {
    let (origin, path) = split(url).expect("a URL of the web");
    // A redirect into the crawl may lead to what was not fetched there.
    let Some(host) = crawl.web.hosts.get(origin).filter(|_| is_outside(origin)) else {
        return vec!["checked", "redirected", "broken", "failed", "abandoned"];
    };
    // URLs that fail may have their host given up, and an outage may outlast it.
    let fails =
        |page: &SimulatedPage| matches!(page, SimulatedPage::Broken | SimulatedPage::Hangs | SimulatedPage::Flaky(..));
    let may_fail = !is_well(crawl, origin) || host.pages.values().any(fails) || asked_for_long(crawl, origin);
    if crawl.web.permission(origin, path) == Permission::Refused {
        return if may_fail { vec!["abandoned", "failed"] } else { vec!["abandoned"] };
    }
    let mut expected = match host.pages.get(path) {
        None => vec!["broken"],
        Some(SimulatedPage::Endless(_)) => vec!["redirected", "broken"],
        Some(SimulatedPage::Redirect(_)) => vec!["redirected"],
        Some(SimulatedPage::Broken) => vec!["broken", "failed"],
        Some(SimulatedPage::Hangs) => vec!["failed"],
        Some(_) => vec!["checked"],
    };
    if may_fail {
        expected.extend(["failed", "broken"]);
    }
    expected
}

fn is_well(crawl: &SimulatedCrawl, origin: &str) -> bool {
    let host = &crawl.web.hosts[origin];
    host.outages.is_empty() && host.robots_outages.is_empty() && host.strain.is_none()
}

/// Whether a host has asked for a pause for which links do not wait, also in an earlier sequence.
fn asked_for_long(crawl: &SimulatedCrawl, origin: &str) -> bool {
    let is_long = |request: &Request| request.origin == origin && request.pause.is_some_and(|seconds| seconds > 120);
    crawl.requests.iter().any(is_long)
}

/// Each link of a stored page is checked, and nothing else but what redirects lead to.
fn each_link(crawl: &SimulatedCrawl, connection: &Connection, found: &BTreeMap<String, Finding>) -> Result<(), String> {
    // Links of pages that are fetched after the sequence are checked in the next.
    if crawl.between.is_some() {
        return Ok(());
    }
    let query = "SELECT coalesce(key, url.url) FROM url JOIN visit ON visit.id = url.visit
                 WHERE outcome = 'stored' AND state = 'finished' AND admitted_in = ?";
    let mut select = connection.prepare(query).unwrap();
    let stored = select.query_map([crawl.sequence], |row| row.get::<_, String>(0)).unwrap();
    for page in stored.map(Result::unwrap) {
        let (origin, path) = split(&page).expect("a URL of the web");
        let made = crawl.web.hosts.get(origin).and_then(|host| host.pages.get(path));
        let links = made.and_then(SimulatedPage::links).unwrap_or_default();
        let missing = |to: &&String| is_out(to) && !found.get(*to).is_some_and(|finding| finding.is_linked_to);
        if let Some(link) = links.iter().find(missing) {
            return Err(format!("{link} on {page} is not checked"));
        }
    }
    let all = crawl.web.hosts.values().flat_map(|host| host.pages.values());
    let linked: Vec<&String> = all.flat_map(SimulatedPage::all_links).collect();
    let unknown = |(url, finding): &(&String, &Finding)| finding.is_linked_to && !linked.contains(url);
    match found.iter().find(unknown) {
        // Until a page is fetched again, its earlier copy counts.
        _ if crawl.web.is_later => Ok(()),
        Some((url, _)) => Err(format!("{url} was checked, and nobody links to it")),
        None => Ok(()),
    }
}

/// What has its answer is not asked for once more, but that its page is read.
fn once(crawl: &SimulatedCrawl) -> Result<(), String> {
    if crawl.world.lock().unwrap().spells {
        return Ok(());
    }
    let mut answered: BTreeMap<(&str, bool), &Request> = BTreeMap::new();
    for request in crawl.in_sequence().filter(|request| request.purpose.is_link_check()) {
        let key = (&*request.url, request.purpose == Purpose::ContentCheck);
        if let Some(known) = answered.get(&key) {
            return Err(format!("{request:?} has had its answer: {known:?}"));
        }
        let is_good = request.page.is_some() || request.location.is_some();
        let is_kept = crawl.past[usize::try_from(request.run - 1).expect("few runs")].end.is_some();
        if is_good && is_kept && request.is_heard && request.what == What::Final {
            answered.insert(key, request);
        }
    }
    Ok(())
}
