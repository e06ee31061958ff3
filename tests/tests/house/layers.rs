//! The layers of the architecture: an arrow may only point downwards.

use crate::{
    assert_none,
    paths::{Named, module_of, named},
    source::{Source, below, shipped},
};

/// A layer, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Layer {
    Types,
    Core,
    Ports,
    Adapters,
    Shell,
}

/// Every module of `crawler/src`, by the longest name that fits: `fetch/http` is an adapter, the rest of `fetch` a
/// port.
const TABLE: &[(&str, Layer)] = &[
    ("candidate", Layer::Types),
    ("time", Layer::Types),
    ("purpose", Layer::Types),
    ("queue", Layer::Types),
    ("order", Layer::Types),
    ("health", Layer::Types),
    ("sections", Layer::Types),
    ("media_type", Layer::Types),
    ("syntax", Layer::Types),
    ("text", Layer::Types),
    ("url", Layer::Types),
    ("changes", Layer::Core),
    ("extract", Layer::Core),
    ("markdown", Layer::Core),
    ("politeness", Layer::Core),
    ("revisit", Layer::Core),
    ("rewrite", Layer::Core),
    ("robots", Layer::Core),
    ("schedule", Layer::Core),
    ("scope", Layer::Core),
    ("search", Layer::Core),
    ("fetch", Layer::Ports),
    ("frontier", Layer::Ports),
    ("store", Layer::Ports),
    ("clock", Layer::Adapters),
    ("fetch/dns", Layer::Adapters),
    ("fetch/http", Layer::Adapters),
    ("store/sqlite", Layer::Adapters),
    ("cli", Layer::Shell),
    ("library", Layer::Shell),
    ("session", Layer::Shell),
    ("serve", Layer::Shell),
    ("config", Layer::Shell),
    ("engine", Layer::Shell),
    ("export", Layer::Shell),
    ("monitor", Layer::Shell),
    ("observe", Layer::Shell),
    ("report", Layer::Shell),
];

/// What the layers up to the ports, and `urlcache`, must not name: HTTP clients, runtimes, databases, files, sockets.
const OUTSIDE: &[&str] = &[
    "governor",
    "hyper",
    "hyper_util",
    "reqwest",
    "rusqlite",
    "rustix",
    "std::fs",
    "std::net::TcpListener",
    "std::net::TcpStream",
    "std::net::ToSocketAddrs",
    "std::net::UdpSocket",
    "std::os::unix::net",
    "std::thread::sleep",
    "tokio",
];

/// The deciding core: in the shell's layer, because it knows the settings, and as pure as what lies below.
const DECIDING: &str = "crawler/src/engine/core/";

/// What politeness may use of the outside: the limiter, whose time is an argument.
const LIMITER: &str = "governor";

/// Where that may be named.
const GATE: &str = "politeness";

/// What names the database: nothing else could be put in its place otherwise.
const DATABASE: &str = "rusqlite";

/// Where that may be named.
const STORE: &str = "store/sqlite";

/// What names the practice site: a library user has no use for it.
const PRACTICE: &str = "webloom_practice";

/// Where that may be named.
const PROGRAM: &str = "cli";

/// The one place that says what keeps a crawl: engine and commands know the ports.
const COMPOSITION: &str = "crawler/src/session/directory.rs";

/// What the deciding core must not use of ours.
const ADAPTERS: [&[&str]; 4] =
    [&["crate", "clock"], &["crate", "store", "sqlite"], &["crate", "fetch", "http"], &["crate", "observe"]];

/// Libraries of ours.
const OURS: &[&str] = &["urlcache", "webloom"];

/// Types whose `now` reads a clock.
const CLOCKS: &[&str] = &["Instant", "SystemTime", "Timestamp", "Zoned"];

/// A module of the table. The crate's root files are the shell's, and have an empty name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Module {
    name: &'static str,
    layer: Layer,
}

impl Module {
    fn may_use(self, other: Self) -> bool {
        let among_themselves = matches!(self.layer, Layer::Types | Layer::Shell);
        other == self || other.layer < self.layer || (other.layer == self.layer && among_themselves)
    }
}

