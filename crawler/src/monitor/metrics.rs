//! The metrics of all crawls, as Prometheus reads them.
//!
//! What is counted comes from the crawl directories: it goes on where it was after a restart of the process, and equals what servers saw.
//! What is now comes from the crawls that run.
//!
//! Invariant: labels have few values: crawls, statuses, causes and outcomes, never URLs or hosts.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use prometheus::{GaugeVec, IntCounterVec, Opts, Registry, TextEncoder, core::Collector};

use super::{
    readings::{CrawlRead, Readings},
    roster::{Roster, RosterEntry},
};
use crate::{
    clock::Clock, engine::Progress, observe::process, schedule::WatchPhase, session::directory, store::Counters,
};

/// What makes the metrics of a roster.
pub(super) struct Metrics {
    roster: Roster,
    readings: Arc<Mutex<Readings>>,
}

/// The metrics of one scrape.
struct Sheet(Registry);

/// The one label of all: the crawl.
const CRAWL: &str = "crawl";

/// The health of hosts.
const HEALTH: [&str; 3] = ["well", "backing_off", "paused"];

/// What became of pages, and where the document says how many.
const OUTCOMES: [(&str, &str); 8] = [
    ("stored", "/pages/stored"),
    ("broken", "/pages/broken"),
    ("failed", "/pages/failed"),
    ("truncated", "/pages/truncated"),
    ("new", "/pages/new"),
    ("changed", "/pages/changed"),
    ("unchanged", "/pages/unchanged"),
    ("gone", "/pages/gone"),
];

const FRESHNESS: [(&str, &str); 2] =
    [("expected", "/revisit/freshness/expected"), ("measured", "/revisit/freshness/measured")];

/// Gauges of the URL cache, with their help and their place in the document.
const CACHE: [(&str, &str, &str); 4] = [
    ("webloom_cache_fill_ratio", "Share of the bits of the URL cache that are set.", "/cache/fill"),
    ("webloom_cache_expected_rate", "False-positive rate that is expected of the URL cache.", "/cache/expected_rate"),
    ("webloom_audited_lost_urls", "URLs that the audit saw lost, and let in.", "/cache/audit/rescued"),
    ("webloom_swept_lost_urls", "URLs that the sweep found lost.", "/cache/sweep/lost"),
];

/// A counter, its help, and how much it is.
type CounterRow = (&'static str, &'static str, fn(&Counters) -> u64);

const COUNTERS: [CounterRow; 6] = [
    ("webloom_requests_total", "Requests sent, robots.txt included.", |sums| sums.requests),
    ("webloom_received_bytes_total", "Bytes of bodies received, as sent.", |sums| sums.bytes_in),
    ("webloom_stored_pages_total", "Pages stored.", |sums| sums.stored + sums.stored_again),
    ("webloom_candidate_urls_total", "URLs proposed to admission.", |sums| sums.candidates),
    ("webloom_duplicate_urls_total", "URLs that the URL cache had seen.", |sums| sums.duplicate),
    ("webloom_cache_rebuilds_total", "Times the URL cache was rebuilt.", |sums| sums.rebuilds),
];

impl Metrics {
    pub(super) fn new(roster: Roster, readings: Arc<Mutex<Readings>>) -> Self {
        Self { roster, readings }
    }

    /// All of them.
    pub(super) fn text(&self) -> String {
        let sheet = Sheet(Registry::new());
        let crawls = self.roster.all();
        sheet.of_process();
        sheet.of_states(&crawls);
        let read = self.readings.lock().unwrap_or_else(PoisonError::into_inner).read(&crawls);
        sheet.of_figures(&read);
        sheet.of_counters(&read);
        sheet.of_last_sequences(&read);
        sheet.of_files(&crawls);
        let mut families = sheet.0.gather();
        families.extend(self.roster.timings().map(Collector::collect).into_iter().flatten());
        TextEncoder::new().encode_to_string(&families).unwrap_or_default()
    }
}

impl Sheet {
    /// A counter, with the crawl and perhaps one more label.
    fn counter<'a>(
        &self,
        name: &str,
        help: &str,
        label: Option<&str>,
        rows: impl Iterator<Item = (&'a str, String, u64)>,
    ) {
        let labels: Vec<_> = [CRAWL].into_iter().chain(label).collect();
        let Ok(counter) = IntCounterVec::new(Opts::new(name, help), &labels) else { return };
        for (crawl, value, count) in rows {
            let values: Vec<_> = [crawl].into_iter().chain(label.map(|_| &*value)).collect();
            counter.with_label_values(&values).inc_by(count);
        }
        // Names are different: nothing is registered twice.
        let _ = self.0.register(Box::new(counter));
    }

