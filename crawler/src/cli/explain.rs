//! `webloom explain`: one JSON object a line in, one out, in the same order.

use std::{
    io::{self, BufRead, Write},
    process::ExitCode,
};

use clap::Subcommand;
use data_encoding::BASE64;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{CommandFailure, listing};
use crate::{
    config::{Layers, RawSettings, RawValue},
    extract::{
        self,
        sitemap::{self, ChangeFrequency, SourceEntry, SourceKind, SourceLimits},
    },
    observe::escape,
    robots::{self, ProductToken, Question},
    url::{Canonicalizer, KeyRule, UrlError, WebUrl},
};

/// What is explained.
#[derive(Debug, Subcommand)]
pub(super) enum ExplainCommand {
    /// Show what a URL is fetched as, and what identifies it
    ///
    /// Each line of stdin is a JSON object `{"url", "base"?, "rules"?, "strip_query"?}`; each line of stdout is the
    /// answer. `rules` is a list of the rules that make the key, and `strip_query` a list of parameters; without them
    /// the defaults hold.
    Url,
    /// Show what a robots.txt says about a URL
    ///
    /// Each line of stdin is a JSON object `{"robots" or "robots_b64", "user_agent", "url", "status"?}`; each line of
    /// stdout is the answer.
    Robots,
    /// Show what a page links to
    ///
    /// Each line of stdin is a JSON object `{"html" or "html_b64", "base", "content_type"?}`; each line of stdout is
    /// the answer.
    Links,
    /// Show which URLs a sitemap or a feed names
    ///
    /// Each line of stdin is a JSON object `{"body" or "body_b64", "url", "content_type"?}`; each line of stdout is the
    /// answer.
    Sitemap,
    /// Show which fields rules take out of a page
    ///
    /// Each line of stdin is a JSON object `{"html" or "html_b64", "base", "fields", "structured"?, "content_type"?}`; each line
    /// of stdout is the answer. `fields` is a list of rules as in --field, or an object of names and selectors.
    Fields,
}

pub(super) fn run(command: &ExplainCommand) -> Result<ExitCode, CommandFailure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut lines = io::stdin().lock();
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).map_err(CommandFailure::system("cannot read stdin"))? > 0 {
        let answer = match command {
            ExplainCommand::Url => answer(&line, explain_url),
            ExplainCommand::Robots => answer(&line, explain_robots),
            ExplainCommand::Links => answer(&line, explain_links),
            ExplainCommand::Sitemap => answer(&line, explain_sitemap),
            ExplainCommand::Fields => answer(&line, explain_fields),
        };
        match writeln!(out, "{}", escape::json(&answer)) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
            written => written.map_err(CommandFailure::system("cannot write to stdout"))?,
        }
        line.clear();
    }
    out.flush().map_err(CommandFailure::system("cannot write to stdout"))?;
    Ok(ExitCode::SUCCESS)
}

/// An unusable line gives an `error`, and the run goes on.
fn answer<'a, T: Deserialize<'a>>(line: &'a [u8], explain: impl FnOnce(T) -> Result<Value, String>) -> Value {
    let read = serde_json::from_slice(line).map_err(|error| format!("not the JSON expected: {error}"));
    read.and_then(explain).unwrap_or_else(|error| json!({ "error": error }))
}

#[derive(Deserialize)]
struct UrlQuestion {
    url: String,
    base: Option<String>,
    rules: Option<Vec<String>>,
    strip_query: Option<RawValue>,
}

impl UrlQuestion {
    /// The rules of keys that it asks for.
    fn key_rules(&self) -> Result<Canonicalizer, String> {
        let mut given = RawSettings::default();
        given.key.rules = self.rules.clone().map(RawValue::List);
        given.key.strip_query.clone_from(&self.strip_query);
        if given == RawSettings::default() {
            return Ok(Canonicalizer::default());
        }
        let text = given.to_json();
        let resolved = Layers::new().file_text("question", &text).resolve().map_err(|faults| faults.to_string())?;
        Ok(resolved.settings.key.rules)
    }
}

fn explain_url(question: UrlQuestion) -> Result<Value, String> {
    let rules = question.key_rules()?;
    let UrlQuestion { url, base, .. } = question;
    let parsed = match base.as_deref().filter(|base| !base.is_empty()) {
        Some(base) => WebUrl::parse(base).and_then(|base| base.join(&url)),
        None => WebUrl::parse(&url),
    };
    Ok(match parsed {
        Ok(url) => json!({
            "url": url.as_str(), "key": rules.key(&url).as_str(), "surt": url.surt(), "host": url.host(), "domain": url.registrable_domain(),
            "rules": rules.changing(&url).iter().map(KeyRule::as_str).collect::<Vec<_>>(), "reason": null,
        }),
        Err(error) => json!({
            "url": null, "key": null, "surt": null, "host": null, "domain": null, "rules": [],
            "reason": match error { UrlError::Scheme => "scheme", UrlError::Syntax(_) => "syntax" },
        }),
    })
}

