//! The results: references become URLs, resolved against the page's base.

use std::{borrow::Cow, collections::hash_map::RandomState, hash::BuildHasher};

use hashbrown::HashTable;

use super::{
    arena::RawLinks,
    base::Base,
    charset::{DecodedText, decode},
    collected::Collected,
    collector::{collect, collect_with_text},
    element::LinkKinds,
    head::PageHead,
    omitted::whole,
    reading::Reading,
    references::{LinkLimits, Marks, ReferenceSeed, References},
    tags::Wanted,
};
use crate::{
    text::{RuledText, TextBuilder},
    url::WebUrl,
};

/// What a visit needs of a page.
///
/// ```
/// use webloom::internals::{extract, url::WebUrl};
/// let url = WebUrl::parse("http://example.org/a/")?;
/// let page = extract::links(b"<base href=/b/><title> T </title><a href=c#top>", Some("text/html"), &url);
/// assert_eq!(page.links[0].url.as_str(), "http://example.org/b/c");
/// assert_eq!(page.head.title.as_deref(), Some("T"));
/// # Ok::<(), webloom::internals::url::UrlError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageLinks {
    /// Targets of links of the wanted kinds: http(s) only, without fragments, each once, in document order.
    pub links: Vec<PageLink>,
    /// Links beyond the limits: how often there was one.
    pub beyond: u64,
    /// What its head says of it.
    pub head: PageHead,
    /// What relative references were resolved against: the page's URL, or that of its first `base` with an `href`.
    pub base: WebUrl,
    /// Name of the encoding the page was read in, as in the Encoding standard (`UTF-8`, `windows-1252`, …).
    pub charset: &'static str,
}

/// One target of a page's links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageLink {
    /// Where the link leads.
    pub url: WebUrl,
    /// Every link of this page to that URL carries `rel=nofollow`: one without it is enough to follow.
    pub nofollow: bool,
}

/// All that a page refers to: what `explain links` prints. Each list is absolute http(s) URLs without fragments, each
/// once, in document order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageReferences {
    /// Targets of `a` and `area`.
    pub links: Vec<WebUrl>,
    /// What the page loads: images, scripts, styles and icons, media.
    pub requisites: Vec<WebUrl>,
    /// `frame` and `iframe`.
    pub frames: Vec<WebUrl>,
    /// `link rel=alternate`.
    pub alternates: Vec<WebUrl>,
    /// Those of `links` that at least one link with `rel=nofollow` leads to.
    pub nofollow: Vec<WebUrl>,
    /// As [`PageLinks::base`].
    pub base: WebUrl,
    /// As [`PageLinks::charset`].
    pub charset: &'static str,
    /// As [`PageLinks::head`].
    pub head: PageHead,
}

/// A page that was read, its links still as they are written there: little beside the page itself.
#[derive(Debug)]
pub struct ScannedPage {
    /// As [`PageLinks::head`].
    pub head: PageHead,
    /// As [`PageLinks::charset`].
    pub charset: &'static str,
    /// The links as they are written.
    pub links: RawLinks,
    /// What the page says, if that was asked for.
    pub text: Option<RuledText>,
}

/// Reads a page. `content_type` is the response's header; `url` is where the page was fetched.
pub fn scan(body: &[u8], content_type: Option<&str>, url: &WebUrl, reading: &Reading) -> ScannedPage {
    let DecodedText { html, charset } = decode(body, content_type, url);
    let (mut found, text) = read(&html, reading);
    let base = Base::of(found.base.as_deref(), url);
    let head = PageHead::of(&html, &found, &base, url);
    found.links.leave_out_refreshes(|reference| base.join(reference).as_ref() == Some(url));
    ScannedPage { head, charset, links: RawLinks::new(found.links, base), text }
}

/// One pass, unless parts are left out of the text: those are known by the page's tree alone.
fn read(html: &[u8], reading: &Reading) -> (Collected, Option<RuledText>) {
    match &reading.text {
        Some(omitted) if omitted.is_empty() => {
            let (found, text) = collect_with_text(html, reading.kinds, omitted.images, references(reading));
            (found, Some(RuledText { text, rule: omitted.rule() }))
        }
        omitted => {
            let found = collect(html, Wanted::Links(reading.kinds), references(reading));
            (found, omitted.as_ref().map(|omitted| omitted.text(html)))
        }
    }
}

/// What the links of a page are put into.
fn references(reading: &Reading) -> References {
    let links = References::within(reading.limits, reading.seed);
    if reading.beside.labels { links.labelled() } else { links }
}

