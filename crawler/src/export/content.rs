//! What an archived page says.

use std::fmt::Display;

use pulldown_cmark::{Options, Parser};

use crate::{
    extract,
    fetch::decode::{BodyDecoder, BodyLimits},
    markdown::{Code, ContentBlock, MainContent, Repeated},
    media_type,
    session::directory::{ArchivedBodies, CurrentPage},
    store::StoreError,
    url::WebUrl,
};

/// No archived body is longer once it is decoded.
const LONGEST: u64 = 1 << 40;

/// A body without its content codings.
///
/// # Errors
/// Why it cannot be decoded.
pub(crate) fn decoded_body(body: &[u8], coding: Option<&str>) -> Result<Vec<u8>, String> {
    let text = |error: &dyn Display| error.to_string();
    let limits = BodyLimits { max_body: LONGEST, max_expansion: u32::MAX };
    let mut decoder =
        BodyDecoder::new(coding.iter().map(|coding| coding.as_bytes()), limits).map_err(|error| text(&error))?;
    let _ = decoder.push(body).map_err(|error| text(&error))?;
    Ok(decoder.finish().body)
}

/// The content of a page that has text.
#[derive(Debug)]
pub(super) enum PageContent {
    /// HTML.
    Html(String),
    /// Markdown, as the HTML that it means.
    Markdown(String),
    /// Plain text.
    Plain(String),
}

impl PageContent {
    /// Whether a page of this type has text.
    pub(super) fn is_readable(is_html: bool, content_type: Option<&str>) -> bool {
        is_html
            || content_type
                .is_some_and(|kind| ["text/plain", "text/markdown"].contains(&media_type::essence(kind).as_str()))
    }

    /// Reads a decoded body.
    pub(super) fn read(body: &[u8], (is_html, content_type): (bool, Option<&str>), url: &WebUrl) -> Self {
        let text = extract::decoded(body, content_type, url).into_owned();
        let is_markdown = || content_type.is_some_and(|kind| media_type::essence(kind) == "text/markdown");
        match () {
            () if is_html => Self::Html(text),
            () if is_markdown() => Self::Markdown(html_of_markdown(&text)),
            () => Self::Plain(text),
        }
    }

    /// The content of an archived page; `None` if it has none, or is not archived.
    pub(super) fn of(page: &CurrentPage, bodies: &ArchivedBodies<'_>) -> Result<Option<Self>, StoreError> {
        let kind = (page.is_html, page.content_type.as_deref());
        let Some(url) = WebUrl::parse(&page.url).ok().filter(|_| Self::is_readable(kind.0, kind.1)) else {
            return Ok(None);
        };
        let Some(body) = bodies.body(page)? else { return Ok(None) };
        // One that cannot be decoded was cut short: what can be read of it is not known.
        Ok(decoded_body(&body, page.coding.as_deref()).ok().map(|body| Self::read(&body, kind, &url)))
    }

    /// What it shows, without the blocks that recur over the site.
    pub(super) fn document(&self, url: &WebUrl, repeated: &Repeated) -> MainContent {
        match (self, url::Url::parse(url.as_str())) {
            (Self::Html(html), Ok(url)) => MainContent::read(html, &url, repeated),
            (Self::Markdown(html), Ok(url)) => MainContent::read_whole(html, &url),
            (Self::Html(text) | Self::Markdown(text) | Self::Plain(text), _) => {
                let code = Code { language: None, text: harmless(text) };
                MainContent { blocks: vec![ContentBlock::Code(code)], ..MainContent::default() }
            }
        }
    }
}

/// What Markdown means (`CommonMark`): with tables, strikethrough and lists of tasks, without what is said before it.
fn html_of_markdown(text: &str) -> String {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, Parser::new_ext(text, options));
    html
}

/// What an archived page says; `None` if it is no text.
pub(crate) fn archived_content(body: &[u8], content_type: Option<&str>, url: &WebUrl) -> Option<MainContent> {
    let is_html = extract::is_html(content_type, body);
    let is_readable = PageContent::is_readable(is_html, content_type);
    is_readable.then(|| PageContent::read(body, (is_html, content_type), url).document(url, &Repeated::default()))
}

/// A text without characters that steer a terminal or disguise text; its lines stay.
pub(super) fn harmless(text: &str) -> String {
    let is_harmless = |letter: &char| {
        matches!(letter, '\n' | '\t')
            || !letter.is_control()
                && !matches!(letter, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    text.chars().filter(is_harmless).collect()
}
