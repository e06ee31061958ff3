//! `links` on whole sites, against what lxml finds in their files.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use data_encoding::BASE64;
use serde_json::{Value, json};
use webloom_practice::{PracticeServer, PracticeSite, Shape};
use webloom_tests::{
    debian,
    nginx::Nginx,
    oracle::Kind,
    skip::skip,
    webloom::{Webloom, assert_clean},
};

use crate::whole::oracle;

/// A page for lxml.
struct File {
    path: String,
    html: Vec<u8>,
    charset: Option<String>,
}

/// A page and where a link of it leads.
type Ends = (String, String);

/// Element, rel and text of a link.
type Said = [Option<String>; 3];

/// What the links of a site say of themselves.
type Links = BTreeMap<Ends, Said>;

#[test]
fn the_broken_links_of_libboost_are_those_in_its_files() -> Result<()> {
    let Some(site) = debian::site("libboost1.74-doc")? else { return Ok(()) };
    let Some(oracle) = oracle(&site)? else { return Ok(()) };
    let pages: Result<Vec<File>> = oracle.paths(Kind::Page).into_iter().map(|path| file(&site.root, path)).collect();
    let Some(seen) = seen_by_lxml(&pages?)? else { return Ok(()) };
    let Some(nginx) = Nginx::serve(&site.root)? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let dir = folder.path().join("crawl");
    let start = format!("{}{}", nginx.url(), site.start.trim_start_matches('/'));
    Webloom::crawl(&dir, &start).args(["--per-host", "16"]).run().expect(0);
    assert_clean(&dir);
    let broken = oracle.paths(Kind::Broken);
    let expected = seen.into_iter().filter(|((_, to), _)| broken.contains(&**to)).collect();
    agree(&listed(&dir, "--broken", nginx.url().trim_end_matches('/'))?, &expected)?;
    Ok(())
}

#[test]
fn the_links_of_the_practice_site_are_those_in_its_pages() -> Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let server = runtime.block_on(PracticeServer::start(PracticeSite::new(Shape::demo())))?;
    let truth = server.site().truth();
    let written = PracticeSite::new(Shape::demo()).at("http://site.invalid");
    let page = |path: &String| {
        let answer = written.answer(path);
        let text = String::from_utf8(answer.body.clone());
        let charset = text.is_ok().then(|| "utf-8".to_owned());
        File { path: path.clone(), html: answer.body, charset }
    };
    let pages: Vec<_> = truth.html.iter().map(page).collect();
    let Some(seen) = seen_by_lxml(&pages)? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let dir = folder.path().join("crawl");
    Webloom::crawl(&dir, &server.url()).args(["--per-host", "8"]).run().expect(0);
    assert_clean(&dir);
    let ends_broken = |path: &str| {
        let mut path = path.to_owned();
        for _ in 0..20 {
            let Some(next) = truth.redirects.get(&path) else { return truth.broken.contains_key(&path) };
            path.clone_from(next);
        }
        true
    };
    let root = server.url().trim_end_matches('/').to_owned();
    let of = |which: &dyn Fn(&str) -> bool| {
        seen.iter().filter(|((_, to), _)| which(to)).map(|(key, said)| (key.clone(), said.clone())).collect::<Links>()
    };
    agree(&listed(&dir, "--broken", &root)?, &of(&ends_broken))?;
    agree(&listed(&dir, "--redirects", &root)?, &of(&|path| truth.redirects.contains_key(path)))?;
    runtime.block_on(server.stop());
    Ok(())
}

fn file(root: &Path, address: &str) -> Result<File> {
    let path = address.split('?').next().unwrap_or_default().trim_start_matches('/');
    let path = percent_decoded(path);
    let index = if address.ends_with('/') { "index.html" } else { "" };
    let html = fs::read(root.join(path).join(index))
        .or_else(|_| fs::read(root.join(percent_decoded(address.trim_start_matches('/')))))?;
    let charset = String::from_utf8(html.clone()).is_ok().then(|| "utf-8".to_owned());
    Ok(File { path: address.to_owned(), html, charset })
}

fn percent_decoded(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let escape = after.get(..2).and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        let (byte, length) = escape.filter(|_| *first == b'%').map_or((*first, 0), |byte| (byte, 2));
        bytes.push(byte);
        rest = &after[length..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The links within the site as lxml sees them; `None` after saying `skipped: …`, when it is not here.
fn seen_by_lxml(pages: &[File]) -> Result<Option<Links>> {
    let with_lxml = |python: &&str| {
        let tried = Command::new(python).args(["-c", "import lxml.html"]).stderr(Stdio::null()).status();
        tried.is_ok_and(|status| status.success())
    };
    let Some(python) = ["python3", "/usr/bin/python3"].into_iter().find(with_lxml) else {
        skip("lxml is not here (tests/prepare installs it)");
        return Ok(None);
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle/links.py");
    let mut input = tempfile::tempfile()?;
    for File { path, html, charset } in pages {
        writeln!(input, "{}", json!({"path": path, "html_b64": BASE64.encode(html), "charset": charset}))?;
    }
    std::io::Seek::rewind(&mut input)?;
    let output = Command::new(python).arg(script).stdin(input).output()?;
    ensure!(output.status.success(), "links.py: {}", String::from_utf8_lossy(&output.stderr));
    let shown = std::str::from_utf8(&output.stdout)?.lines();
    shown.map(|line| said(&serde_json::from_str(line)?, "")).collect::<Result<_>>().map(Some)
}

/// The lines of `links`, with paths in the place of URLs.
fn listed(dir: &Path, question: &str, root: &str) -> Result<Links> {
    let lines = Webloom::new(["links", question, "--format", "jsonl"]).args([dir]).run().expect(0).json_lines();
    let count = lines.len();
    let found: Links = lines.iter().map(|line| said(line, root)).collect::<Result<_>>()?;
    ensure!(found.len() == count, "a page and its target have two lines");
    Ok(found)
}

fn said(line: &Value, root: &str) -> Result<(Ends, Said)> {
    let text = |name: &str| line[name].as_str().map(|text| text.strip_prefix(root).unwrap_or(text).to_owned());
    let from = text("from").with_context(|| format!("no page: {line}"))?;
    let to = text("to").with_context(|| format!("no target: {line}"))?;
    Ok(((from, to), [text("element"), text("rel"), text("text")]))
}

/// Fails with the first links that both sides say different things of.
fn agree(listed: &Links, expected: &Links) -> Result<()> {
    let keys: BTreeSet<_> = listed.keys().chain(expected.keys()).collect();
    let unequal: Vec<_> = keys.into_iter().filter(|key| listed.get(*key) != expected.get(*key)).collect();
    let line = |key: &&Ends| format!("{key:?}: {:?}, and lxml: {:?}", listed.get(*key), expected.get(*key));
    let shown: Vec<_> = unequal.iter().take(20).map(line).collect();
    ensure!(unequal.is_empty(), "{} of {} links differ: {shown:#?}", unequal.len(), expected.len());
    ensure!(!expected.is_empty(), "nothing was compared");
    println!("{} links as lxml has them", expected.len());
    Ok(())
}
