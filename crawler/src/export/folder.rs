//! A folder with a file for each page.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    path::Path,
};

use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{
    chrome::Chrome,
    content::harmless,
    lists::Lines,
    llms::{ListedPage, Llms},
    names::Suffix,
    place,
    request::{Export, ExportError, ExportFormat, Exported, unwritable},
    shown,
    site::ExportedSite,
};
use crate::{
    markdown::MainContent,
    observe::figures,
    session::directory::{ChangedSince, CurrentPage},
    url::WebUrl,
};

/// What lists the files.
const INDEX: &str = "index.jsonl";

/// The files of an export while they are written.
struct Folder<'a> {
    export: &'a Export<'a>,
    site: ExportedSite,
    suffix: Suffix,
    index: Lines,
    chunks: Option<Lines>,
    llms: Option<Llms>,
    exported: Exported,
}

/// Writes it.
pub(super) fn write(export: &Export<'_>) -> Result<Exported, ExportError> {
    let suffix = if export.format == ExportFormat::Text { ".txt" } else { ".md" };
    let first = first_url(&export.out.join(INDEX));
    let mut is_own = first.is_none();
    export.records.urls(|url| is_own |= first.as_deref() == Some(url))?;
    place::begin_folder(export, INDEX, |_| is_own)?;
    let chrome = Chrome::learn(export)?;
    let is_whole = export.since == ChangedSince::Ever && export.format == ExportFormat::Markdown;
    let mut folder = Folder {
        export,
        site: ExportedSite::read(export, suffix)?,
        suffix: Suffix::Added(suffix),
        index: Lines::begin(&export.out, INDEX)?,
        chunks: export.chunks.map(|_| Lines::begin(&export.out, "chunks.jsonl")).transpose()?,
        llms: is_whole.then(|| Llms::begin(&export.out)).transpose()?,
        exported: Exported::default(),
    };
    export.records.current_pages(export.dir, export.since, |page, bodies| {
        let Some(url) = WebUrl::parse(&page.url).ok().filter(|_| export.wants(&page.url)) else { return Ok(true) };
        match shown::read(export, (page, bodies), &url, &chrome)? {
            Some(document) => folder.add(page, &url, &document)?,
            None => folder.exported.without_body += u64::from(page.is_html),
        }
        Ok::<_, ExportError>(true)
    })?;
    folder.end()
}

/// The first URL in a list of files.
fn first_url(list: &Path) -> Option<String> {
    let mut line = String::new();
    BufReader::new(File::open(list).ok()?).read_line(&mut line).ok()?;
    let line: Value = serde_json::from_str(&line).ok()?;
    line["url"].as_str().map(str::to_owned)
}

impl Folder<'_> {
    fn add(&mut self, page: &CurrentPage, url: &WebUrl, document: &MainContent) -> Result<(), ExportError> {
        let file = self.site.file(url, self.suffix);
        let title = document.title.as_deref().or(page.title.as_deref()).unwrap_or_default();
        let digest = page.digest.map(|digest| format!("sha256:{}", HEXLOWER.encode(&digest)));
        let text = if self.export.format == ExportFormat::Text {
            document.text() + "\n"
        } else {
            let content = document.markdown(&|target| self.site.link(target, &file));
            let front = front_matter(&[
                ("url", Some(&page.url)),
                ("title", Some(title)),
                ("description", document.description.as_deref()),
                ("fetched_at", Some(&figures::rfc3339(page.at))),
                ("digest", digest.as_deref()),
                ("language", document.language.as_deref()),
            ]);
            if let Some(llms) = &mut self.llms {
                let description = document.description.as_deref().unwrap_or_default();
                let listed = ListedPage { url: &page.url, file: &file, title, description, markdown: &content };
                llms.add(listed).map_err(unwritable(&self.export.out.join("llms-full.txt")))?;
            }
            front + &content
        };
        let path = self.export.out.join(&file);
        let parent = path.parent().unwrap_or(&self.export.out);
        fs::create_dir_all(parent).and_then(|()| fs::write(&path, text)).map_err(unwritable(&path))?;
        self.chunk(page, document)?;
        self.exported.pages += 1;
        self.index.add(&json!({ "url": page.url, "file": file, "digest": digest, "change": page.change }))
    }

    fn chunk(&mut self, page: &CurrentPage, document: &MainContent) -> Result<(), ExportError> {
        let (Some(tokens), Some(lines)) = (self.export.chunks, &mut self.chunks) else { return Ok(()) };
        document.chunks(tokens).into_iter().try_for_each(|chunk| {
            let digest = format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(chunk.text.as_bytes())));
            lines.add(&json!({
                "url": page.url, "anchor": chunk.anchor, "headings": chunk.headings, "text": chunk.text,
                "tokens": chunk.tokens, "digest": digest,
            }))
        })
    }

    fn end(mut self) -> Result<Exported, ExportError> {
        let mut deleted = Lines::begin(&self.export.out, "deleted.jsonl")?;
        let mut gone = Vec::new();
        self.export.records.deleted(self.export.since, |url| gone.push(url.to_owned()))?;
        gone.retain(|url| self.export.wants(url));
        for url in gone {
            if let Ok(parsed) = WebUrl::parse(&url) {
                deleted.add(&json!({ "url": url, "file": self.site.file(&parsed, self.suffix) }))?;
                self.exported.deleted += 1;
            }
        }
        deleted.end()?;
        self.chunks.map(Lines::end).transpose()?;
        self.llms.map(|llms| llms.end(&self.export.out)).transpose()?;
        self.index.end()?;
        Ok(self.exported)
    }
}

/// What is known of a page, as YAML: strings are written as JSON has them, which YAML reads.
fn front_matter(fields: &[(&str, Option<&str>)]) -> String {
    let given = fields.iter().filter_map(|(name, value)| Some((name, value.filter(|value| !value.is_empty())?)));
    let lines: Vec<_> = given.map(|(name, value)| format!("{name}: {}\n", Value::from(harmless(value)))).collect();
    format!("---\n{}---\n\n", lines.concat())
}
