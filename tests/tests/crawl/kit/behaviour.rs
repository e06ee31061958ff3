//! [`Behaviour`]: a small site with one oddity, and what a crawl of it must come to.
//!
//! Owns: crawling one behaviour on a server of its own, and naming everything that is not as foretold. Invariants: every URL of the crawl
//! is foretold, each once; the other page of the site is stored whatever happens beside it; what was sent is what the server saw.
//!
//! Does not know: which behaviours there are.

use std::collections::BTreeSet;

use serde_json::Value;
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{Run, Webloom, assert_clean, pages},
};

use crate::{Folder, assert_counts, serve};

/// What a server does, and what comes of it.
#[derive(Clone, Copy)]
pub(super) struct Behaviour {
    pub(super) name: &'static str,
    answer: Answer,
    gives: &'static [&'static str],
    retries: usize,
    unseen: usize,
    strays: usize,
    end: (i32, &'static str),
    variables: &'static [(&'static str, &'static str)],
    arguments: &'static [&'static str],
}

#[derive(Clone, Copy)]
enum Answer {
    /// To `/x` alone.
    Page(fn(&Asked) -> Reply),
    /// To everything.
    Site(fn(&Asked) -> Reply),
}

impl Behaviour {
    /// A site of which only `/x` is odd.
    pub(super) const fn page(name: &'static str, answer: fn(&Asked) -> Reply) -> Self {
        Self::new(name, Answer::Page(answer))
    }

    /// A site that is odd altogether: what is not is left to [`usual`].
    pub(super) const fn site(name: &'static str, answer: fn(&Asked) -> Reply) -> Self {
        Self::new(name, Answer::Site(answer))
    }

    const fn new(name: &'static str, answer: Answer) -> Self {
        Self {
            name,
            answer,
            gives: &[],
            retries: 0,
            unseen: 0,
            strays: 0,
            end: (0, "drained"),
            variables: &[],
            arguments: &[],
        }
    }

