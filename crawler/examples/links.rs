//! Checks the links of a site: what fails is printed at once, and at the end each page that links there.
//!
//! `cargo run --example links -- https://docs.example.org/`

use std::{error::Error, time::Duration};

use webloom::{Crawl, Event, Flow, Links};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let start = std::env::args().nth(1).ok_or("give a start URL")?;
    let kept = tempfile::tempdir()?;
    let dir = kept.path().join("crawl");
    let crawl = Crawl::new(start).delay(Duration::from_millis(100)).dir(&dir);
    let progress = crawl.progress();
    let summary = crawl.run_events(|event| {
        if let Event::Failed(visit, failure) = event {
            let pages = progress.get().map_or(0, |figures| figures.pages);
            eprintln!("after {pages} pages: {} ({failure})", visit.url());
        }
        Flow::Continue
    });
    let summary = summary.await?;
    let mut broken = 0;
    Links::broken(&dir).each(|link| {
        broken += 1;
        let end = link.to.redirect.as_ref().map_or(link.to.status, |end| end.status);
        let status = end.map_or_else(|| "none".to_owned(), |status| status.to_string());
        println!("{status}\t{}\t{}", link.from, link.to.url.as_deref().unwrap_or("(lost)"));
        true
    })?;
    eprintln!("{summary}");
    if broken > 0 { Err(format!("{broken} links are broken").into()) } else { Ok(()) }
}
