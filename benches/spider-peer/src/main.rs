//! `spider-peer URL CONNECTIONS`: crawls a site on loopback with the crate `spider`, and prints how many pages it got.
//!
//! Settings are those that `benches/cost` gives its other crawlers: so many requests at once, no delay, no robots.txt, no
//! retries, links of HTML pages within the host at any depth. Nothing is kept of a page. It runs on one thread, which costs
//! `spider` a fifth less CPU a page than two.

use std::{
    process::ExitCode,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use spider::{page::Page, url::Url, website::Website};

/// Pages that answered with 200, and not with what is plainly no text.
static PAGES: AtomicU64 = AtomicU64::new(0);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, connections] = &arguments[..] else { return refuse("URL CONNECTIONS") };
    let (Ok(url), Ok(connections)) = (Url::parse(url), connections.parse()) else {
        return refuse("a URL and a number");
    };
    if !is_on_loopback(&url) {
        return refuse("an address on loopback, in digits");
    }
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return refuse(&error.to_string()),
    };
    runtime.block_on(crawl(&url, connections));
    println!("{}", PAGES.load(Relaxed));
    ExitCode::SUCCESS
}

async fn crawl(url: &Url, connections: usize) {
    let mut site = Website::new(url.as_str());
    site.with_concurrency_limit(Some(connections))
        .with_delay(0)
        .with_depth(0)
        .with_retry(0)
        .with_respect_robots_txt(false)
        .with_no_control_thread(true)
        .with_on_should_crawl_callback(Some(count));
    Box::pin(site.crawl()).await;
}

/// Called for every page; its answer is whether to follow the links.
fn count(page: &Page) -> bool {
    if page.status_code == 200 && !page.binary_file {
        PAGES.fetch_add(1, Relaxed);
    }
    true
}

fn is_on_loopback(url: &Url) -> bool {
    let address = url.host_str().and_then(|host| host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().ok());
    address.is_some_and(|address| address.is_loopback())
}

fn refuse(need: &str) -> ExitCode {
    eprintln!("spider-peer needs {need}");
    ExitCode::from(2)
}
