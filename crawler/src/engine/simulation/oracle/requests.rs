//! Whether the requests to each host kept to its limits.

use std::{collections::BTreeMap, net::IpAddr};

use super::super::{
    crawl::{Request, SimulatedCrawl, What},
    faults::{MINUTE, Outage, SECOND},
    web::{Excluded, Permission, SimulatedRobots, is_outside},
    world::machine,
};
use crate::{config::ShareChoice, engine::RunEnd, purpose::Purpose, url::WebUrl};

/// Between sequences the machine is read so often.
const LONGEST_TICK: u64 = 30 * SECOND;

/// Requests to an unhealthy host in the first half minute.
const MOST_AT_FIRST: usize = 12;

/// Judges the requests of the last sequence.
pub(super) fn judge(crawl: &SimulatedCrawl) -> Result<(), String> {
    removed(crawl)?;
    rate(crawl)?;
    scarcity(crawl)?;
    machines(crawl)?;
    let mut hosts: BTreeMap<&str, Vec<&Request>> = BTreeMap::new();
    for request in crawl.in_sequence() {
        hosts.entry(&request.origin).or_default().push(request);
    }
    for (origin, requests) in &hosts {
        slots_and_delay(crawl, origin, requests)?;
        after_a_start(crawl, origin, requests)?;
        asked_for(crawl, requests)?;
        if let Some(host) = crawl.web.hosts.get(*origin) {
            host.outages.iter().try_for_each(|outage| little(crawl, outage, requests))?;
            if host.robots == SimulatedRobots::Changes {
                newest_rules(crawl, origin, requests)?;
            }
        }
        let mut urls: BTreeMap<&str, Vec<&Request>> = BTreeMap::new();
        for request in requests {
            urls.entry(&request.url).or_default().push(request);
        }
        urls.values().try_for_each(|requests| once(crawl, requests))?;
    }
    Ok(())
}

/// What was removed is not asked for again.
fn removed(crawl: &SimulatedCrawl) -> Result<(), String> {
    let (Excluded::Removed(urls), Some(from)) = (crawl.excluded, crawl.removes) else { return Ok(()) };
    let asked = crawl.requests.iter().find(|request| request.run >= from && urls.contains(&request.url));
    asked.map_or(Ok(()), |request| Err(format!("{} was removed, and asked for as {:?}", request.url, request.purpose)))
}

/// No more requests in any second than there may be.
fn rate(crawl: &SimulatedCrawl) -> Result<(), String> {
    let Some(most) = crawl.settings.politeness.max_rate.map(|most| most.get() as usize) else { return Ok(()) };
    for run in 1..=crawl.runs {
        let mut sent: Vec<u64> =
            crawl.requests.iter().filter(|request| request.run == run).map(|one| one.from).collect();
        sent.sort_unstable();
        if let Some((first, _)) =
            sent.iter().zip(&sent[most.min(sent.len())..]).find(|(first, last)| **last < **first + SECOND)
        {
            return Err(format!("{} requests within a second of {first}, not {most}", most + 1));
        }
    }
    Ok(())
}

/// Nothing is leased while the disk is nearly full, and one request at a time made while memory is short, once that was seen.
fn scarcity(crawl: &SimulatedCrawl) -> Result<(), String> {
    let scarce = crawl.world.lock().unwrap().scarce;
    let within = |kind: usize, seen: u64| {
        let (from, to) = scarce[kind].unwrap_or_default();
        crawl.requests.iter().filter(move |request| (from + seen..to).contains(&request.granted))
    };
    if let Some(request) = within(0, LONGEST_TICK + SECOND).next() {
        return Err(format!("{} was leased at {} though the disk was nearly full", request.url, request.granted));
    }
    for request in within(1, 8 * LONGEST_TICK) {
        let others = crawl.requests.iter().filter(|other| other.run == request.run && other.url != request.url);
        if let Some(other) = others.into_iter().find(|one| (one.granted..one.to).contains(&request.granted)) {
            return Err(format!("{} was leased beside {} though memory was short", request.url, other.url));
        }
    }
    Ok(())
}

