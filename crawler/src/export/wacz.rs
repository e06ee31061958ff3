//! A file with an archive, its index and a list of its pages, which players open (WACZ 1.1.1, on <https://specs.webrecorder.net>).
//!
//! Invariant: the same crawl gives the same bytes.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Read, Seek, Write},
    path::{Path, PathBuf},
};

use data_encoding::HEXLOWER;
use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use zip::{CompressionMethod, ZipWriter, result::ZipError, write::SimpleFileOptions};

use super::{
    place,
    request::{Export, ExportError, Exported, unwritable},
    warc,
};
use crate::{
    observe::{escape, figures},
    session::directory::RecordCompression,
    time::Moment,
};

/// The version of the form.
const VERSION: &str = "1.1.1";

/// Lines of a compressed part of the index.
const LINES: usize = 3000;

/// Bytes that are copied at once.
const COPIED: usize = 1 << 16;

/// The index, in parts that are compressed each for itself, and the list of these parts.
#[derive(Default)]
struct PackedIndex {
    packed: Vec<u8>,
    parts: String,
    lines: String,
    count: usize,
}

/// The file while it is written.
struct Package<'a> {
    path: &'a Path,
    zip: ZipWriter<BufWriter<File>>,
    resources: Vec<Value>,
}

/// The folder with the WARC files of a package that is being written, which is gone when that is done. What a kill has left of it is used.
struct Parts(PathBuf);

impl Parts {
    fn begin(out: &Path) -> Result<Self, ExportError> {
        let folder = out.with_added_extension("parts");
        fs::create_dir_all(&folder).map_err(unwritable(&folder))?;
        Ok(Self(folder))
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        if let Ok(names) = warc::warc_files(&self.0) {
            for name in names.iter().filter(|name| name.starts_with("webloom-")) {
                let _ = fs::remove_file(self.0.join(name));
            }
        }
        // What somebody else has put there stays.
        let _ = fs::remove_dir(&self.0);
    }
}

/// Writes it.
pub(super) fn write(export: &Export<'_>) -> Result<Exported, ExportError> {
    let files = export.records.archive_files()?;
    if files.iter().any(|name| RecordCompression::of_name(name) != Some(RecordCompression::Gzip)) {
        return Err(ExportError::Compression);
    }
    place::whole_file(export, |new| write_new(export, new))
}

fn write_new(export: &Export<'_>, new: &Path) -> Result<Exported, ExportError> {
    let beside = new.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = Parts::begin(&export.out)?;
    let mut index = PackedIndex::default();
    let (copies, last) = warc::copy(export, &folder.0, |line| index.add(line).map_err(unwritable(new)))?;
    index.pack().map_err(unwritable(new))?;
    let zip = ZipWriter::new(BufWriter::new(File::create(new).map_err(unwritable(new))?));
    let mut package = Package { path: new, zip, resources: Vec::new() };
    for name in &copies.files {
        let path = folder.0.join(name);
        package.add(&format!("archive/{name}"), &mut File::open(&path).map_err(unwritable(&path))?)?;
        // What is in the package is not needed a second time.
        let _ = fs::remove_file(path);
    }
    package.add("indexes/index.cdx.gz", &mut &*index.packed)?;
    let head = r#"!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}"#;
    package.add("indexes/index.idx", &mut format!("{head}\n{}", index.parts).as_bytes())?;
    let mut pages = tempfile::tempfile_in(beside).map_err(unwritable(beside))?;
    let first = write_pages(export, (&mut pages, new))?;
    package.add("pages/pages.jsonl", &mut pages)?;
    package.end(first.as_deref(), last)?;
    Ok(Exported { pages: copies.answers, ..Exported::default() })
}

