//! The metrics of all crawls, as Prometheus reads them.
//!
//! What is counted comes from the crawl directories: it goes on where it was after a restart of the process, and equals what servers saw.
//! What is now comes from the crawls that run.
//!
//! Invariants: labels have few values: crawls, statuses, causes and outcomes, never URLs or hosts; what is counted from all rows is
//! counted for a hundredth of the time at most.

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use prometheus::{GaugeVec, IntCounterVec, Opts, Registry, TextEncoder, core::Collector};
use serde_json::Value;

use super::{
    on_time,
    roster::{Roster, RosterEntry},
    state_file,
};
use crate::{
    clock::Clock,
    observe::{process, summary},
    schedule::WatchPhase,
    session::directory,
    store::{Counters, ReadSide},
};

/// The share of the time that the costly figures may take: one part in so many.
const SHARE: u32 = 100;

/// They are not taken more often than that.
const LEAST: Duration = Duration::from_secs(1);

/// What makes the metrics of a roster.
pub(super) struct Metrics {
    roster: Roster,
    /// What was read of the last sequence of each crawl, and until when that is good.
    read: Mutex<HashMap<Arc<str>, (SequenceRead, Instant)>>,
}

/// What is read of the last sequence of a crawl.
#[derive(Clone)]
struct SequenceRead {
    /// As `status --json` has it.
    document: Arc<Value>,
    unhealthy_hosts: u64,
    changes: u64,
}

/// The metrics of one scrape.
struct Sheet(Registry);

/// The one label of all: the crawl.
const CRAWL: &str = "crawl";

impl SequenceRead {
    /// A figure of the document; `None` where it is null.
    fn at(&self, pointer: &str) -> Option<f64> {
        self.document.pointer(pointer)?.as_f64()
    }
}

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
const CACHE: [(&str, &str, &str); 7] = [
    ("webloom_cache_items", "URLs in the URL cache.", "/cache/items"),
    ("webloom_cache_fill_ratio", "Share of the bits of the URL cache that are set.", "/cache/fill"),
    ("webloom_cache_expected_rate", "False-positive rate that is expected of the URL cache.", "/cache/expected_rate"),
    ("webloom_expected_lost_urls", "URLs that the cache is expected to have lost.", "/cache/expected_lost"),
    ("webloom_budget_lost_urls", "URLs that it may lose.", "/cache/budget_lost"),
    ("webloom_audited_lost_urls", "URLs that the audit saw lost, and let in.", "/cache/audit/rescued"),
    ("webloom_swept_lost_urls", "URLs that the sweep found lost.", "/cache/sweep/lost"),
];

impl Metrics {
    pub(super) fn new(roster: Roster) -> Self {
        Self { roster, read: Mutex::default() }
    }

    /// All of them.
    pub(super) fn text(&self) -> String {
        let sheet = Sheet(Registry::new());
        let crawls = self.roster.all();
        sheet.of_process();
        sheet.of_standings(&crawls);
        sheet.of_figures(&crawls);
        let counted: Vec<_> =
            crawls.iter().filter_map(|(name, member)| Some((&**name, totals(&member.dir)?))).collect();
        sheet.of_counters(&counted);
        let read = |(name, entry): &'_ (Arc<str>, RosterEntry)| {
            Some((Arc::clone(name), self.last_sequence(name, &entry.dir)?))
        };
        sheet.of_last_sequences(&crawls.iter().filter_map(read).collect::<Vec<_>>());
        sheet.of_files(&crawls);
        let mut families = sheet.0.gather();
        families.extend(self.roster.timings().map(Collector::collect).into_iter().flatten());
        TextEncoder::new().encode_to_string(&families).unwrap_or_default()
    }

    /// The last sequence of a crawl, as it is or was a while ago: for that, all rows are counted.
    fn last_sequence(&self, name: &Arc<str>, dir: &Path) -> Option<SequenceRead> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((last, until)) = read.get(name)
            && Instant::now() < *until
        {
            return Some(last.clone());
        }
        let began = Instant::now();
        let summary = directory::summary(dir).ok()?;
        let last = SequenceRead {
            document: Arc::new(summary::document(&summary)),
            unhealthy_hosts: summary.unhealthy_hosts,
            changes: summary.reported,
        };
        let ended = Instant::now();
        let until = ended + (ended.duration_since(began) * SHARE).max(LEAST);
        read.insert(Arc::clone(name), (last.clone(), until));
        Some(last)
    }
}