    /// What `pages` then has, in the form of [`state`]. `/` and `/good` are stored unless they are among them; a path
    /// alone is no URL of the crawl. The document has the outcome of the first line.
    pub(super) const fn gives(self, gives: &'static [&'static str]) -> Self {
        Self { gives, ..self }
    }

    /// Requests beyond one for each URL and for robots.txt: so many at most.
    pub(super) const fn retries(self, retries: usize) -> Self {
        Self { retries, ..self }
    }

    /// Requests on connections that the server had closed, which it does not see: so many at most.
    pub(super) const fn unseen(self, unseen: usize) -> Self {
        Self { unseen, ..self }
    }

    /// URLs that are not foretold one by one: so many at most.
    pub(super) const fn strays(self, strays: usize) -> Self {
        Self { strays, ..self }
    }

    /// How the run ends, if something is left.
    pub(super) const fn ends(self, code: i32, end: &'static str) -> Self {
        Self { end: (code, end), ..self }
    }

    /// Settings, as variables without `WEBLOOM_`.
    pub(super) const fn set(self, variables: &'static [(&'static str, &'static str)]) -> Self {
        Self { variables, ..self }
    }

    /// More arguments.
    pub(super) const fn args(self, arguments: &'static [&'static str]) -> Self {
        Self { arguments, ..self }
    }

    /// What the document calls the outcome: the first state without path, status, target and title.
    pub(super) fn outcome(&self) -> String {
        let state = self.gives.first().and_then(|state| state.split(" title:").next()).expect("an outcome is foretold");
        let mut words = state.split(' ').skip(1);
        let outcome = format!("`{}`", words.next().expect("an outcome"));
        words.skip(1).filter(|word| !word.starts_with("to:")).fold(outcome, |outcome, word| {
            match word.strip_prefix("cut:") {
                Some(why) => format!("{outcome}, cut (`{why}`)"),
                None => format!("{outcome} (`{word}`)"),
            }
        })
    }

    /// Crawls it; what is not as foretold.
    pub(super) fn faults(&self) -> Vec<String> {
        let answer = self.answer;
        let server = serve(move |asked| match answer {
            Answer::Page(answer) if asked.target == "/x" => answer(asked),
            Answer::Page(_) => usual(asked),
            Answer::Site(answer) => answer(asked),
        });
        let folder = Folder::new();
        let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(self.arguments);
        let run =
            self.variables.iter().fold(run, |run, (name, value)| run.env(&format!("WEBLOOM_{name}"), value)).run();
        if run.code != Some(self.end.0) {
            return vec![format!("{}: ends with {:?}: {}{}", self.name, run.code, run.stdout, run.stderr)];
        }
        assert_clean(&folder.crawl());
        let states: BTreeSet<_> = pages(&folder.crawl()).values().map(|page| state(&server, page)).collect();
        let faults =
            [self.wrong_end(&run), self.wrong_requests(&run, &server, states.len()), self.wrong_states(&states)];
        faults.concat().into_iter().map(|fault| format!("{}: {fault}", self.name)).collect()
    }

    fn wrong_end(&self, run: &Run) -> Vec<String> {
        let summary = run.json();
        assert_counts(&summary);
        let crashed = run.stderr.contains("panicked").then(|| run.stderr.clone());
        let ended = (summary["end"] != self.end.1).then(|| format!("ends as {}", summary["end"]));
        crashed.into_iter().chain(ended).collect()
    }

    fn wrong_requests(&self, run: &Run, server: &Server, urls: usize) -> Vec<String> {
        let targets = server.targets();
        let (sent, most) = (run.json()["requests"]["sent"].as_u64().unwrap_or_default(), urls + 1 + self.retries);
        let many = (targets.len() > most).then(|| format!("{} requests, {most} may be: {targets:?}", targets.len()));
        let unseen = sent.checked_sub(targets.len() as u64);
        let untrue = unseen
            .is_none_or(|unseen| unseen > self.unseen as u64)
            .then(|| format!("counts {sent} requests: {targets:?}"));
        many.into_iter().chain(untrue).collect()
    }

    fn wrong_states(&self, states: &BTreeSet<String>) -> Vec<String> {
        let whole = self.gives.iter().filter(|state| state.contains(' '));
        let mut foretold: BTreeSet<String> = whole.map(|&state| state.to_owned()).collect();
        for path in ["/", "/good"] {
            let is_named = self.gives.iter().any(|state| state.split(' ').next() == Some(path));
            foretold.extend((!is_named).then(|| format!("{path} stored 200")));
        }
        let missing: Vec<_> = foretold.difference(states).collect();
        let strays: Vec<_> = states.difference(&foretold).collect();
        if missing.is_empty() && strays.len() <= self.strays {
            return Vec::new();
        }
        let strays: Vec<_> = strays.iter().take(9).collect();
        vec![format!("not there: {missing:?}\n    but: {strays:?}")]
    }
}

/// A site of which nothing is odd: `/` links to `/x` and `/good`, `/there` is where others lead, all else is not found.
pub(super) fn usual(asked: &Asked) -> Reply {
    match asked.target.as_str() {
        "/" => Reply::links(["/x", "/good"]),
        "/good" => Reply::html("<title>good</title>"),
        "/there" => Reply::html("there"),
        _ => Reply::status(404),
    }
}

/// A URL as `pages` has it: path, outcome, status, then what is said beside it.
fn state(server: &Server, page: &Value) -> String {
    let short = |name: &str| page[name].as_str().map(|text| text.replace(&server.url(""), ""));
    let status = page["status"].as_u64().map_or("-".to_owned(), |status| status.to_string());
    let mut words = vec![short("url").unwrap_or_default(), short("outcome").unwrap_or_default(), status];
    words.extend(short("reason"));
    words.extend(short("truncated").map(|why| format!("cut:{why}")));
    words.extend(short("redirect").map(|to| format!("to:{to}")));
    // An answer to another request would have another title.
    words.extend(short("title").filter(|title| title != "good").map(|title| format!("title:{title}")));
    words.join(" ")
}
