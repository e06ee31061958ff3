//! Prints fields of each page of a site as JSON Lines: address, title, description, headings.
//!
//! `cargo run --example fields -- https://docs.example.org/ > pages.jsonl`

use std::{error::Error, time::Duration};

use scraper::{Html, Selector};
use serde_json::json;
use webloom::{Crawl, Page, Scope};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let start = std::env::args().nth(1).ok_or("give a start URL")?;
    let crawl = Crawl::new(start).scope(Scope::Prefix).delay(Duration::from_millis(100)).max_pages(1_000);
    let stop = crawl.stop_handle();
    tokio::spawn(async move {
        // Where there are no signals, Ctrl-C kills the program: the crawl is resumed all the same, if it has a directory.
        if tokio::signal::ctrl_c().await.is_ok() {
            stop.stop();
        }
    });
    let [description, headings] = [Selector::parse("meta[name=description]")?, Selector::parse("h1, h2")?];
    let fields = |page: Page| {
        if !page.is_html() {
            return;
        }
        let html = Html::parse_document(&page.text());
        let description = html.select(&description).find_map(|meta| meta.attr("content"));
        let headings: Vec<_> =
            html.select(&headings).map(|heading| heading.text().collect::<String>().trim().to_owned()).collect();
        let url = page.url().as_str();
        println!("{}", json!({ "url": url, "title": page.title(), "description": description, "headings": headings }));
    };
    let summary = crawl.run(fields).await?;
    eprintln!("{summary}");
    Ok(())
}
