//! Prints the title of each page of a site, and what the crawl came to.
//!
//! `cargo run --example titles -- https://docs.example.org/`

use std::{error::Error, time::Duration};

use webloom::{Crawl, Scope};

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
    let summary = crawl.run(|page| println!("{}\t{}", page.url(), page.title().unwrap_or("(none)"))).await?;
    eprintln!("{summary}");
    Ok(())
}