#[test]
fn arrows_point_downwards() {
    assert_none("layers", &faults(&shipped(below(&["crawler/src"]))));
}

#[test]
fn the_practice_site_knows_nothing_of_ours() {
    assert_none("practice", &practice_faults(&shipped(below(&["crawler/practice/src"]))));
}

#[test]
fn the_url_cache_needs_nothing_of_ours() {
    assert_none("urlcache", &cache_faults(&shipped(below(&["urlcache/src", "urlcache/evaluation/src"]))));
}

fn faults(sources: &[Source]) -> Vec<String> {
    sources.iter().flat_map(faults_of).collect()
}

fn faults_of(source: &Source) -> Vec<String> {
    let Some(module) = module(&module_of(&source.path)) else {
        return vec![format!("{}: its module is in no layer; put it into TABLE of this test", source.path)];
    };
    let named = named(source);
    let arrows = named.iter().filter_map(|named| arrow_fault(module, named).map(|fault| at(source, named, &fault)));
    let practice = named.iter().filter(|named| named.segments[0] == PRACTICE && module.name != PROGRAM);
    let arrows = arrows.chain(practice.map(|named| at(source, named, "only the program knows the practice site")));
    if module.layer <= Layer::Ports {
        let limiter = |named: &&Named| module.name == GATE && named.segments[0] == LIMITER;
        arrows.chain(outside_faults(source, named.iter().filter(|named| !limiter(named)))).collect()
    } else if source.path.starts_with(DECIDING) {
        arrows.chain(impure(source, &named)).collect()
    } else {
        let database = named.iter().filter(|named| named.segments[0] == DATABASE && module.name != STORE);
        let database = database.map(|named| at(source, named, "only the store's adapter knows its database"));
        let store = named.iter().filter(|named| names_store(&named.segments) && !may_name_store(source, module));
        let store = store.map(|named| at(source, named, "only COMPOSITION of this test knows the store's adapter"));
        arrows.chain(database).chain(store).collect()
    }
}

fn may_name_store(source: &Source, module: Module) -> bool {
    source.path == COMPOSITION || module.name == STORE
}

/// Also where `store` itself was imported before.
fn names_store(segments: &[String]) -> bool {
    let (parent, adapter) = STORE.split_once('/').expect("an adapter lies below its port");
    segments.windows(2).any(|names| names[0] == parent && names[1] == adapter)
}

/// What the deciding core names of the outside.
fn impure(source: &Source, named: &[Named]) -> Vec<String> {
    let outside = named.iter().filter(|named| is_outside(&named.segments) || reads_clock(&named.segments));
    let adapters = named.iter().filter(|named| {
        ADAPTERS
            .iter()
            .any(|adapter| named.segments.iter().map(String::as_str).take(adapter.len()).eq(adapter.iter().copied()))
    });
    outside.chain(adapters).map(|named| at(source, named, "the deciding core does nothing but decide")).collect()
}

fn arrow_fault(from: Module, named: &Named) -> Option<String> {
    let inside = named.segments.strip_prefix(&["crate".to_owned()])?;
    if from.name.is_empty() || inside.is_empty() {
        return None;
    }
    let Some(to) = module(inside).filter(|to| !to.name.is_empty()) else {
        return Some("names no module of a layer; put it into TABLE of this test".to_owned());
    };
    (!from.may_use(to)).then(|| format!("{} ({:?}) may not use {} ({:?})", from.name, from.layer, to.name, to.layer))
}

/// Who is judged by the practice site must not be asked by it.
fn practice_faults(sources: &[Source]) -> Vec<String> {
    let faults_of = |source: &Source| {
        let named = named(source).into_iter().filter(|named| OURS.contains(&&*named.segments[0]));
        named.map(|named| at(source, &named, "the practice site imports nothing of ours")).collect::<Vec<_>>()
    };
    sources.iter().flat_map(faults_of).collect()
}