/// What a response of plain text says; nothing where its `Content-Type` is another one.
///
/// ```
/// use webloom::internals::{extract, url::WebUrl};
/// let url = WebUrl::parse("http://example.org/a.txt")?;
/// let read = extract::plain_text(b"one\r\n two <b>", Some("text/plain"), &url);
/// assert_eq!(read.map(|read| read.text.as_str().to_owned()).as_deref(), Some("one\ntwo <b>"));
/// assert!(extract::plain_text(b"a;b", Some("text/csv"), &url).is_none());
/// # Ok::<(), webloom::internals::url::UrlError>(())
/// ```
pub fn plain_text(body: &[u8], content_type: Option<&str>, url: &WebUrl) -> Option<RuledText> {
    let essence = content_type?.split([';', ',']).next()?.trim();
    if !essence.eq_ignore_ascii_case("text/plain") {
        return None;
    }
    let mut text = TextBuilder::default();
    for line in decode(body, content_type, url).html.split(|byte| matches!(byte, b'\n' | b'\r')) {
        text.push(line);
        text.end_line();
    }
    Some(whole(text.finish()))
}

impl ScannedPage {
    /// The links as URLs.
    pub fn resolved(self) -> PageLinks {
        let Self { head, charset, links: raw, text: _ } = self;
        let (urls, left) = different(raw.marks().map(|(number, marks)| (raw.url(number), marks)), raw.most_bytes());
        let links = urls.into_iter().map(|(url, marks)| PageLink { url, nofollow: !marks.some_follow }).collect();
        PageLinks { links, beyond: raw.beyond() + left, head, base: raw.base().url.clone(), charset }
    }
}

/// The links of `a` and `area` of a page, all of them, and what else a visit needs of it: [`scan`] and [`ScannedPage::resolved`].
pub fn links(body: &[u8], content_type: Option<&str>, url: &WebUrl) -> PageLinks {
    let reading = Reading::links(LinkLimits::NONE, ReferenceSeed::random());
    scan(body, content_type, url, &Reading { kinds: LinkKinds::Anchors, ..reading }).resolved()
}

/// A body as text, in the charset that its byte order mark, header or `<meta>` names, or else in the one it looks like.
/// Bytes that are none of its letters become U+FFFD.
pub fn decoded<'a>(body: &'a [u8], content_type: Option<&str>, url: &WebUrl) -> Cow<'a, str> {
    match decode(body, content_type, url).html {
        Cow::Borrowed(text) => String::from_utf8_lossy(text),
        Cow::Owned(text) => Cow::Owned(
            String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
        ),
    }
}

/// Everything a page refers to. Costs more than [`links()`]: the crawl does not use it.
pub fn everything(body: &[u8], content_type: Option<&str>, url: &WebUrl) -> PageReferences {
    let DecodedText { html, charset } = decode(body, content_type, url);
    let found = collect(&html, Wanted::Everything, References::default());
    let base = Base::of(found.base.as_deref(), url);
    let urls = |references| base.resolve(references, |url, _| url);
    let links = base.resolve(&found.links, |url, marks| (url, marks));
    PageReferences {
        nofollow: links.iter().filter(|(_, marks)| marks.some_nofollow).map(|(url, _)| url.clone()).collect(),
        links: links.into_iter().map(|(url, _)| url).collect(),
        requisites: urls(&found.requisites),
        frames: urls(&found.frames),
        alternates: urls(&found.alternates),
        charset,
        head: PageHead::of(&html, &found, &base, url),
        base: base.url,
    }
}

impl Base {
    /// Each reference as a URL, once; references that differ as written and lead to the same URL are one. Beyond so many
    /// bytes of URLs references are left out, and counted.
    fn resolve<T>(&self, references: &References, make: impl Fn(WebUrl, Marks) -> T) -> Vec<T> {
        let all = references.iter().map(|one| (self.join(one.text), one.marks));
        different(all, usize::MAX).0.into_iter().map(|(url, marks)| make(url, marks)).collect()
    }
}

/// Those of the URLs that differ, with the marks of all that are the same, and how many had no room in so many bytes.
fn different(all: impl Iterator<Item = (Option<WebUrl>, Marks)>, most: usize) -> (Vec<(WebUrl, Marks)>, u64) {
    let mut table: HashTable<usize> = HashTable::new();
    let hasher = RandomState::new();
    let mut urls: Vec<(WebUrl, Marks)> = Vec::new();
    let (mut bytes, mut left) = (0, 0);
    for (url, marks) in all {
        let Some(url) = url else { continue };
        let hash = hasher.hash_one(url.as_str());
        if let Some(&number) = table.find(hash, |&number| urls[number].0 == url) {
            urls[number].1 = urls[number].1.and(marks);
        } else if bytes + url.as_str().len() > most {
            left += 1;
        } else {
            bytes += url.as_str().len();
            table.insert_unique(hash, urls.len(), |&number| hasher.hash_one(urls[number].0.as_str()));
            urls.push((url, marks));
        }
    }
    (urls, left)
}