    /// A gauge, with the crawl and perhaps one more label.
    fn gauge<'a>(
        &self,
        name: &str,
        help: &str,
        label: Option<&str>,
        rows: impl Iterator<Item = (&'a str, String, f64)>,
    ) {
        let labels: Vec<_> = [CRAWL].into_iter().chain(label).collect();
        let Ok(gauge) = GaugeVec::new(Opts::new(name, help), &labels) else { return };
        for (crawl, value, level) in rows {
            let values: Vec<_> = [crawl].into_iter().chain(label.map(|_| &*value)).collect();
            gauge.with_label_values(&values).set(level);
        }
        let _ = self.0.register(Box::new(gauge));
    }

    /// A gauge of the process.
    fn level(&self, name: &str, help: &str, level: Option<f64>) {
        let Some(level) = level else { return };
        let Ok(gauge) = prometheus::Gauge::new(name, help) else { return };
        gauge.set(level);
        let _ = self.0.register(Box::new(gauge));
    }

    fn of_process(&self) {
        let Ok(cpu) = prometheus::Counter::new("process_cpu_seconds_total", "CPU time of the process.") else { return };
        cpu.inc_by(process::cpu_seconds());
        let _ = self.0.register(Box::new(cpu));
        let bytes = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64);
        self.level("process_resident_memory_bytes", "Resident memory of the process.", bytes(process::memory()));
        self.level("process_open_fds", "Open file descriptors.", bytes(process::open_files()));
        self.level("process_max_fds", "File descriptors that the process may have.", bytes(process::most_open_files()));
    }

    fn of_states(&self, crawls: &[(Arc<str>, RosterEntry)]) {
        let now = Clock::start().now();
        let on_time =
            crawls.iter().map(|(name, entry)| (&**name, String::new(), f64::from(entry.on_time(now).is_well)));
        self.gauge("webloom_on_time", "1 if no sequence and no page is late, else 0.", None, on_time);
        let states: Vec<_> = crawls.iter().filter_map(|(name, entry)| Some((&**name, entry.state.as_ref()?))).collect();
        let seconds = |moment: crate::time::Moment| moment.millis() as f64 / 1000.0;
        let due = states.iter().filter_map(|(name, state)| match state.phase {
            WatchPhase::Due(due) => Some((*name, String::new(), seconds(due))),
            _ => None,
        });
        self.gauge("webloom_next_sequence_timestamp_seconds", "When the next sequence is due.", None, due);
        let running = states.iter().map(|(name, state)| {
            (*name, String::new(), f64::from(u8::from(matches!(state.phase, WatchPhase::Running(_)))))
        });
        self.gauge("webloom_sequence_running", "1 while a sequence runs.", None, running);
        let lag = states.iter().map(|(name, state)| match state.phase {
            WatchPhase::Due(due) => (*name, String::new(), now.since(due).as_secs_f64()),
            _ => (*name, String::new(), 0.0),
        });
        self.gauge("webloom_lag_seconds", "For how long a sequence has been due and has not begun.", None, lag);
    }

    fn of_figures(&self, crawls: &[CrawlRead]) {
        let figures = crawls.iter().filter_map(|read| Some((&*read.name, read.figures.as_ref()?)));
        let urls = figures.flat_map(|(name, now)| {
            let done = now.admitted.saturating_sub(now.queued + now.in_flight);
            [("queued", now.queued), ("in_flight", now.in_flight), ("done", done)]
                .map(|(state, urls)| (name, state.to_owned(), urls as f64))
        });
        self.gauge("webloom_urls", "URLs of the last sequence, by state.", Some("state"), urls);
    }

    fn of_counters(&self, crawls: &[CrawlRead]) {
        let all = || crawls.iter().map(|read| (&*read.name, &read.counters));
        for (name, help, of) in COUNTERS {
            self.counter(name, help, None, all().map(|(name, sums)| (name, String::new(), of(sums))));
        }
        let statuses = all().flat_map(|(name, sums)| {
            sums.by_status.iter().map(move |(status, count)| (name, status.to_string(), *count))
        });
        self.counter("webloom_responses_total", "Responses, by status.", Some("status"), statuses);
        let each = |of: fn(&Counters) -> &BTreeMap<String, u64>| {
            all().flat_map(move |(name, sums)| of(sums).iter().map(move |(why, count)| (name, why.clone(), *count)))
        };
        let errors = "Requests without a response, by cause.";
        self.counter("webloom_request_errors_total", errors, Some("cause"), each(|sums| &sums.errors));
        let refused = "URLs that do not belong to the crawl, by reason.";
        self.counter("webloom_refused_urls_total", refused, Some("reason"), each(|sums| &sums.refused));
    }

    fn of_last_sequences(&self, crawls: &[CrawlRead]) {
        let all = || crawls.iter().filter_map(|read| Some((&*read.name, read.last.as_ref()?)));
        let at = |pointer: &'static str| {
            all().filter_map(move |(name, read)| read.at(pointer).map(|figure| (name, String::new(), figure)))
        };
        // Each label has a figure of its own in the document.
        let each = |rows: &'static [(&'static str, &'static str)]| {
            all().flat_map(move |(name, read)| {
                rows.iter().filter_map(move |(label, pointer)| {
                    read.at(pointer).map(|figure| (name, (*label).to_owned(), figure))
                })
            })
        };
        self.gauge("webloom_sequence", "Number of the last sequence.", None, at("/sequence"));
        self.gauge("webloom_pages", "Pages of the last sequence, by outcome.", Some("outcome"), each(&OUTCOMES));
        let by_health = all().flat_map(|(name, read)| {
            let health = HEALTH.iter().zip(read.hosts_by_health);
            health.map(move |(health, hosts)| (name, (*health).to_owned(), hosts as f64))
        });
        self.gauge("webloom_hosts", "Hosts, by whether they answer.", Some("health"), by_health);
        let unhealthy = all().map(|(name, read)| {
            let [_, waiting, paused] = read.hosts_by_health;
            (name, String::new(), (waiting + paused) as f64)
        });
        self.gauge("webloom_unhealthy_hosts", "Hosts that do not answer as they should.", None, unhealthy);
        let changes = all().map(|(name, read)| (name, String::new(), read.changes as f64));
        self.gauge("webloom_changes", "Changes that the last sequence reported.", None, changes);
        // While it runs, the crawl knows more than its directory.
        let now = |of: fn(&Progress) -> f64, pointer: &'static str| {
            let level = move |read: &CrawlRead| {
                read.figures.as_ref().map(of).or_else(|| read.last.as_ref().and_then(|last| last.at(pointer)))
            };
            crawls.iter().filter_map(move |read| Some((&*read.name, String::new(), level(read)?)))
        };
        let items = now(|figures| figures.cache_items as f64, "/cache/items");
        self.gauge("webloom_cache_items", "URLs in the URL cache.", None, items);
        let expected = now(|figures| figures.expected_lost, "/cache/expected_lost");
        let help = "URLs that the cache is expected to have lost.";
        self.gauge("webloom_expected_lost_urls", help, None, expected);
        let budget = all().filter_map(|(name, read)| Some((name, String::new(), read.budget_lost?)));
        self.gauge("webloom_budget_lost_urls", "URLs that it may lose.", None, budget);
        for (name, help, pointer) in CACHE {
            self.gauge(name, help, None, at(pointer));
        }
        let fresh = "Share of the pages whose copy is as the page is.";
        self.gauge("webloom_freshness_ratio", fresh, Some("kind"), each(&FRESHNESS));
    }

    fn of_files(&self, crawls: &[(Arc<str>, RosterEntry)]) {
        let files = crawls.iter().flat_map(|(name, member)| {
            directory::FILES.iter().filter_map(|(kind, file)| {
                let bytes = std::fs::metadata(member.dir.join(file)).ok()?.len();
                Some((&**name, (*kind).to_owned(), bytes as f64))
            })
        });
        self.gauge("webloom_file_bytes", "Size of the files of the crawl directory.", Some("file"), files);
        let free = crawls.iter().filter_map(|(name, member)| {
            let disk = rustix::fs::statvfs(&member.dir).ok()?;
            Some((&**name, String::new(), disk.f_bavail as f64 * disk.f_frsize as f64))
        });
        self.gauge("webloom_disk_free_bytes", "Room on the disk of the crawl directory.", None, free);
    }
}
