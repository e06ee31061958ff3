//! Keeps a copy of a site in a folder. Each run writes the pages that are new or have changed since the run before.
//!
//! `cargo run --example mirror -- https://docs.example.org/ copy`

use std::{
    error::Error,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use webloom::{Crawl, Event, Page, StreamExt};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(start), Some(copy)) = (arguments.next(), arguments.next()) else {
        return Err("give a start URL and a folder".into());
    };
    let copy = PathBuf::from(copy);
    // The crawl is kept beside the pages: so the next run knows what they were.
    let crawl = Crawl::new(start).delay(Duration::from_millis(100)).dir(copy.join(".crawl")).again();
    let mut events = crawl.stream()?;
    while let Some(event) = events.next().await {
        match event {
            Event::Page(page) => write(&copy, &page)?,
            Event::Failed(visit, failure) => eprintln!("{} has no page: {failure}", visit.url()),
            _ => {}
        }
    }
    eprintln!("{}", events.finish().await?);
    Ok(())
}

/// Writes a page to a file named by its path and query, or to the `index.html` of a folder where that has no extension.
fn write(copy: &Path, page: &Page) -> io::Result<()> {
    let mut name = page.url().path_and_query().trim_matches('/').to_owned();
    if !name.rsplit('/').next().is_some_and(|last| last.contains('.')) {
        name.push_str("/index.html");
    }
    let file = copy.join(name.trim_start_matches('/'));
    fs::create_dir_all(file.parent().unwrap_or(copy))?;
    // A file that is cut off by a kill is written again: the page is recorded when the next event is asked for.
    fs::write(&file, page.body())?;
    println!("{}\t{}", if page.is_new() { "new" } else { "changed" }, file.display());
    Ok(())
}
