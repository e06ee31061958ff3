//! A folder that a browser opens: pages with what they show and load, whose links lead to one another.
//!
//! Invariants: a relative link leads to a file that is there; all others are absolute. A page loads nothing from elsewhere.

use std::fs;

use data_encoding::HEXLOWER;
use serde_json::json;

use super::{
    content::decoded_body,
    lists::Lines,
    names::Suffix,
    place,
    request::{Export, ExportError, Exported, unwritable},
    site::ExportedSite,
};
use crate::{extract, media_type, rewrite, session::directory::CurrentPage, url::WebUrl};

/// The list of the files; a folder that has it is an export. No file of a page begins so.
const INDEX: &str = ".webloom.jsonl";

/// What keeps a page from loading anything from elsewhere, also by its scripts.
const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" \
    content=\"default-src 'self' file: data: blob: 'unsafe-inline' 'unsafe-eval'; connect-src 'self' data: blob:\">";

/// How the names of pages end.
const OF_PAGES: [&str; 3] = [".html", ".htm", ".xhtml"];

/// How the names of other files end, by their types: browsers know the type of a file by that.
const OF_TYPES: [(&str, &[&str]); 24] = [
    ("text/css", &[".css"]),
    ("text/javascript", &[".js", ".mjs"]),
    ("application/javascript", &[".js", ".mjs"]),
    ("application/x-javascript", &[".js", ".mjs"]),
    ("application/json", &[".json"]),
    ("application/xml", &[".xml", ".rss", ".atom"]),
    ("text/xml", &[".xml", ".rss", ".atom"]),
    ("application/pdf", &[".pdf"]),
    ("application/wasm", &[".wasm"]),
    ("text/plain", &[".txt"]),
    ("image/png", &[".png"]),
    ("image/jpeg", &[".jpg", ".jpeg"]),
    ("image/gif", &[".gif"]),
    ("image/webp", &[".webp"]),
    ("image/avif", &[".avif"]),
    ("image/svg+xml", &[".svg"]),
    ("image/x-icon", &[".ico"]),
    ("image/vnd.microsoft.icon", &[".ico"]),
    ("font/woff", &[".woff"]),
    ("font/woff2", &[".woff2"]),
    ("font/ttf", &[".ttf"]),
    ("video/mp4", &[".mp4"]),
    ("video/webm", &[".webm"]),
    ("audio/mpeg", &[".mp3"]),
];

/// Writes it.
pub(super) fn write(export: &Export<'_>) -> Result<Exported, ExportError> {
    place::begin_folder(export, INDEX)?;
    let site = ExportedSite::read_as_it_is(export, suffix)?;
    let mut index = Lines::begin(&export.out, INDEX)?;
    let mut exported = Exported::default();
    export.records.current_pages(export.dir, export.since, |page, bodies| {
        let Some(url) = WebUrl::parse(&page.url).ok().filter(|_| export.wants(&page.url)) else { return Ok(true) };
        let body = bodies.body(page)?.and_then(|body| decoded_body(&body, page.coding.as_deref()).ok());
        let Some(body) = body else {
            exported.without_body += 1;
            return Ok(true);
        };
        let file = site.file(&url, suffix(page));
        let path = export.out.join(&file);
        let parent = path.parent().unwrap_or(&export.out);
        let written =
            fs::create_dir_all(parent).and_then(|()| fs::write(&path, shown(page, (&url, body), (&site, &file))));
        written.map_err(unwritable(&path))?;
        exported.pages += 1;
        if page.is_html {
            exported.first.get_or_insert(path);
        }
        let digest = page.digest.map(|digest| format!("sha256:{}", HEXLOWER.encode(&digest)));
        index.add(&json!({ "url": page.url, "file": file, "digest": digest, "change": page.change })).map(|()| true)
    })?;
    index.end()?;
    Ok(exported)
}

/// A body as it is in its file.
fn shown(page: &CurrentPage, (url, body): (&WebUrl, Vec<u8>), (site, file): (&ExportedSite, &str)) -> Vec<u8> {
    let content_type = page.content_type.as_deref();
    let is_sheet = media_type::is_style_sheet(content_type);
    let Some(base) = url::Url::parse(url.as_str()).ok().filter(|_| page.is_html || is_sheet) else { return body };
    let text = extract::decoded(&body, content_type, url);
    let mut target = |target: &url::Url| Some(site.link(target, file));
    if page.is_html {
        rewrite::html(&text, POLICY, &base, &mut target).into_bytes()
    } else {
        rewrite::style_sheet(&text, &base, &mut target).into_bytes()
    }
}

/// How the name of the file of a page ends.
fn suffix(page: &CurrentPage) -> Suffix {
    let path = page.url.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name).to_ascii_lowercase();
    let has = |end: &&&str| name.strip_suffix(**end).is_some_and(|stem| !stem.is_empty());
    let one_of = |ends: &[&'static str]| ends.iter().find(has).or(ends.first()).copied();
    let kind = page.content_type.as_deref().map(media_type::essence).unwrap_or_default();
    let known = OF_TYPES.iter().find(|(of, _)| *of == kind).map(|(_, ends)| *ends);
    let own = if page.is_html { one_of(&OF_PAGES) } else { known.and_then(one_of) };
    match own {
        Some(own) => Suffix::Own(own),
        // Of what it is, its name says more than its type.
        None if name.trim_start_matches('.').contains('.') => Suffix::Added(""),
        None => Suffix::Added(".bin"),
    }
}