#[derive(Deserialize)]
struct RobotsQuestion {
    robots: Option<String>,
    robots_b64: Option<String>,
    user_agent: String,
    url: String,
    status: Option<u16>,
}

fn explain_robots(question: RobotsQuestion) -> Result<Value, String> {
    let body = bytes(question.robots, question.robots_b64, "robots")?;
    let agent = ProductToken::new(&question.user_agent).map_err(|error| error.to_string())?;
    let status = question.status.unwrap_or(200);
    let answer = robots::explain(&Question { status, robots: &body, agent: &agent, url: &question.url });
    Ok(json!({
        "allowed": answer.allowed, "rule": answer.rule, "sitemaps": answer.sitemaps,
        "crawl_delay": answer.crawl_delay.map(|delay| delay.as_secs_f64()),
    }))
}

#[derive(Deserialize)]
struct LinksQuestion {
    html: Option<String>,
    html_b64: Option<String>,
    base: String,
    content_type: Option<String>,
}

fn explain_links(question: LinksQuestion) -> Result<Value, String> {
    // Text in JSON has been decoded already; only bytes have a charset to be found out.
    let decoded = question.html.is_some();
    let body = bytes(question.html, question.html_b64, "html")?;
    let base = WebUrl::parse(&question.base).map_err(|error| format!("base: {error}"))?;
    let content_type = question.content_type.or_else(|| decoded.then(|| "text/html; charset=utf-8".to_owned()));
    let page = extract::everything(&body, content_type.as_deref(), &base);
    let list = |urls: &[WebUrl]| urls.iter().map(WebUrl::as_str).map(Value::from).collect::<Vec<_>>();
    Ok(json!({
        "links": list(&page.links), "requisites": list(&page.requisites), "frames": list(&page.frames),
        "alternates": list(&page.alternates), "nofollow": list(&page.nofollow), "base": page.base.as_str(),
        "charset": page.charset, "title": page.head.title,
        "description": page.head.description, "canonical": page.head.canonical,
        "needs_js": page.head.needs_js, "language": page.head.language, "h1": page.head.heading, "words": page.head.words,
        "meta_robots": {"nofollow": page.head.robots.nofollow, "noindex": page.head.robots.noindex},
    }))
}

#[derive(Deserialize)]
struct SitemapQuestion {
    body: Option<String>,
    body_b64: Option<String>,
    url: String,
    content_type: Option<String>,
}

fn explain_sitemap(question: SitemapQuestion) -> Result<Value, String> {
    // Text in JSON has been decoded already: a byte order mark says so, whatever charset the document names.
    let body = question.body.map(|text| format!("\u{feff}{text}"));
    let body = bytes(body, question.body_b64, "body")?;
    let url = WebUrl::parse(&question.url).map_err(|error| format!("url: {error}"))?;
    let list = sitemap::read(&body, question.content_type.as_deref(), &url, &SourceLimits::default());
    let entry = |entry: &SourceEntry| {
        json!({
            "url": entry.url.as_str(), "lastmod": entry.lastmod.map(|moment| listing::time(moment.millis())),
            "changefreq": entry.changefreq.map(ChangeFrequency::word), "priority": entry.priority,
        })
    };
    Ok(json!({
        "kind": list.kind.map(SourceKind::word), "urls": list.entries.iter().map(entry).collect::<Vec<_>>(),
        "sitemaps": list.sitemaps.iter().map(|entry| entry.url.as_str()).collect::<Vec<_>>(),
        "problems": list.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
    }))
}

#[derive(Deserialize)]
struct FieldsQuestion {
    html: Option<String>,
    html_b64: Option<String>,
    base: String,
    content_type: Option<String>,
    fields: Option<Value>,
    structured: Option<Value>,
}

fn explain_fields(question: FieldsQuestion) -> Result<Value, String> {
    let decoded = question.html.is_some();
    let body = bytes(question.html, question.html_b64, "html")?;
    let base = WebUrl::parse(&question.base).map_err(|error| format!("base: {error}"))?;
    let content_type = question.content_type.or_else(|| decoded.then(|| "text/html; charset=utf-8".to_owned()));
    let settings = json!({ "extract": { "fields": question.fields, "structured": question.structured } }).to_string();
    let resolved = Layers::new().file_text("question", &settings).resolve().map_err(|faults| faults.to_string())?;
    let found = resolved.settings.extract.fields.read(&body, content_type.as_deref(), &base);
    let fields = found.map(|fields| serde_json::from_str::<Value>(&fields.json)).transpose();
    Ok(json!({ "fields": fields.map_err(|error| error.to_string())? }))
}

