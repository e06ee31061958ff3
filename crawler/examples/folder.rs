//! Crawls a site that lies in a folder, without a server: which files do its pages not lead to, and which links lead nowhere?
//!
//! `cargo run --example folder -- site`

use std::{collections::BTreeSet, error::Error, fs, path::PathBuf, time::Duration};

use webloom::{
    Crawl, Event, Flow,
    fetcher::{FetchFailure, FetchRequest, FetchResponse, Fetcher},
};

/// Answers with the files of a folder.
struct Folder(PathBuf);

impl Fetcher for Folder {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchFailure> {
        let mut file = self.0.join(request.url.path().trim_start_matches('/'));
        if file.is_dir() {
            file.push("index.html");
        }
        // A path of a URL has no `..`: it stays within the folder.
        let Ok(body) = fs::read(&file) else { return Ok(FetchResponse::new(request.url, 404)) };
        let is_html = file.extension().is_some_and(|extension| extension == "html");
        let kind: &[u8] = if is_html { b"text/html" } else { b"application/octet-stream" };
        let headers = vec![("content-type".into(), kind.into())];
        Ok(FetchResponse { headers, body, ..FetchResponse::new(request.url, 200) })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("give the folder of a site")?);
    let mut linked = BTreeSet::new();
    let crawl = Crawl::new("http://site.test/").fetcher(Folder(folder.clone())).delay(Duration::ZERO);
    let summary = crawl.run_events(|event| {
        let path = event.visit().url().path().to_owned();
        match event {
            Event::Failed(visit, _) => {
                println!("missing\t{path}\tlinked by {}", visit.via().map_or("nobody", |via| via.path()));
            }
            _ => drop(linked.insert(path)),
        }
        Flow::Continue
    });
    let summary = summary.await?;
    for file in fs::read_dir(&folder)? {
        let file = file?.path();
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let is_page = file.extension().is_some_and(|extension| extension == "html") && name != "index.html";
        if is_page && !linked.contains(&format!("/{name}")) {
            println!("not linked\t/{name}");
        }
    }
    eprintln!("{summary}");
    Ok(())
}
