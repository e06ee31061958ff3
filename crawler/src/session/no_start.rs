//! Why no start URL gave a page, and what can be done about it.

use std::path::Path;

use super::{CommandFailure, directory};
use crate::{
    observe::escape,
    store::{Abandonment, PageFilter, PageLine, PageOutcome, ReadSide},
};

/// Starts that are named.
const NAMED: usize = 5;

/// Why no start gave a page, and what to do about it.
pub(crate) struct NoStart {
    /// What became of the starts, in a line, with what to do where they share a reason.
    pub(crate) why: String,
    /// The flag that is missing most likely.
    pub(crate) flag: Option<&'static str>,
}

/// Why no start of the last sequence gave a page; with a log-in that was given, if one was.
pub(crate) fn why(dir: &Path, logged_in: bool) -> Result<NoStart, CommandFailure> {
    let sequence = Some(directory::summary(dir)?.sequence);
    let records = directory::records(dir)?;
    let (mut starts, mut reasons) = (Vec::new(), Vec::new());
    // Starts, and what they redirect to. A later sequence knows other pages too.
    records.pages(&PageFilter { sequence, max_depth: Some(0), ..PageFilter::default() }, |line| {
        let reason = reason(&line);
        starts.push(format!("{} ({})", escape::text(line.url.as_deref().unwrap_or_default()), escape::text(&reason)));
        // What a redirect leads to says why, if the crawl has it.
        if line.outcome != PageOutcome::Redirected {
            reasons.push(reason);
        }
        starts.len() < NAMED
    })?;
    if starts.is_empty() {
        let why = "the scope rules (include, exclude, max_url_length) refuse every start URL".to_owned();
        return Ok(NoStart { why, flag: None });
    }
    let first = reasons.first().map_or("", String::as_str);
    let shared = reasons.iter().all(|reason| reason == first);
    let advice = match first {
        UNAUTHORIZED if logged_in => Some("the user name and password that you gave were refused: check them"),
        reason => advice(reason),
    };
    let why = format!("{}; {}", starts.join(", "), advice.filter(|_| shared).unwrap_or(USUAL_ADVICE));
    Ok(NoStart { why, flag: flag(first).filter(|_| shared) })
}

/// The reason of a start that asks for a log-in.
const UNAUTHORIZED: &str = "answered 401";

fn flag(reason: &str) -> Option<&'static str> {
    Some(match reason {
        "robots" => "--ignore-robots HOST",
        UNAUTHORIZED => "--auth USER:PASS",
        _ if reason == Abandonment::Address.as_str() => "--allow-private NAME",
        _ => return None,
    })
}

const USUAL_ADVICE: &str = "check the URL, and whether this machine can reach the server";

fn reason(line: &PageLine) -> String {
    let status = line.status.map(|status| format!("answered {status}"));
    line.reason.clone().or(status).unwrap_or_else(|| line.outcome.as_str().to_owned())
}

fn advice(reason: &str) -> Option<&'static str> {
    if let Some(abandonment) =
        [Abandonment::Address, Abandonment::NoName].into_iter().find(|one| one.as_str() == reason)
    {
        return Some(abandonment.explained());
    }
    Some(match reason {
        "scope" => "the scope rules leave it out: check --scope, --include and --exclude",
        "robots" => "robots.txt forbids it: if the site is yours, give --ignore-robots HOST",
        UNAUTHORIZED => "the server asks for a log-in: give --auth USER:PASS, or a header with --header",
        "answered 403" => "the server refuses this crawler: ask its owner, or log in with --auth or --header",
        "answered 404" | "answered 410" => "the server has no such page: check the path of the URL",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_common_reason_has_advice_that_names_what_to_type() {
        for (reason, flag) in [
            ("robots", "--ignore-robots"),
            ("address", "--allow-private"),
            ("scope", "--include"),
            ("answered 401", "--auth"),
            ("answered 403", "--header"),
        ] {
            assert!(advice(reason).is_some_and(|advice| advice.contains(flag)), "{reason}");
        }
        assert_eq!(advice("answered 302"), None);
    }
}
