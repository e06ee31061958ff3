//! Extraction against html5gum's own default emitter on the same pages: `cargo bench -p webloom --bench extract`.
//!
//! The pages are real ones from `shared/data/links` beside the checkout, or one made page where that is missing. The
//! figure to watch is the ratio.

use std::{
    fs::File,
    hint::black_box,
    io::{BufRead, BufReader},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use html5gum::{Token, Tokenizer};
use webloom::internals::{
    extract::{self, LinkLimits, Reading, ReferenceSeed, ScannedPage},
    url::WebUrl,
};

const ROUNDS: usize = 7;
const SIZES: std::ops::Range<usize> = 30_000..90_000;

fn main() -> anyhow::Result<()> {
    let base = WebUrl::parse("https://www.example.org/dir/page.html")?;
    let pages = pages().unwrap_or_else(|| vec![made_page(); 50]);
    let bytes: usize = pages.iter().map(String::len).sum();
    let links: usize = pages.iter().map(|page| extract::links(page.as_bytes(), UTF_8, &base).links.len()).sum();
    println!("{} pages, {} bytes and {} links on average", pages.len(), bytes / pages.len(), links / pages.len());

    let per_page = |run: &dyn Fn(&str)| best(&pages, run).as_secs_f64() * 1e6 * 60_000.0 / bytes as f64;
    let ours = per_page(&|page| drop(black_box(followed(page, &base).resolved())));
    let rows = [
        ("extract::scan, links resolved", ours),
        (
            "extract::links, a and area",
            per_page(&|page| drop(black_box(extract::links(page.as_bytes(), UTF_8, &base)))),
        ),
        ("extract::scan, with text", per_page(&|page| drop(black_box(with_text(page, &base))))),
        ("extract::everything", per_page(&|page| drop(black_box(extract::everything(page.as_bytes(), UTF_8, &base))))),
        ("html5gum, default emitter, no links made", per_page(&|page| assert!(black_box(start_tags(page)) > 0))),
        ("html5gum, default emitter, each href joined", per_page(&|page| drop(black_box(plain_links(page, &base))))),
        ("joining alone, each link once", per_page(&joining(&pages, &base))),
    ];
    for (name, micros) in rows {
        println!("{name:45} {micros:8.1} us per 60 KB {:8.2} x ours", micros / ours);
    }
    Ok(())
}

/// All links that a crawl follows.
fn followed(page: &str, base: &WebUrl) -> ScannedPage {
    extract::scan(page.as_bytes(), UTF_8, base, &Reading::links(LinkLimits::NONE, ReferenceSeed::random()))
}

fn with_text(page: &str, base: &WebUrl) -> ScannedPage {
    let reading = Reading::links(LinkLimits::NONE, ReferenceSeed::random()).with_text(Arc::default());
    extract::scan(page.as_bytes(), UTF_8, base, &reading)
}

const UTF_8: Option<&str> = Some("text/html; charset=utf-8");

/// The best of several rounds over all pages.
fn best(pages: &[String], run: &dyn Fn(&str)) -> Duration {
    let round = || {
        let start = Instant::now();
        for page in pages {
            run(page);
        }
        start.elapsed()
    };
    (0..ROUNDS).map(|_| round()).min().unwrap_or_default()
}

fn start_tags(page: &str) -> usize {
    Tokenizer::new(page).flatten().filter(|token| matches!(token, Token::StartTag(_))).count()
}

fn plain_links(page: &str, base: &WebUrl) -> Vec<WebUrl> {
    let hrefs = Tokenizer::new(page).flatten().filter_map(|token| match token {
        Token::StartTag(mut tag) if matches!(&**tag.name, b"a" | b"area") => tag.attributes.remove(&b"href"[..]),
        _ => None,
    });
    hrefs.filter_map(|href| base.join(&String::from_utf8_lossy(&href)).ok()).collect()
}

/// What parsing the different links of each page costs by itself.
fn joining<'a>(pages: &'a [String], base: &'a WebUrl) -> impl Fn(&str) + 'a {
    let text = |page: &String| {
        let links = extract::links(page.as_bytes(), UTF_8, base).links;
        links.iter().map(|link| link.url.as_str().to_owned()).collect::<Vec<_>>()
    };
    let links: std::collections::HashMap<*const u8, Vec<String>> =
        pages.iter().map(|page| (page.as_ptr(), text(page))).collect();
    move |page| links[&page.as_ptr()].iter().for_each(|link| drop(black_box(base.join(link))))
}

fn pages() -> Option<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/links/links-real-dev.jsonl.zst");
    let mut decoder = zstd::stream::read::Decoder::new(File::open(path).ok()?).ok()?;
    decoder.window_log_max(27).ok()?;
    let lines = BufReader::new(decoder).lines().map_while(Result::ok);
    let html = |line: String| Some(serde_json::from_str::<serde_json::Value>(&line).ok()?["html"].as_str()?.to_owned());
    Some(lines.filter_map(html).filter(|html| SIZES.contains(&html.len())).collect())
}

fn made_page() -> String {
    let item = |number| {
        format!("<li class=\"item\"><a class='x' href=\"../a/{number}.html#top\">Item {number}</a> <b>text</b></li>\n")
    };
    (0..600).map(item).collect()
}
