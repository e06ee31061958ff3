//! What a seed sets: caches that err and forget, few heads, slots, delays, budgets that are raised.

use std::{fmt::Write as _, sync::Arc};

use super::{Random, grow::WebPlan, web::MOST_REDIRECTS};
use crate::config::{Layers, Settings};

const CACHES: [&str; 16] = [
    "strategy = \"single\"",
    "strategy = \"single\"",
    "strategy = \"exact\"",
    "strategy = \"single\"\nexpected_urls = 20",
    "strategy = \"single\"\nexpected_urls = 20\nreset = \"rotate\"",
    "strategy = \"single\"\nmax_lost_urls = 20\nexpected_urls = 20",
    "strategy = \"single\"\nmax_lost_urls = 20\nexpected_urls = 20\nreset = \"none\"",
    "strategy = \"single\"\nexpected_urls = 20\nreset = \"grow\"",
    "strategy = \"single\"\nexpected_urls = 20\nreset = \"restart\"",
    "strategy = \"single\"\nexpected_urls = 20\nreset = \"stop\"",
    "strategy = \"multilayer\"",
    "strategy = \"multilayer-plain\"\nexpected_urls = 20",
    "strategy = \"segment-set\"",
    "strategy = \"spatial\"",
    "strategy = \"temporal\"\nexpected_urls = 20",
    "strategy = \"spatio-temporal\"",
];

/// Sections whose limits are raised, and lifted.
const SECTIONS: [&str; 3] = [
    "[[section]]\nmatch = '[37]$'\nmax_pages = 3\n[[section]]\nmatch = '[05]$'\nmax_depth = 1\ndelay = '2s'\n\
     [[section]]\nmatch = '8$'\nmax_depth = 'unlimited'",
    "[[section]]\nmatch = '[37]$'\nmax_pages = 6\nmax_depth = 4\n[[section]]\nmatch = '[05]$'\nmax_depth = 3",
    "[[section]]\nmatch = '5$'\nmax_pages = 'unlimited'",
];

/// One that calls nearly all URLs seen once it holds some hundred.
const LOSES_MANY: &str = "strategy = \"single\"\nmax_lost_urls = 20\nexpected_urls = 20\nreset = \"none\"";

/// Memory may be short.
const MACHINE: &str = "[machine]\nmax_memory = \"1GiB\"\n";

/// Settings, and the file that has them.
#[derive(Debug, Clone)]
pub(super) struct Stage {
    pub(super) text: String,
    pub(super) settings: Arc<Settings>,
}

impl Stage {
    pub(super) fn new(text: &str) -> Self {
        // Without a word of sitemaps none is looked for.
        let text =
            if text.contains("[sources]") { text.to_owned() } else { format!("[sources]\nsitemaps = \"off\"\n{text}") };
        let text = &*text;
        Self { text: text.to_owned(), settings: Arc::new(layers(text).resolve().unwrap().settings) }
    }
}

/// The settings of a crawl, by stage: one whose budget is spent is gone on with in the next. Where there is a crowd, the URL cache
/// is small, and stays so.
pub(super) fn stages(plan: &WebPlan, random: &mut Random) -> Vec<Stage> {
    let cache = if plan.has_crowd() { LOSES_MANY } else { random.pick(&CACHES) };
    let losses = random.pick(&[
        "",
        "",
        "",
        "",
        "audit_rescue = \"off\"",
        "audit_sample = 0",
        "audit_sample = 8",
        "sweep = \"report\"\naudit_rescue = \"off\"",
    ]);
    let (delay, per_host) = (random.pick(&["0s", "100ms", "1s"]), random.pick(&[1, 1, 3]));
    let (heads, heads_per_host) = random.pick(&[(100_000, 10), (100_000, 1_000), (15, 10)]);
    let depth = random.pick(&["", "", "", "max_depth = 1000"]);
    let order = random.pick(&["breadth", "breadth", "depth", "best"]);
    let age = random.pick(&["1d", "1d", "40s"]);
    let mut text =
        format!("[cache]\n{cache}\n{losses}\n[frontier]\nheads_per_host = {heads_per_host}\nheads = {heads}\n");
    let priority = if order == "best" { "priority = [\"[13]$=10\", \"2=0.1\"]\n" } else { "" };
    write!(text, "order = \"{order}\"\n{priority}").unwrap();
    let concurrency = random.pick(&[64, 64, 64, 64, 4, 1]);
    write!(text, "[politeness]\ndelay = \"{delay}\"\nper_host = {per_host}\nmax_delay = \"20s\"\n").unwrap();
    // No draw of its own, so that a seed stays what it was.
    let share_by = if heads_per_host == 10 { "address" } else { "host" };
    writeln!(text, "concurrency = {concurrency}\nshare_by = \"{share_by}\"").unwrap();
    let rate = random.pick(&["", "", "", "", "", "", "", "max_rate = 1\n", "max_rate = 5\n", "max_rate = 100\n"]);
    text.push_str(rate);
    // No draw of its own, so that a seed stays what it was.
    let checked = if delay == "100ms" { 0.3 } else { 0.01 };
    writeln!(text, "[revisit]\naudit_not_modified = {checked}").unwrap();
    let kept = if delay == "0s" { 1 } else { 10 };
    let [every, visits] = [random.pick(&[10, 100, 100, 10_000]), random.pick(&[1, 20, 197])];
    writeln!(text, "[store]\nkeep_sequences = {kept}\ncommit_every = \"{every}ms\"\ncommit_visits = {visits}").unwrap();
    let texts = if per_host == 1 { "on" } else { "off" };
    let looks = random.pick(&[
        "gone_after = 0\nconfirm = 0",
        "gone_after = 0\nconfirm = 0",
        "gone_after = \"1h\"\nconfirm = \"10m\"",
    ]);
    write!(text, "{MACHINE}[change]\ntext = \"{texts}\"\n{looks}\nsite_wide_pages = 0\n").unwrap();
    let sitemaps = if plan.has_sitemaps() { "on" } else { "off" };
    let checks = if plan.checks_links() { "on" } else { "off" };
    write!(text, "[sources]\nsitemaps = \"{sitemaps}\"\n[check]\nexternal = \"{checks}\"\nanchors = \"{checks}\"\n")
        .unwrap();
    write!(text, "[robots]\nmax_age = \"{age}\"\n[fetch]\nmax_redirects = {MOST_REDIRECTS}\n[budget]\n{depth}\n")
        .unwrap();
    let budgets: &[&str] = match random.below(8) {
        // Pages that are held back for a start count as pages of the budget.
        0 | 5 | 6 if plan.joins_late().is_some() => {
            &["max_pages = 5", "max_pages = 12", "max_pages = 20", "max_pages = \"unlimited\""]
        }
        0 => &["max_pages = 10", "max_pages = 25", "max_pages = \"unlimited\""],
        1 | 4 if depth.is_empty() => &["max_depth = 2", "max_depth = 3", "max_depth = \"unlimited\""],
        2 => &["max_bytes = \"2KiB\"", "max_bytes = \"unlimited\""],
        3 => &["max_pages_per_host = 7", "max_pages_per_host = \"unlimited\""],
        7 => &SECTIONS,
        _ => &[""],
    };
    let mut texts: Vec<_> = budgets.iter().map(|budget| format!("{text}{budget}\n")).collect();
    if cache.contains("stop") {
        texts.push(text.replace("\"stop\"", "\"rebuild\""));
    }
    texts.iter().map(|text| Stage::new(text)).collect()
}

/// Settings as in a file.
pub(super) fn layers(text: &str) -> Layers {
    Layers::new().file_text("seed", text)
}