/// Hosts of one machine are one host, where they share.
fn machines(crawl: &SimulatedCrawl) -> Result<(), String> {
    if crawl.settings.politeness.share_by == ShareChoice::Host {
        return Ok(());
    }
    let slots = crawl.settings.politeness.per_host.get() as usize;
    let mut machines: BTreeMap<(IpAddr, u64), Vec<&Request>> = BTreeMap::new();
    for request in crawl.in_sequence() {
        let url = WebUrl::parse(&request.origin).map_err(|error| error.to_string())?;
        machines.entry((machine(url.host()), request.run)).or_default().push(request);
    }
    for requests in machines.values() {
        for (index, request) in requests.iter().enumerate().filter(|(_, request)| !request.is_second) {
            let before = || requests[..index].iter();
            if before().filter(|other| other.to > request.from).count() >= slots {
                return Err(format!("{request:?} is one too many at a time on its machine"));
            }
            let last =
                before().filter(|other| other.what != What::ToItself && is_known(crawl, slots, other.to, request));
            let last = last.map(|other| other.to).max();
            if last.is_some_and(|last| request.from < last + delay(crawl, request.run)) {
                return Err(format!("{request:?} comes too soon after {last:?} on its machine"));
            }
        }
    }
    Ok(())
}

/// Whether it was known that a request had ended at `to` when another was granted. What ends beside it may not be: at the same moment, or
/// while its lease was on its way behind rows that the writer had no room for.
fn is_known(crawl: &SimulatedCrawl, slots: usize, to: u64, request: &Request) -> bool {
    match slots {
        1 => to <= request.granted,
        _ => to < request.granted && !crawl.writer_was_busy(to, request.granted),
    }
}

/// No more at a time than there are slots, and none before the delay has passed.
fn slots_and_delay(crawl: &SimulatedCrawl, origin: &str, requests: &[&Request]) -> Result<(), String> {
    let slots = if is_outside(origin) { 1 } else { crawl.settings.politeness.per_host.get() as usize };
    let asked = (crawl.web.crawl_delay(origin) * SECOND).min(millis(crawl.settings.politeness.max_delay));
    // What its robots.txt asks for holds once that was read: without a doubt when a page was asked for after it.
    let mut knows = None;
    for (index, request) in requests.iter().enumerate().filter(|(_, request)| !request.is_second) {
        let before = || requests[..index].iter().filter(|other| other.run == request.run);
        let flying = before().filter(|other| other.to > request.from).count();
        if flying >= slots {
            return Err(format!("{request:?} is one too many at a time"));
        }
        // One that leads its URL to itself is followed by another of the same lease.
        let ends = before().filter(|other| other.what != What::ToItself);
        let last = ends.map(|other| other.to).filter(|to| is_known(crawl, slots, *to, request)).max();
        let delay = delay(crawl, request.run).max(if is_outside(origin) { SECOND } else { 0 });
        let delay = if knows == Some(request.run) { delay.max(asked) } else { delay };
        if last.is_some_and(|last| request.from < last + delay) {
            return Err(format!("{request:?} comes too soon after {last:?}, and not {delay} ms later"));
        }
        // The robots.txt of one host may be that of others too.
        let same = |other: &&&Request| other.url == request.url && other.purpose == request.purpose;
        let twice = before().filter(same).any(|other| other.to > request.from);
        // Two spellings of a URL out of the scope are two.
        let is_spelled = crawl.world.lock().unwrap().spells && request.purpose.is_link_check();
        if twice && !is_spelled && !matches!(request.purpose, Purpose::Check | Purpose::Robots) {
            return Err(format!("{request:?} is asked for twice at a time"));
        }
        if request.purpose.is_of_a_page() {
            knows = Some(request.run);
        }
    }
    Ok(())
}

/// After a start the delay holds too, for each host that the runs before could say was asked.
fn after_a_start(crawl: &SimulatedCrawl, origin: &str, requests: &[&Request]) -> Result<(), String> {
    let asked = (crawl.web.crawl_delay(origin) * SECOND).min(millis(crawl.settings.politeness.max_delay));
    for (index, request) in requests.iter().enumerate().skip(1) {
        if requests[index - 1].run == request.run {
            continue;
        }
        let is_committed = |other: &&&Request| is_whole(crawl, other.run) && other.what == What::Final;
        let pages = requests[..index].iter().filter(is_committed).any(|other| other.purpose.is_of_a_page());
        let began = crawl.past[past(request.run)].began;
        if pages && request.from < began + delay(crawl, request.run).max(asked) {
            return Err(format!("{request:?} comes too soon after the start at {began}"));
        }
    }
    Ok(())
}

/// What a robots.txt forbids that was read last in a run is not asked for after it.
fn newest_rules(crawl: &SimulatedCrawl, origin: &str, requests: &[&Request]) -> Result<(), String> {
    // That of another host may be read here too.
    if crawl.web.hosts.values().any(|host| host.robots == SimulatedRobots::At(origin.to_owned())) {
        return Ok(());
    }
    for (index, request) in requests.iter().enumerate() {
        let is_file = |other: &&&Request| other.url.ends_with("/robots.txt") && other.what == What::Final;
        let mut read = requests[..index].iter().filter(|other| other.run == request.run && other.to <= request.granted);
        let path = &request.url[origin.len()..];
        if request.purpose.is_of_a_page()
            && crawl.web.permission(origin, path) == Permission::Open
            && let Some(read) = read.rfind(is_file)
            && SimulatedRobots::forbids_at(read.from)
        {
            return Err(format!("{request:?} is forbidden by what was read before: {read:?}"));
        }
    }
    Ok(())
}

