//! What it takes at least to keep pages: `cargo bench -p webloom --bench floors -- FOLDER`.
//!
//! Of all HTML files below a folder it prints, as one JSON document, the CPU seconds that these take by themselves, in one thread and by the
//! libraries that the crawl uses: compressing the body, its digests, reading its text and compressing that, indexing the text (FTS5), and
//! the rows. `benches/cost --kept` sets what a crawl with an archive takes against their sum.

use std::{
    fs,
    hint::black_box,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use flate2::{Compression, write::GzEncoder};
use rusqlite::{Connection, params};
use rustix::time::{ClockId, clock_gettime};
use sha1::{Digest, Sha1};
use webloom::internals::{
    extract::{self, LinkLimits, Reading, ReferenceSeed, ScannedPage},
    store::TextRow,
    text::RuledText,
    url::WebUrl,
};

/// The level of the archive.
const LEVEL: u32 = 4;

/// Rows of a transaction.
const ROWS: usize = 2_000;

const UTF_8: Option<&str> = Some("text/html; charset=utf-8");

const TABLES: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE text (id INTEGER PRIMARY KEY, url INTEGER NOT NULL, rule INTEGER NOT NULL, digest BLOB NOT NULL, body BLOB NOT NULL) STRICT;
    CREATE TABLE archive_record (visit INTEGER PRIMARY KEY, url INTEGER NOT NULL, at INTEGER NOT NULL, status INTEGER, content_type TEXT,
        file INTEGER NOT NULL, start INTEGER NOT NULL, length INTEGER NOT NULL, payload BLOB NOT NULL) STRICT;
    CREATE INDEX archive_record_url ON archive_record (url, visit);
    CREATE VIRTUAL TABLE page_words USING fts5(
        title, heading, address, body, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2')";

#[derive(Default)]
struct Floors {
    pages: usize,
    bytes: usize,
    compression: Duration,
    digest: Duration,
    text: Duration,
    index: Duration,
    rows: Duration,
}

fn main() -> anyhow::Result<()> {
    let folder = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).context("give a folder")?;
    let files = html_files(Path::new(&folder))?;
    let work = tempfile::tempdir()?;
    let database = Connection::open(work.path().join("floors.sqlite"))?;
    database.execute_batch(TABLES)?;
    let mut floors = Floors::default();
    for files in files.chunks(ROWS) {
        floors.add(files, &database)?;
    }
    let Floors { pages, bytes, .. } = floors;
    let seconds =
        [floors.compression, floors.digest, floors.text, floors.index, floors.rows].map(|time| time.as_secs_f64());
    let [compression, digest, text, index, rows] = seconds;
    println!(
        "{{\"pages\":{pages},\"bytes\":{bytes},\"compression\":{compression:.3},\"digest\":{digest:.3},\"text\":{text:.3},\
         \"index\":{index:.3},\"rows\":{rows:.3},\"sum\":{:.3}}}",
        seconds.iter().sum::<f64>()
    );
    Ok(())
}

impl Floors {
    fn add(&mut self, files: &[PathBuf], database: &Connection) -> anyhow::Result<()> {
        let base = WebUrl::parse("https://www.example.org/dir/page.html")?;
        let mut texts = Vec::new();
        for file in files {
            let body = fs::read(file)?;
            self.bytes += body.len();
            timed(&mut self.compression, || compressed(&body))?;
            timed(&mut self.digest, || (Sha1::digest(&body), Sha1::digest(&body)));
            let mut links = Duration::ZERO;
            timed(&mut links, || scanned(&body, &base, false));
            let page = timed(&mut self.text, || scanned(&body, &base, true));
            self.text = self.text.saturating_sub(links);
            let Some(text) = page.text else { continue };
            let row = timed(&mut self.text, || TextRow::of(&text, None));
            texts.push((text, row, Sha1::digest(&body)));
        }
        timed(&mut self.rows, || write_rows(database, self.pages, &texts))?;
        timed(&mut self.index, || write_words(database, self.pages, &texts))?;
        self.pages += texts.len();
        Ok(())
    }
}

type KeptText = (RuledText, TextRow, sha1::digest::Output<Sha1>);

fn scanned(body: &[u8], base: &WebUrl, with_text: bool) -> ScannedPage {
    let reading = Reading::links(LinkLimits::NONE, ReferenceSeed::random());
    extract::scan(body, UTF_8, base, &if with_text { reading.with_text(Arc::default()) } else { reading })
}

fn compressed(body: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 3), Compression::new(LEVEL));
    encoder.write_all(body)?;
    encoder.finish()
}

fn write_rows(database: &Connection, first: usize, texts: &[KeptText]) -> anyhow::Result<()> {
    let transaction = database.unchecked_transaction()?;
    {
        let mut text = transaction.prepare("INSERT INTO text (url, rule, digest, body) VALUES (?, ?, ?, ?)")?;
        let record = "INSERT INTO archive_record VALUES (?1, ?1, 0, 200, 'text/html', 1, ?2, 5000, ?3)";
        let mut record = transaction.prepare(record)?;
        for (number, (_, row, payload)) in texts.iter().enumerate() {
            let number = first + number + 1;
            text.execute(params![number, row.rule.cast_signed(), row.digest, row.body])?;
            record.execute(params![number, number * 6_000, payload.as_slice()])?;
        }
    }
    Ok(transaction.commit()?)
}

fn write_words(database: &Connection, first: usize, texts: &[KeptText]) -> anyhow::Result<()> {
    let transaction = database.unchecked_transaction()?;
    {
        let insert = "INSERT INTO page_words (rowid, title, heading, address, body) VALUES (?, ?, ?, ?, ?)";
        let mut insert = transaction.prepare(insert)?;
        for (number, (text, ..)) in texts.iter().enumerate() {
            let title = text.text.as_str().lines().next().unwrap_or_default();
            insert.execute(params![
                first + number + 1,
                title,
                title,
                "www.example.org/dir/page.html",
                text.text.as_str()
            ])?;
        }
    }
    Ok(transaction.commit()?)
}

/// Does something, and adds the time of the processor that it takes.
fn timed<T>(sum: &mut Duration, work: impl FnOnce() -> T) -> T {
    let before = cpu_time();
    let made = black_box(work());
    *sum += cpu_time().saturating_sub(before);
    made
}

fn cpu_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}

/// All of them, in the order of their names.
fn html_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "html") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