/// What a crawl has counted in all its sequences.
fn totals(dir: &Path) -> Option<Counters> {
    directory::records(dir).ok()?.totals().ok()
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

    fn of_standings(&self, crawls: &[(Arc<str>, RosterEntry)]) {
        let now = Clock::start().now();
        let checked = crawls.iter().map(|(name, member)| (&**name, on_time::check(&member.dir, now)));
        let on_time = checked.map(|(name, checked)| (name, String::new(), f64::from(checked.is_well)));
        self.gauge("webloom_on_time", "1 if no sequence and no page is late, else 0.", None, on_time);
        let states: Vec<_> =
            crawls.iter().filter_map(|(name, member)| Some((&**name, state_file::read(&member.dir).ok()??))).collect();
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

    fn of_figures(&self, crawls: &[(Arc<str>, RosterEntry)]) {
        let figures: Vec<_> = crawls
            .iter()
            .filter_map(|(name, member)| Some((&**name, member.figures.as_ref()?.borrow().clone())))
            .collect();
        let urls = figures.iter().flat_map(|(name, now)| {
            let done = now.admitted.saturating_sub(now.queued + now.in_flight);
            [("queued", now.queued), ("in_flight", now.in_flight), ("done", done)]
                .map(|(state, urls)| (*name, state.to_owned(), urls as f64))
        });
        self.gauge("webloom_urls", "URLs of the last sequence, by state.", Some("state"), urls);
    }

    fn of_counters(&self, crawls: &[(&str, Counters)]) {
        let plain = |of: fn(&Counters) -> u64| crawls.iter().map(move |(name, sums)| (*name, String::new(), of(sums)));
        self.counter(
            "webloom_requests_total",
            "Requests sent, robots.txt included.",
            None,
            plain(|sums| sums.requests),
        );
        self.counter(
            "webloom_received_bytes_total",
            "Bytes of bodies received, as sent.",
            None,
            plain(|sums| sums.bytes_in),
        );
        self.counter(
            "webloom_stored_pages_total",
            "Pages stored.",
            None,
            plain(|sums| sums.stored + sums.stored_again),
        );
        self.counter(
            "webloom_candidate_urls_total",
            "URLs proposed to admission.",
            None,
            plain(|sums| sums.candidates),
        );
        self.counter(
            "webloom_duplicate_urls_total",
            "URLs that the URL cache had seen.",
            None,
            plain(|sums| sums.duplicate),
        );
        self.counter(
            "webloom_cache_rebuilds_total",
            "Times the URL cache was rebuilt.",
            None,
            plain(|sums| sums.rebuilds),
        );
        let statuses = crawls
            .iter()
            .flat_map(|(name, sums)| sums.by_status.iter().map(|(status, count)| (*name, status.to_string(), *count)));
        self.counter("webloom_responses_total", "Responses, by status.", Some("status"), statuses);
        let errors =
            crawls.iter().flat_map(|(name, sums)| sums.errors.iter().map(|(why, count)| (*name, why.clone(), *count)));
        self.counter("webloom_request_errors_total", "Requests without a response, by cause.", Some("cause"), errors);
        let refused =
            crawls.iter().flat_map(|(name, sums)| sums.refused.iter().map(|(why, count)| (*name, why.clone(), *count)));
        self.counter(
            "webloom_refused_urls_total",
            "URLs that do not belong to the crawl, by reason.",
            Some("reason"),
            refused,
        );
    }

    fn of_last_sequences(&self, crawls: &[(Arc<str>, SequenceRead)]) {
        let all = || crawls.iter().map(|(name, read)| (&**name, read));
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
        let hosts = all().map(|(name, read)| (name, String::new(), read.unhealthy_hosts as f64));
        self.gauge("webloom_unhealthy_hosts", "Hosts that do not answer as they should.", None, hosts);
        let changes = all().map(|(name, read)| (name, String::new(), read.changes as f64));
        self.gauge("webloom_changes", "Changes that the last sequence reported.", None, changes);
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