/// Writes a line for each page that people open; the URL of the first.
fn write_pages(export: &Export<'_>, (file, path): (&mut File, &Path)) -> Result<Option<String>, ExportError> {
    let mut first = None;
    let mut out = BufWriter::new(&mut *file);
    let head = json!({ "format": "json-pages-1.0", "id": "pages", "title": "All Pages" });
    writeln!(out, "{}", escape::json(&head)).map_err(unwritable(path))?;
    export.records.current_pages(export.dir, export.since, |page, _| {
        if !export.wants(&page.url) || !page.is_html || !page.is_archived() {
            return Ok(true);
        }
        let id = HEXLOWER.encode(&Sha256::digest(page.url.as_bytes())[..8]);
        let title = page.title.as_deref().filter(|title| !title.is_empty());
        let line =
            json!({ "id": id, "url": page.url, "ts": figures::rfc3339(page.at), "title": title.unwrap_or(&page.url) });
        first.get_or_insert_with(|| page.url.clone());
        writeln!(out, "{}", escape::json(&line)).map(|()| true).map_err(unwritable(path))
    })?;
    out.flush().map_err(unwritable(path))?;
    drop(out);
    file.rewind().map_err(unwritable(path))?;
    Ok(first)
}

impl PackedIndex {
    fn add(&mut self, line: &str) -> io::Result<()> {
        self.lines.extend([line, "\n"]);
        self.count += 1;
        if self.count == LINES { self.pack() } else { Ok(()) }
    }

    /// Compresses the lines that are there.
    fn pack(&mut self) -> io::Result<()> {
        let lines = std::mem::take(&mut self.lines);
        self.count = 0;
        let Some(first) = lines.lines().next() else { return Ok(()) };
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(lines.as_bytes())?;
        let packed = packed.finish()?;
        // Key and time, by which a player finds the part.
        let key = first.split_once(" {").map_or(first, |(key, _)| key);
        let part = json!({
            "offset": self.packed.len(), "length": packed.len(), "digest": sha256(&packed), "filename": "index.cdx.gz",
        });
        self.parts.push_str(&format!("{key} {part}\n"));
        self.packed.extend(packed);
        Ok(())
    }
}

impl Package<'_> {
    /// Adds a file as it is: players read parts of it.
    fn add(&mut self, name: &str, from: &mut dyn Read) -> Result<(), ExportError> {
        let copied = self.copy(name, from);
        let (bytes, digest) = copied.map_err(unwritable(self.path))?;
        let file = name.rsplit_once('/').map_or(name, |(_, file)| file);
        self.resources.push(json!({ "name": file, "path": name, "hash": digest, "bytes": bytes }));
        Ok(())
    }

    fn copy(&mut self, name: &str, from: &mut dyn Read) -> io::Result<(u64, String)> {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
        self.zip.start_file(name, options)?;
        let mut hash = Sha256::new();
        let (mut bytes, mut buffer) = (0, vec![0; COPIED]);
        loop {
            let read = from.read(&mut buffer)?;
            if read == 0 {
                return Ok((bytes, format!("sha256:{}", HEXLOWER.encode(&hash.finalize()))));
            }
            hash.update(&buffer[..read]);
            self.zip.write_all(&buffer[..read])?;
            bytes += read as u64;
        }
    }

    /// Writes what says what is in it.
    fn end(mut self, first: Option<&str>, at: Moment) -> Result<(), ExportError> {
        let title = first.map_or_else(|| "A crawl".to_owned(), |first| format!("A crawl of {first}"));
        let mut about = json!({
            "profile": "data-package", "wacz_version": VERSION, "title": title, "created": figures::rfc3339(at),
            "software": concat!("Webloom/", env!("CARGO_PKG_VERSION")), "resources": self.resources,
        });
        if let Some(first) = first {
            about["mainPageUrl"] = first.into();
        }
        let about = escape::json(&about);
        let digest = json!({ "path": "datapackage.json", "hash": sha256(about.as_bytes()) });
        self.add("datapackage.json", &mut about.as_bytes())?;
        self.add("datapackage-digest.json", &mut escape::json(&digest).as_bytes())?;
        let path = self.path;
        let done = self.zip.finish().map_err(ZipError::into).and_then(|mut file: BufWriter<File>| file.flush());
        done.map_err(unwritable(path))
    }
}

fn sha256(bytes: &[u8]) -> String {
    format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(bytes)))
}