fn bytes(text: Option<String>, base64: Option<String>, name: &str) -> Result<Vec<u8>, String> {
    match (text, base64) {
        (Some(text), None) => Ok(text.into_bytes()),
        (None, Some(encoded)) => {
            BASE64.decode(encoded.as_bytes()).map_err(|error| format!("{name}_b64 is not base64: {error}"))
        }
        _ => Err(format!("give either {name} or {name}_b64")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unusable_line_is_answered_too() {
        let answer = answer(b"{\"url\": 3}\n", explain_url);
        assert!(answer["error"].as_str().is_some());
        assert!(
            explain_robots(RobotsQuestion {
                robots: None,
                robots_b64: Some("?".into()),
                user_agent: "a".into(),
                url: "/".into(),
                status: None
            })
            .is_err()
        );
    }

    #[test]
    fn says_what_a_sitemap_names() {
        let line = br#"{"body": "<?xml version='1.0' encoding='latin1'?><urlset><url><loc>http://h/\u00fc</loc><lastmod>2024-10-19</lastmod>
            <priority>0.8</priority></url><url><loc>b</loc><changefreq>Daily</changefreq></url></urlset>", "url": "http://h/s.xml"}"#;
        let answer = answer(&line.split(|byte| *byte == b'\n').collect::<Vec<_>>().concat(), explain_sitemap);
        let expected = json!({
            "kind": "urlset",
            "urls": [
                {"url": "http://h/%C3%BC", "lastmod": "2024-10-19T00:00:00Z", "changefreq": null, "priority": 0.8},
                {"url": "http://h/b", "lastmod": null, "changefreq": "daily", "priority": null},
            ],
            "sitemaps": [], "problems": ["relative URL: \"b\""],
        });
        assert_eq!(answer, expected);
        let line = br#"{"body": "<sitemapindex><sitemap><loc>http://h/a.xml</loc></sitemap></sitemapindex>", "url": "http://h/"}"#;
        let answer = super::answer(line, explain_sitemap);
        assert_eq!((answer["kind"].as_str(), &answer["sitemaps"]), (Some("sitemapindex"), &json!(["http://h/a.xml"])));
        assert!(super::answer(b"{\"url\": \"http://h/\"}", explain_sitemap)["error"].is_string());
        assert!(super::answer(b"{\"url\": \"/\", \"body\": \"\"}", explain_sitemap)["error"].is_string());
    }

    #[test]
    fn says_which_fields_a_page_has() {
        let answer = |question: &Value| answer(question.to_string().as_bytes(), explain_fields);
        let html = "<h1>A</h1><a href=b>c</a><meta property=og:type content=x>";
        let rules = json!(["title=h1", "links[]=a@href", "/q/ => other=h1"]);
        let found = answer(&json!({ "html": html, "base": "http://h/p/", "fields": rules }));
        assert_eq!(found, json!({ "fields": { "title": "A", "links": ["http://h/p/b"] } }));
        let table =
            json!({ "html": html, "base": "http://h/", "fields": { "title": "h1" }, "structured": ["opengraph"] });
        assert_eq!(answer(&table), json!({ "fields": { "title": "A", "opengraph": { "og:type": "x" } } }));
        assert_eq!(answer(&json!({ "html": html, "base": "http://h/" })), json!({ "fields": null }));
        for wrong in [
            json!({ "html": "", "base": "http://h/", "fields": ["a=p["] }),
            json!({ "base": "http://h/", "fields": [] }),
        ] {
            assert!(answer(&wrong)["error"].is_string(), "{wrong}");
        }
    }

    #[test]
    fn says_what_is_fetched_and_what_identifies_it() {
        let answer = answer(b"{\"url\": \"/a#b\", \"base\": \"HTTP://H:80/x\"}", explain_url);
        assert_eq!((answer["url"].as_str(), answer["key"].as_str()), (Some("http://h/a"), Some("http://h/a")));
        let domain =
            |text: &str| super::answer(json!({ "url": text }).to_string().as_bytes(), explain_url)["domain"].clone();
        assert_eq!((domain("http://www.a.co.uk/"), domain("http://10.0.0.1/")), (json!("a.co.uk"), Value::Null));
        let other = super::answer(b"{\"url\": \"mailto:a@b\"}", explain_url);
        assert_eq!((other["url"].is_null(), other["reason"].as_str()), (true, Some("scheme")));
    }

    #[test]
    fn names_the_rules_that_change_the_key() {
        let answer = |question: &Value| answer(question.to_string().as_bytes(), explain_url);
        let url = "https://www.h.example/%7ea/?utm_source=b&x";
        let default = answer(&json!({"url": url}));
        assert_eq!(default["key"], "https://www.h.example/~a/?utm_source=b&x");
        assert_eq!(
            (&default["rules"], &default["surt"]),
            (&json!(["unreserved"]), &json!("example,h)/~a?utm_source=b&x"))
        );
        let stripped = answer(&json!({"url": url, "rules": ["www", "scheme"], "strip_query": "tracking,x"}));
        assert_eq!((&stripped["key"], &stripped["url"]), (&json!("http://h.example/%7ea/"), &json!(url)));
        assert_eq!(stripped["rules"], json!(["scheme", "www", "strip-query"]));
        for wrong in [json!({"url": url, "rules": ["slash"]}), json!({"url": url, "strip_query": ["a b"]})] {
            assert!(answer(&wrong)["error"].as_str().is_some_and(|error| error.contains("question: key.")), "{wrong}");
        }
    }
}