/// The urlcache library knows bytes: nothing of ours, nothing outside. So do the classifiers and sketches beside its program,
/// which itself is free.
fn cache_faults(sources: &[Source]) -> Vec<String> {
    sources
        .iter()
        .flat_map(|source| {
            let named = named(source);
            let ours = named.iter().filter(|named| named.segments[0] == "webloom");
            let ours = ours.map(|named| at(source, named, "the URL cache imports nothing of ours")).collect::<Vec<_>>();
            ours.into_iter().chain(outside_faults(source, named.iter()))
        })
        .collect()
}

fn outside_faults<'a>(source: &Source, named: impl Iterator<Item = &'a Named>) -> Vec<String> {
    let faults = named.filter(|named| is_outside(&named.segments) || reads_clock(&named.segments));
    faults.map(|named| at(source, named, "this layer does no I/O, reads no clock and knows no runtime")).collect()
}

fn is_outside(segments: &[String]) -> bool {
    let path = segments.join("::");
    OUTSIDE.iter().any(|outside| path == *outside || path.starts_with(&format!("{outside}::")))
}

fn reads_clock(segments: &[String]) -> bool {
    matches!(segments, [.., clock, now] if now == "now" && CLOCKS.contains(&clock.as_str()))
}

fn at(source: &Source, named: &Named, fault: &str) -> String {
    format!("{}:{}: `{}`: {fault}", source.path, named.line, named.segments.join("::"))
}

/// The module of the table that a module path lies in: the longest name that it starts with.
fn module(path: &[String]) -> Option<Module> {
    if path.is_empty() {
        return Some(Module { name: "", layer: Layer::Shell });
    }
    let fits = |name: &str| {
        name.split('/')
            .zip(path.iter().map(Some).chain(std::iter::repeat(None)))
            .all(|(a, b)| b.is_some_and(|b| a == b))
    };
    let (name, layer) = *TABLE.iter().filter(|(name, _)| fits(name)).max_by_key(|(name, _)| name.len())?;
    Some(Module { name, layer })
}

/// The faults of one planted file.
fn planted(path: &str, text: &str) -> Vec<String> {
    faults(&[Source::new(path, text)])
}

#[test]
fn an_arrow_upwards_is_a_fault() {
    for (path, text) in [
        ("crawler/src/url/key.rs", "use crate::scope::Scope;"),
        ("crawler/src/robots/mod.rs", "fn f() { crate::extract::links(b\"\") }"),
        ("crawler/src/frontier/mod.rs", "fn f() { log!(crate::engine::Name) }"),
        ("crawler/src/fetch/mod.rs", "mod http;\npub use http::Client;"),
        ("crawler/src/fetch/http/mod.rs", "use super::dns::Resolver;"),
        ("crawler/src/store/sqlite/writer.rs", "use crate::engine::Step;"),
        ("crawler/src/fetch/dns.rs", "use crate::clock::Clock;"),
    ] {
        let faults = planted(path, text);
        assert!(faults.len() == 1 && faults[0].contains("may not use"), "{path}: {faults:?}");
    }
}

#[test]
fn the_deciding_core_does_nothing_but_decide() {
    for text in [
        "use tokio::sync::mpsc;",
        "use crate::store::sqlite::Writer;",
        "use crate::{clock::Clock, time::Moment};",
        "fn f() { let x = std::time::Instant::now(); }",
    ] {
        assert_eq!(planted("crawler/src/engine/core/mod.rs", text).len(), 1, "{text}");
        let elsewhere = if text.contains("sqlite") { COMPOSITION } else { "crawler/src/engine/shell.rs" };
        assert_eq!(planted(elsewhere, text), [""; 0], "{text}");
    }
    assert_eq!(planted("crawler/src/engine/core/leasing.rs", "use governor::Quota;").len(), 1);
    assert_eq!(planted("crawler/src/politeness/rate.rs", "use governor::Quota;"), [""; 0]);
}

