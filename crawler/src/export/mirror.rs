//! A folder that a browser opens: pages with what they show and load, whose links lead to one another.
//!
//! Invariants: a relative link leads to a file that is there; all others are absolute. A page loads nothing from elsewhere.

use std::{
    fs,
    path::{Component, Path},
};

use data_encoding::HEXLOWER;
use serde_json::{Value, json};

use super::{
    content::decoded_body,
    lists::Lines,
    names::Suffix,
    place,
    request::{Export, ExportError, Exported, unwritable},
    site::ExportedSite,
};
use crate::{
    extract, media_type,
    rewrite::{self, ReferenceUse, RewrittenPage},
    session::directory::CurrentPage,
    url::WebUrl,
};

/// The list of the files. No file of a page begins so.
const INDEX: &str = ".webloom.jsonl";
const NEW_INDEX: &str = ".webloom.jsonl.new";

/// What keeps a page from loading anything from elsewhere, also by its scripts.
const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" \
    content=\"default-src 'self' file: data: blob: 'unsafe-inline' 'unsafe-eval'; connect-src 'self' data: blob:; form-action 'none'; \
    webrtc 'block'\" />";

/// How the names of pages end.
const OF_PAGES: [&str; 2] = [".html", ".htm"];

/// How names may end of what has an unknown type: browsers show none of it.
const INERT: [&str; 24] = [
    ".7z", ".apk", ".bin", ".bz2", ".csv", ".deb", ".dmg", ".doc", ".docx", ".exe", ".gz", ".iso", ".jar", ".md",
    ".msi", ".odt", ".ppt", ".rpm", ".rst", ".tar", ".tgz", ".xls", ".xz", ".zip",
];

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
    let mark = json!({ "crawl": export.records.crawl_name()? });
    let first_line = mark.to_string();
    // One that has nothing yet was just begun.
    let is_mark = |list: String| list.lines().next().is_none_or(|first| first == first_line);
    let is_own = |list: &Path| fs::read_to_string(list).is_ok_and(is_mark);
    place::begin_folder(export, INDEX, is_own)?;
    let site = ExportedSite::read_as_it_is(export, suffix)?;
    delete_files(export, &mark)?;
    let mut index = Lines::begin(&export.out, INDEX)?;
    index.add(&mark)?;
    index.flush()?;
    let mut exported = Exported::default();
    export.records.current_pages(export.dir, export.since, |page, bodies| {
        let Some(url) = WebUrl::parse(&page.url).ok().filter(|_| export.wants(&page.url)) else { return Ok(true) };
        let body = bodies.body(page)?.and_then(|body| decoded_body(&body, page.coding.as_deref()).ok());
        let Some(body) = body else {
            exported.without_body += 1;
            return Ok(true);
        };
        let file = site.file(&url, suffix(page));
        let digest = page.digest.map(|digest| format!("sha256:{}", HEXLOWER.encode(&digest)));
        index.add(&json!({ "url": page.url, "file": file, "digest": digest, "change": page.change }))?;
        // The list has each file that is there, also if this is killed.
        index.flush()?;
        let path = export.out.join(&file);
        let parent = path.parent().unwrap_or(&export.out);
        let written =
            fs::create_dir_all(parent).and_then(|()| fs::write(&path, shown(page, (&url, body), (&site, &file))));
        written.map_err(unwritable(&path))?;
        exported.pages += 1;
        if page.is_html {
            exported.first.get_or_insert(path);
        }
        Ok::<_, ExportError>(true)
    })?;
    index.end()?;
    Ok(exported)
}

/// Deletes the files of the mirror that was there before: a folder of this one may be called as they are. Then its list has the mark alone.
fn delete_files(export: &Export<'_>, mark: &Value) -> Result<(), ExportError> {
    let path = export.out.join(INDEX);
    let Ok(lines) = fs::read_to_string(&path) else { return Ok(()) };
    for line in lines.lines() {
        let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
        let Some(file) = line["file"].as_str().map(Path::new) else { continue };
        let is_below = file.components().all(|part| matches!(part, Component::Normal(_)));
        if is_below {
            let _ = fs::remove_file(export.out.join(file));
            for folder in file.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()) {
                // One that is not empty stays.
                let _ = fs::remove_dir(export.out.join(folder));
            }
        }
    }
    let new = export.out.join(NEW_INDEX);
    fs::write(&new, format!("{mark}\n")).and_then(|()| fs::rename(&new, &path)).map_err(unwritable(&path))
}

/// A body as it is in its file.
fn shown(page: &CurrentPage, (url, body): (&WebUrl, Vec<u8>), (site, file): (&ExportedSite, &str)) -> Vec<u8> {
    let Ok(base) = url::Url::parse(url.as_str()) else { return body };
    let form = Form::of(page);
    let is_utf8 = std::str::from_utf8(&body).is_ok();
    // Of XML in another encoding, a declaration says so.
    let is_as_it_is = match form {
        Form::Other => true,
        Form::Script => is_utf8,
        Form::Xml => !is_utf8,
        Form::Page | Form::XmlPage | Form::Sheet => false,
    };
    if is_as_it_is {
        return body;
    }
    let text = extract::decoded(&body, page.content_type.as_deref(), url);
    let page = RewrittenPage { url: &base, head: POLICY };
    let text = match form {
        Form::Page => {
            rewrite::html(&text, &page, &mut |target, used_for| Some(shown_in(site, (target, used_for), file)))
        }
        Form::XmlPage => {
            let text = rewrite::as_html(&text);
            rewrite::html(&text, &page, &mut |target, used_for| Some(shown_in(site, (target, used_for), file)))
        }
        Form::Sheet => rewrite::style_sheet(&text, &base, &mut |target| Some(site.link(target, file))),
        Form::Xml => {
            rewrite::xml(&text, &base, &mut |target| Some(site.link(target, file)).filter(|link| !link.contains("://")))
        }
        Form::Script | Form::Other => text.into_owned(),
    };
    text.into_bytes()
}

/// What a reference of a page is in its file. A frame shows pages of the mirror alone: what else a browser shows has no policy.
fn shown_in(site: &ExportedSite, (target, used_for): (&url::Url, ReferenceUse), file: &str) -> String {
    let link = site.link(target, file);
    let path = link.split('#').next().unwrap_or_default();
    let is_page = OF_PAGES.iter().any(|end| path.ends_with(end)) && !link.contains("://");
    if used_for == ReferenceUse::Frame && !is_page { rewrite::NOWHERE.to_owned() } else { link }
}

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Page,
    XmlPage,
    Sheet,
    /// SVG among it.
    Xml,
    /// In UTF-8, as the pages that load it.
    Script,
    Other,
}

impl Form {
    fn of(page: &CurrentPage) -> Self {
        let kind = page.content_type.as_deref().map(media_type::essence).unwrap_or_default();
        match &*kind {
            "application/xhtml+xml" => Self::XmlPage,
            _ if page.is_html => Self::Page,
            "text/css" => Self::Sheet,
            "text/xml" | "application/xml" => Self::Xml,
            kind if kind.ends_with("+xml") => Self::Xml,
            kind if kind.ends_with("javascript") => Self::Script,
            _ => Self::Other,
        }
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
    let own = match Form::of(page) {
        Form::Page | Form::XmlPage => one_of(&OF_PAGES),
        Form::Xml if known.is_none() => one_of(&[".xml"]),
        _ => known.and_then(one_of),
    };
    match own {
        Some(own) => Suffix::Own(own),
        None => INERT.iter().find(has).map_or(Suffix::Added(".bin"), |end| Suffix::Own(end)),
    }
}
