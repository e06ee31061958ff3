//! Crawls a site that lies in a folder, without a server: which files does no page link to, and which links lead nowhere?
//!
//! `cargo run --example folder -- site`

use std::{
    collections::BTreeSet,
    error::Error,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use webloom::{
    Crawl,
    fetcher::{FetchFailure, FetchRequest, FetchResponse, Fetcher},
};

/// The address that the site is given.
const SITE: &str = "http://site.test/";

/// Answers with the files of a folder.
struct Folder {
    path: PathBuf,
    missing: Arc<Mutex<BTreeSet<String>>>,
}

impl Folder {
    /// The file of a URL; that of a folder is its `index.html`. A link that climbs out of the folder has none.
    fn read(&self, request: &FetchRequest) -> Option<Vec<u8>> {
        let path = percent_decoded(request.url.path());
        if path.split('/').any(|part| part == "..") {
            return None;
        }
        let mut file = self.path.join(path.trim_start_matches('/'));
        if file.is_dir() {
            file.push("index.html");
        }
        fs::read(file).ok()
    }
}

impl Fetcher for Folder {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchFailure> {
        let Some(body) = self.read(&request) else {
            if request.url.path() != "/robots.txt" {
                let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
                missing.insert(request.url.path().to_owned());
            }
            return Ok(FetchResponse::new(request.url, 404));
        };
        let html = request.url.path().ends_with(['/', 'l', 'm']);
        let kind = if html { "text/html" } else { "application/octet-stream" };
        let headers = vec![("content-type".into(), kind.as_bytes().into())];
        Ok(FetchResponse { headers, body, ..FetchResponse::new(request.url, 200) })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = PathBuf::from(std::env::args().nth(1).ok_or("give the folder of a site")?);
    let missing = Arc::default();
    let folder = Folder { path: path.clone(), missing: Arc::clone(&missing) };
    let mut linked = BTreeSet::new();
    let summary = Crawl::new(SITE)
        .fetcher(folder)
        .delay(Duration::ZERO)
        .run(|page| {
            linked.insert(percent_decoded(page.url().path()));
        })
        .await?;
    for path in missing.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        println!("missing\t{path}");
    }
    let mut pages = Vec::new();
    html_files(&path, &mut pages)?;
    for file in pages {
        let url = format!("/{}", file.strip_prefix(&path)?.display());
        let of_folder = url.strip_suffix("index.html").unwrap_or(&url);
        if !linked.contains(&url) && !linked.contains(of_folder) {
            println!("not linked\t{url}");
        }
    }
    eprintln!("{summary}");
    Ok(())
}

fn html_files(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            html_files(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "html") {
            found.push(path);
        }
    }
    Ok(())
}

fn percent_decoded(path: &str) -> String {
    percent_encoding::percent_decode_str(path).decode_utf8_lossy().into_owned()
}
