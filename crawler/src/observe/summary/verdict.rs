//! The first line of a summary, which says how the sequence ended, and the last, which says what to do next.
//!
//! Invariants: "Complete" is said only where the sweep has proved it; every other end names the command for what is
//! left to do.

use std::path::Path;

use urlcache::Strategy;

use crate::{
    config::{Overlap, Settings},
    engine::RunEnd,
    health::FailureCause,
    observe::{
        escape,
        figures::{count, counted, size, time, whole_time},
        terminal::Tone,
    },
    store::{StoredSummary, UnhealthyHost},
    time::Moment,
};

/// What a verdict is made from.
pub(super) struct Ending<'a> {
    pub(super) summary: &'a StoredSummary,
    pub(super) settings: Option<&'a Settings>,
    /// How the run ended, where it has just done so.
    pub(super) ended: Option<RunEnd>,
    pub(super) now: Moment,
}

impl Ending<'_> {
    /// The first line.
    pub(super) fn verdict(&self) -> String {
        let summary = self.summary;
        let pages = counted(summary.pages.stored, "page", "pages");
        let sequence = if summary.sequence > 0 { format!("sequence {}, ", summary.sequence) } else { String::new() };
        let spent = time(summary.seconds);
        let stopped = |how: &str| format!("{how} after {spent}: {sequence}{pages}{}", self.waiting());
        match summary.end.as_deref() {
            None => format!("Not finished (still running, or killed): {sequence}{pages} so far{}", self.waiting()),
            Some("drained") => format!("{}: {sequence}{pages} in {spent}{}", self.done(), self.doubt()),
            Some("budget") => stopped(&self.budget()),
            Some("loss") if self.is_exact() => stopped("URL cache full"),
            Some("loss") => stopped("Loss budget exhausted"),
            Some("signal") => stopped(&format!("Stopped by {}", self.signal())),
            Some("unreachable") => format!("Not reachable: {}{}", self.silent(), self.waiting()),
            Some("failed") => format!("Failed after {spent}: no start URL gave a page"),
            Some(other) => stopped(&format!("Ended ({})", escape::text(other))),
        }
    }

    /// Its colour.
    pub(super) fn tone(&self) -> Tone {
        match self.summary.end.as_deref() {
            Some("drained") if self.summary.is_proved() => Tone::Good,
            Some("loss" | "unreachable" | "failed") => Tone::Bad,
            _ => Tone::Open,
        }
    }

    /// The command to type next, and what it does.
    pub(super) fn next(&self, dir: &Path, missing: Option<&str>) -> String {
        let dir = quoted(&dir.display().to_string());
        let summary = self.summary;
        match summary.end.as_deref() {
            Some("loss") if self.is_exact() => {
                format!("webloom crawl -d {dir} --max-cache-memory SIZE   goes on with more memory")
            }
            Some("loss") => format!("webloom crawl -d {dir} --max-lost-urls N   goes on with a larger budget"),
            Some("failed") => {
                let missing = missing.map(|flag| format!(" {flag}")).unwrap_or_default();
                format!("webloom crawl -d {dir}{missing}   tries the start URLs again")
            }
            Some("drained") if !self.summary.is_proved() => {
                let asked_before = summary.lost.sweep.parent_unreachable > 0;
                let what = if asked_before {
                    "asks again for pages that linked to what was lost"
                } else {
                    "fetches what was lost"
                };
                format!("webloom crawl -d {dir} --sweep rescue   {what}")
            }
            Some("drained") if summary.reported > 0 => {
                format!(
                    "webloom changes {dir} --since {}   lists {}",
                    summary.sequence,
                    counted(summary.reported, "change", "changes")
                )
            }
            Some("drained") if summary.sequence > 0 && summary.pending > 0 => {
                format!(
                    "webloom changes {dir} --pending   lists {} for a second look",
                    counted(summary.pending, "change that waits", "changes that wait")
                )
            }
            Some("drained") if self.broken() > 0 => {
                format!(
                    "webloom links {dir} --broken   lists {} and the pages that link there",
                    counted(self.broken(), "broken URL", "broken URLs")
                )
            }
            Some("drained") => {
                format!("webloom crawl -d {dir} --again   crawls the site again and shows what has changed")
            }
            Some("budget") => match self.reached().first() {
                Some((flag, _)) => format!("webloom crawl -d {dir} {flag} unlimited   goes on without this budget"),
                None => format!("webloom crawl -d {dir}{}", self.lifting()),
            },
            Some("unreachable") if self.is_logged_out() => {
                format!("webloom crawl -d {dir} --cookies FILE   goes on with a new log-in")
            }
            _ => format!("webloom crawl -d {dir}   resumes the crawl"),
        }
    }

    /// URLs that lead nowhere, those of the crawl that give no answer at all left aside.
    fn broken(&self) -> u64 {
        let checks = &self.summary.link_checks;
        self.summary.pages.broken + checks.broken + checks.failed
    }

    /// What lets a crawl go on that a limit of URLs may hold back, and what it does.
    fn lifting(&self) -> &'static str {
        let Some(settings) = self.settings else { return "   resumes the crawl" };
        let budget = &settings.budget;
        match budget.max_depth {
            _ if budget.max_time.is_some() || budget.max_pages_per_host.is_some() => "   resumes the crawl",
            _ if !settings.scope.sections.is_empty() => " --config FILE   goes on with other limits of its [[section]]",
            Some(_) => " --max-depth unlimited   goes on without this budget",
            None => "   resumes the crawl",
        }
    }

    /// Whether its URL cache loses nothing, so that memory alone can end it.
    fn is_exact(&self) -> bool {
        self.settings.is_some_and(|settings| settings.cache.strategy == Strategy::Exact)
    }

    fn done(&self) -> &'static str {
        if self.summary.is_proved() { "Complete" } else { "Finished" }
    }

    /// What keeps a finished sequence from being complete.
    fn doubt(&self) -> String {
        let sweep = &self.summary.lost.sweep;
        match (sweep.links, sweep.missing()) {
            (None, _) => "; not checked for lost URLs".to_owned(),
            (Some(_), 0) => String::new(),
            (Some(_), missing) => format!("; {} missing", counted(missing, "lost URL is", "lost URLs are")),
        }
    }

    fn waiting(&self) -> String {
        match self.summary.counts.queued {
            0 => String::new(),
            1 => "; 1 URL waits".to_owned(),
            queued => format!("; {} URLs wait", count(queued)),
        }
    }

    /// The budgets of the sequence that are used up, each with its flag and its size.
    fn reached(&self) -> Vec<(&'static str, String)> {
        let Some(settings) = self.settings else { return Vec::new() };
        let StoredSummary { pages, counters, .. } = self.summary;
        let most_pages = settings.budget.max_pages.filter(|most| pages.stored >= most.get());
        let most_bytes = settings.budget.max_bytes.filter(|most| counters.bytes_in >= most.get());
        let pages = most_pages.map(|most| ("--max-pages", most.to_string()));
        let bytes = most_bytes.map(|most| ("--max-bytes", size(most.get())));
        pages.into_iter().chain(bytes).collect()
    }

    /// Which budget was reached; where several could have been, those.
    fn budget(&self) -> String {
        let Some(settings) = self.settings else { return "Reached a budget".to_owned() };
        let budget = &settings.budget;
        let certain: Vec<_> = self.reached().into_iter().map(|(flag, most)| format!("{flag} {most}")).collect();
        let possible = [
            budget.max_time.map(|most| format!("--max-time {}", time(most.as_secs_f64()))),
            budget.max_depth.map(|most| format!("--max-depth {most}")),
            budget.max_pages_per_host.map(|most| format!("budget.max_pages_per_host {most}")),
            budget.max_pages.map(|most| format!("--max-pages {most}")),
            (!settings.scope.sections.is_empty()).then(|| "a limit of a [[section]]".to_owned()),
            (settings.schedule.overlap == Overlap::Restart).then(|| "the time of the next sequence".to_owned()),
        ];
        let named = if certain.is_empty() { possible.into_iter().flatten().collect() } else { certain };
        if named.is_empty() { "Reached a budget".to_owned() } else { format!("Reached {}", named.join(" or ")) }
    }

    fn signal(&self) -> &'static str {
        match self.ended {
            Some(RunEnd::Signal(0)) => "the program",
            Some(RunEnd::Signal(2)) => "Ctrl-C",
            Some(RunEnd::Signal(15)) => "SIGTERM",
            _ => "a signal",
        }
    }

    /// Whether a log-in has expired.
    fn is_logged_out(&self) -> bool {
        self.summary.hosts.iter().any(|host| host.health.cause == FailureCause::LogIn)
    }

    /// The hosts that do not answer, the first three by name.
    fn silent(&self) -> String {
        let hosts = self.summary.hosts.iter().take(3);
        let mut named: Vec<_> = hosts.map(|host| self.silent_host(host)).collect();
        let more = self.summary.unhealthy_hosts.saturating_sub(named.len() as u64);
        if more > 0 {
            named.push(format!("{} more", count(more)));
        }
        named.join(", ")
    }

    fn silent_host(&self, host: &UnhealthyHost) -> String {
        let since = self.now.since(host.health.since).as_secs();
        let origin = escape::text(&host.origin).into_owned();
        let name = origin.split_once("://").map_or(&*origin, |(_, name)| name);
        format!("{name} ({}, since {})", host.health.cause, whole_time(since))
    }
}

/// A word as a shell reads it. What cannot be shown as it is, a line break for example, is in the escapes of `$'…'`.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if !word.contains('\n') && escape::text(word) == word {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut quoted = "$'".to_owned();
    for c in word.chars() {
        match c {
            '\'' | '\\' => quoted.extend(['\\', c]),
            c if *escape::text(c.encode_utf8(&mut [0; 4])) == *c.encode_utf8(&mut [0; 4]) => quoted.push(c),
            c => c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| quoted += &format!("\\{byte:03o}")),
        }
    }
    quoted + "'"
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt, process::Command};

    use super::*;

    #[test]
    fn a_shell_reads_a_quoted_word_as_it_was() {
        for word in ["", "a", "größer", "it's mine", "a\nb", "a'\\\nb\t\u{1b}", "\u{202e}a b", "$HOME `x` \"y\" \\n"]
        {
            let quoted = quoted(word);
            assert_eq!(escape::text(&quoted), quoted, "it is printed as it is");
            let read = Command::new("bash").args(["-c", &format!("printf %s {quoted}")]).output().unwrap().stdout;
            assert_eq!(OsStr::from_bytes(&read), word, "{quoted}");
        }
    }
}