#[test]
fn the_database_is_the_store_s_alone() {
    for path in ["crawler/src/cli/pages.rs", "crawler/src/engine/run.rs"] {
        assert_eq!(planted(path, "fn f(c: &rusqlite::Connection) {}").len(), 1, "{path}");
    }
    assert_eq!(planted("crawler/src/store/sqlite/pages.rs", "use rusqlite::Connection;"), [""; 0]);
}

#[test]
fn the_practice_site_is_the_program_s_alone() {
    let text = "use webloom_practice::{PracticeSite, Shape};";
    for path in ["crawler/src/library/crawl.rs", "crawler/src/engine/run.rs", "crawler/src/frontier/mod.rs"] {
        assert_eq!(planted(path, text).len(), 2, "{path}");
    }
    assert_eq!(planted("crawler/src/cli/demo/tour.rs", text), [""; 0]);
    let of = |text| practice_faults(&[Source::new("crawler/practice/src/truth.rs", text)]);
    assert_eq!(of("use webloom::url::WebUrl; fn f() { urlcache::segments(b\"\", 1) }").len(), 2);
    assert_eq!(of("use super::Shape; use std::net::TcpListener;"), [""; 0]);
}

#[test]
fn engine_and_commands_do_not_know_what_keeps_a_crawl() {
    for text in [
        "use crate::store::{Resumed, sqlite::CrawlDirectory};",
        "use crate::store; fn f() { store::sqlite::Records::open(p) }",
        "fn f(r: &crate::store::sqlite::Records) {}",
    ] {
        for path in ["crawler/src/engine/run.rs", "crawler/src/cli/session.rs", "crawler/src/observe/progress.rs"] {
            assert_eq!(planted(path, text).len(), 1, "{path}: {text}");
        }
        assert_eq!(planted(COMPOSITION, text), [""; 0], "{text}");
        let test = format!("#[cfg(test)] mod tests {{ {text} }}");
        assert_eq!(planted("crawler/src/engine/run.rs", &test), [""; 0], "{text}");
    }
}

#[test]
fn an_arrow_downwards_is_none() {
    for (path, text) in [
        ("crawler/src/url/key.rs", "use super::WebUrl; use std::time::{Duration, Instant};"),
        ("crawler/src/candidate.rs", "use crate::url::WebUrl;"),
        ("crawler/src/fetch/http/client.rs", "use super::super::{Fetcher, resolve::Resolver}; use reqwest::Client;"),
        ("crawler/src/engine/mod.rs", "use crate::{config::Settings, fetch::http::Client}; use tokio::spawn;"),
        ("crawler/src/main.rs", "use webloom::cli; fn main() { crate::started() }"),
        ("crawler/src/scope/mod.rs", "#[cfg(test)] mod tests { use crate::engine::X; use std::fs; }"),
    ] {
        assert_eq!(planted(path, text), [""; 0], "{path}");
    }
}

#[test]
fn a_module_in_no_layer_is_a_fault() {
    assert!(planted("crawler/src/novel/mod.rs", "")[0].contains("put it into TABLE"));
    assert!(planted("crawler/src/cli/mod.rs", "use crate::novel::X;")[0].contains("put it into TABLE"));
}

#[test]
fn the_lower_layers_do_no_io() {
    for text in [
        "use std::{fs, io};",
        "use std::net::{IpAddr, TcpStream};",
        "fn f() { let x = std::time::Instant::now(); }",
        "use std::time::SystemTime; fn f() { g!(SystemTime::now()) }",
        "async fn f() { tokio::time::timeout(a, b).await }",
        "use reqwest::Client;",
    ] {
        assert_eq!(planted("crawler/src/frontier/mod.rs", text).len(), 1, "{text}");
        assert_eq!(cache_faults(&[Source::new("urlcache/src/lib.rs", text)]).len(), 1, "{text}");
        assert_eq!(planted("crawler/src/store/sqlite/mod.rs", text), [""; 0], "{text}");
    }
    assert_eq!(cache_faults(&[Source::new("urlcache/src/a.rs", "use webloom::url::Key;")]).len(), 1);
}