/// What a host asks for with `Retry-After` is kept, over a new start too; what is too long to be waited for all the more.
fn asked_for(crawl: &SimulatedCrawl, requests: &[&Request]) -> Result<(), String> {
    for (index, request) in requests.iter().enumerate() {
        let Some(seconds) = request.pause else { continue };
        // A later start may find that it asked for too much.
        let until = request.to + seconds.min(3_600) * SECOND;
        // The second request of a lease, for a page that leads to itself, goes out whatever answer another has received meanwhile.
        let is_known = |next: &&&Request| {
            let is_after = next.granted > request.to && !next.is_second;
            // What asks for it may wait with its lease, until the writer has room.
            let is_after = is_after && !crawl.writer_was_busy(request.to, next.granted);
            is_after && (next.run == request.run || is_whole(crawl, request.run))
        };
        if let Some(next) = requests[index + 1..].iter().find(is_known).filter(|next| next.from < until) {
            return Err(format!("{next:?} comes before the pause that {request:?} asked for is over"));
        }
    }
    Ok(())
}

/// Whether all that a run did was written.
fn is_whole(crawl: &SimulatedCrawl, run: u64) -> bool {
    crawl.past[past(run)].end.is_some()
}

/// A host that does not serve is asked little.
fn little(crawl: &SimulatedCrawl, outage: &Outage, requests: &[&Request]) -> Result<(), String> {
    let within = |from: u64, to: u64, run: u64| {
        let of = move |request: &&&Request| request.run == run && (from..to.min(outage.to)).contains(&request.from);
        requests.iter().filter(of)
    };
    for run in 1..=crawl.runs {
        let began = crawl.past[past(run)].began.max(outage.from);
        let first = within(began, began + MINUTE / 2, run).count();
        if first > MOST_AT_FIRST {
            return Err(format!("{first} requests in the first half minute of {outage:?}, in run {run}"));
        }
        // It takes a request to know of it.
        let Some(known) = within(began, outage.to, run).next() else { continue };
        let late: Vec<_> = within(known.from + 60 * MINUTE, outage.to, run).collect();
        if let Some(pair) = late.windows(2).find(|pair| pair[1].from < pair[0].from + MINUTE) {
            return Err(format!("asked twice a minute after an hour: {pair:?}"));
        }
    }
    Ok(())
}

/// A URL that has its answer is not asked for once more, but for what was lost, or to find out whether its host answers. That it
/// was not modified is no answer where that is checked.
fn once(crawl: &SimulatedCrawl, requests: &[&Request]) -> Result<(), String> {
    // What was asked for before a retry by hand was judged then.
    let retried = crawl.retried.filter(|(sequence, _)| *sequence == crawl.sequence).map_or(0, |(_, run)| run);
    let is_counted = |request: &&&Request| request.run > retried && request.purpose.is_counted() && !request.is_second;
    let counted: Vec<_> = requests.iter().filter(is_counted).collect();
    let checked = counted.iter().rposition(|request| request.purpose == Purpose::Audit).unwrap_or_default();
    let mut counted = counted.into_iter().skip(checked);
    // A run that was killed may have forgotten it; one that the loss policy ended, or was about to, had no room for its links.
    let is_short = crawl.past.iter().any(|past| past.end == Some(RunEnd::Loss));
    // A visit whose event is not answered yet is given up at a signal.
    let is_followed = crawl.world.lock().unwrap().follower.is_some();
    let is_cut = |run| is_followed && matches!(crawl.past[past(run)].end, Some(RunEnd::Signal(_)));
    let is_kept = |run| is_whole(crawl, run) && !is_cut(run) && !is_short;
    let kept = |request: &&&Request| request.what == What::Final && request.is_heard && is_kept(request.run);
    if let Some(done) = counted.find(kept)
        && let Some(again) = counted.next()
    {
        return Err(format!("{again:?} has had its answer: {done:?}"));
    }
    Ok(())
}

fn past(run: u64) -> usize {
    usize::try_from(run - 1).expect("few runs")
}

fn delay(crawl: &SimulatedCrawl, run: u64) -> u64 {
    millis(crawl.past[past(run)].delay)
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).expect("a short time")
}
