//! Hard pages: pages written by hand to be difficult, each with the list of what a crawl must follow from it.
//!
//! The lists are by the WHATWG HTML and URL standards. A page names `/found/…` where a crawl must look, and `/hidden/…`
//! where it must not.

use super::spelling::Lead;

/// One page written by hand.
#[derive(Debug)]
pub(super) struct HardPage {
    path: &'static str,
    /// The document; `{origin}` is in the place of the site's own.
    pub(super) html: &'static str,
    /// How the document becomes bytes, and who says so.
    pub(super) charset: Charset,
    /// The `X-Robots-Tag` header.
    pub(super) x_robots_tag: Option<&'static str>,
    leads: &'static [&'static str],
    rel_nofollow: &'static [&'static str],
}

/// How a document becomes bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Charset {
    /// UTF-8, and the header says so.
    Utf8,
    /// Windows-1252, and the header says so.
    Windows1252Header,
    /// Windows-1252; the header is silent, the document says it in a `meta`.
    Windows1252Meta,
    /// UTF-8 with a byte order mark; the header says windows-1252 and is wrong.
    Utf8Mark,
    /// UTF-16, little end first, with a byte order mark; the header is silent.
    Utf16Mark,
}

impl HardPage {
    const fn page(path: &'static str, html: &'static str, leads: &'static [&'static str]) -> Self {
        Self { path, html, charset: Charset::Utf8, x_robots_tag: None, leads, rel_nofollow: &[] }
    }

    const fn in_charset(self, charset: Charset) -> Self {
        Self { charset, ..self }
    }

    const fn with_tag(self, tag: &'static str) -> Self {
        Self { x_robots_tag: Some(tag), ..self }
    }

    const fn with_rel_nofollow(self, targets: &'static [&'static str]) -> Self {
        Self { rel_nofollow: targets, ..self }
    }

    /// What a crawl must follow from here.
    pub(super) fn leads(&self) -> Vec<Lead> {
        let lead = |target: &&str, rel_nofollow| Lead { target: (*target).to_owned(), rel_nofollow };
        let plain = self.leads.iter().map(|target| lead(target, false));
        plain.chain(self.rel_nofollow.iter().map(|target| lead(target, true))).collect()
    }
}

/// The hard page at `path`.
pub(super) fn at(path: &str) -> Option<&'static HardPage> {
    HARD_PAGES.iter().find(|hard_page| hard_page.path == path)
}

/// Where the hard pages are.
pub(super) fn paths() -> impl Iterator<Item = &'static str> {
    HARD_PAGES.iter().map(|hard_page| hard_page.path)
}

static HARD_PAGES: &[HardPage] = &[
    HardPage::page(
        "/hard/base.html",
        r##"<!doctype html><title>Base</title><base href="/found/base/"><base href="/hidden/second-base/">
<a href="one">1</a> <a href="./two?x=1">2</a> <a href="../three">3</a> <a href="#top">the base itself</a>"##,
        &["/found/base/one", "/found/base/two?x=1", "/found/three", "/found/base/"],
    ),
    HardPage::page(
        "/hard/base-elsewhere.html",
        r#"<!doctype html><title>Base on another host</title><base href="http://other.invalid/x/">
<a href="hidden/a">not here</a> <a href="/hidden/b">nor this</a> <a href="{origin}/found/past-the-base">here</a>"#,
        &["/found/past-the-base"],
    ),
    HardPage::page(
        "/hard/entities.html",
        r#"<!doctype html><title>Entities &amp; references</title>
<a href="/found/query?a=1&amp;b=2">1</a> <a href="/found/query?a=1&b=3">2</a> <a href="/found/query?a=1&copy=4">3</a>
<a href="&#x2f;found&sol;entity">4</a> <a href='/found/quote&quot;d'>5</a> <a href="/found/caf&eacute;">6</a>
<a href="/found/amp&amp;amp;">7</a> <a href="&#47;found&#47;numbers">8</a>"#,
        &[
            "/found/query?a=1&b=2",
            "/found/query?a=1&b=3",
            "/found/query?a=1&copy=4",
            "/found/entity",
            "/found/quote%22d",
            "/found/caf%C3%A9",
            "/found/amp&amp;",
            "/found/numbers",
        ],
    ),
    HardPage::page(
        "/hard/areas.html",
        r##"<!doctype html><title>Areas</title><img src="/hidden/map.png" usemap="#m">
<map name="m"><area shape="default" href="/found/area-default">
<area shape="rect" coords="0,0,1,1" href="../found/area-rect" alt="r"></map>"##,
        &["/found/area-default", "/found/area-rect"],
    ),
    HardPage::page(
        "/hard/queries.html",
        r#"<!doctype html><title>Queries</title>
<a href="/found/list">all</a> <a href="/found/list?">none</a> <a href="/found/list?page=1">1</a>
<a href="/found/list?page=2">2</a> <a href="/found/list?page=2#again">2</a> <a href="/found/list?a=1&amp;b=2">3</a>
<a href="/found/list?b=2&amp;a=1">4</a> <a href="/found/list?q=a+b">5</a> <a href="/found/list?q=a b">6</a>
<a href="self?at=0">7</a>"#,
        &[
            "/found/list",
            "/found/list?page=1",
            "/found/list?page=2",
            "/found/list?a=1&b=2",
            "/found/list?b=2&a=1",
            "/found/list?q=a+b",
            "/found/list?q=a%20b",
            "/hard/self?at=0",
        ],
    ),
    HardPage::page(
        "/hard/self?at=0",
        r##"<!doctype html><title>Only the query changes</title><a href="?at=1">next</a> <a href="#here">here</a>"##,
        &["/hard/self?at=1", "/hard/self?at=0"],
    ),
    HardPage::page(
        "/hard/self?at=1",
        r#"<!doctype html><title>And back</title><a href="?at=0">back</a> <a href="">this page</a>"#,
        &["/hard/self?at=0", "/hard/self?at=1"],
    ),
    HardPage::page(
        "/hard/letters.html",
        "<!doctype html><title>Letters: größe, 日本語</title>
<a href=\"/found/größe\">1</a> <a href=\"/found/日本語\">2</a> <a href=\"/found/%E6%97%A5%E6%9C%AC%E8%AA%9E\">2 again</a>
<a href=\"/found/ΑΒΓ?q=δ\">3</a> <a href=\"/found/Case\">4</a> <a href=\"/found/case\">5</a>
<a href=\"/found/slash\">6</a> <a href=\"/found/slash/\">7</a> <a href=\"/found/two words\">8</a>",
        &[
            "/found/gr%C3%B6%C3%9Fe",
            "/found/%E6%97%A5%E6%9C%AC%E8%AA%9E",
            "/found/%CE%91%CE%92%CE%93?q=%CE%B4",
            "/found/Case",
            "/found/case",
            "/found/slash",
            "/found/slash/",
            "/found/two%20words",
        ],
    ),
    HardPage::page(
        "/hard/charset/header.html",
        "<!doctype html><title>Café, by the header</title><a href=\"/found/café-header\">é</a>",
        &["/found/caf%C3%A9-header"],
    )
    .in_charset(Charset::Windows1252Header),
    HardPage::page(
        "/hard/charset/meta.html",
        "<!doctype html><meta charset=windows-1252><title>Café, by meta</title><a href=\"/found/café-meta\">é</a>",
        &["/found/caf%C3%A9-meta"],
    )
    .in_charset(Charset::Windows1252Meta),
    HardPage::page(
        "/hard/charset/http-equiv.html",
        "<!doctype html><meta http-equiv=\"Content-Type\" content=\"text/html; charset=ISO-8859-1\">
<title>Café, by http-equiv</title><a href=\"/found/café-equiv\">é</a>",
        &["/found/caf%C3%A9-equiv"],
    )
    .in_charset(Charset::Windows1252Meta),
    HardPage::page(
        "/hard/charset/mark.html",
        "<!doctype html><title>Café, by the byte order mark</title><a href=\"/found/café-mark\">é</a>",
        &["/found/caf%C3%A9-mark"],
    )
    .in_charset(Charset::Utf8Mark),
    HardPage::page(
        "/hard/charset/utf-16.html",
        "<!doctype html><title>Café, in UTF-16</title><a href=\"/found/café-utf-16\">é</a>",
        &["/found/caf%C3%A9-utf-16"],
    )
    .in_charset(Charset::Utf16Mark),
    HardPage::page(
        "/hard/a/b/dots.html",
        r#"<!doctype html><title>Dots</title>
<a href="../../../found/up">1</a> <a href="./../../../found/./x/../dot">2</a>
<a href="/found/%2e%2e/found/coded-dots">3</a>
<a href="../../../../../../../found/above-the-root">4</a> <a href="/found//double">5</a>
<a href="../../../found/at/..">6</a>"#,
        &["/found/up", "/found/dot", "/found/coded-dots", "/found/above-the-root", "/found//double", "/found/"],
    ),
    HardPage::page(
        "/hard/not-links.html",
        r#"<!doctype html><title><a href="/hidden/in-title"></title>
<!-- <a href="/hidden/in-comment"> --> <!--> <a href="/found/after-short-comment">1</a>
<script>document.write('<a href="/hidden/in-script">')</script>
<script><!-- <script> </script> <a href="/hidden/in-escaped-script"> --></script>
<style>a::after { content: '<a href="/hidden/in-style">' }</style>
<textarea><a href="/hidden/in-textarea"></textarea> <p title="<a href='/hidden/in-attribute'>">
<noscript><a href="/found/in-noscript">2</a></noscript> <a href="/found/after-all">3</a>"#,
        &["/found/after-short-comment", "/found/in-noscript", "/found/after-all"],
    ),
    HardPage::page(
        "/hard/requisites.html",
        r#"<!doctype html><title>Requisites and forms</title><link rel="stylesheet" href="/hidden/style.css">
<script src="/hidden/code.js"></script><img src="/hidden/picture.png" alt=""><form action="/hidden/form"></form>
<blockquote cite="/hidden/cited">words</blockquote> <a href="/found/with-requisites">the one link</a>"#,
        &["/found/with-requisites"],
    ),
    HardPage::page(
        "/hard/malformed.html",
        "<html><body><p><A HREF=/found/unquoted>1</A> <a   href = \"/found/spaces-around\" >2
<a href=\"  /found/trimmed\t\n\">3</a> <a href=\"/fou\nnd/new\tline\">4 <a/href=\"/found/slash-before\">5
<a href=\"/found/first\" href=\"/hidden/second\">6 <a title=\">\" href=\"/found/after-bracket\">7
<a href>no value <a href=\"\">this page <a name=x>no link</p></p></div><table><a href=/found/fostered><tr></a>8
<a href=\"\\found\\backslashes\">9 <a href=\"/found/nul\0byte\">10 <b><i><a href=/found/unclosed
 class=x>11 &nosuch; &#xfffffff; <>< a href=/hidden/no-tag> <a href=\"/hidden/end-of-file",
        &[
            "/found/unquoted",
            "/found/spaces-around",
            "/found/trimmed",
            "/found/newline",
            "/found/slash-before",
            "/found/first",
            "/found/after-bracket",
            "/hard/malformed.html",
            "/found/fostered",
            "/found/backslashes",
            "/found/nul%EF%BF%BDbyte",
            "/found/unclosed",
        ],
    ),
    HardPage::page("/hard/empty", "", &[]),
    HardPage::page(
        "/hard/meta-nofollow.html",
        r#"<!doctype html><title>No follow</title><meta name="robots" content="noarchive, NoFollow">
<a href="/hidden/by-meta">no</a> <a href="/hub">known from elsewhere</a>"#,
        &[],
    ),
    HardPage::page(
        "/hard/meta-none.html",
        r#"<!doctype html><title>None</title><META NAME="ROBOTS" CONTENT="NONE"><a href="/hidden/by-none">no</a>"#,
        &[],
    ),
    HardPage::page(
        "/hard/header-nofollow.html",
        r#"<!doctype html><title>No follow, by header</title><a href="/hidden/by-header">no</a>"#,
        &[],
    )
    .with_tag("noarchive, nofollow"),
    HardPage::page(
        "/hard/header-noindex.html",
        r#"<!doctype html><title>No index, by header</title><a href="/found/by-noindex">a link as any other</a>"#,
        &["/found/by-noindex"],
    )
    .with_tag("noindex"),
    HardPage::page(
        "/hard/rel-nofollow.html",
        r#"<!doctype html><title>Single links not to follow</title><a rel="nofollow" href="/found/by-rel-nofollow">1</a>
<a rel="external NoFollow noopener" href="/found/by-rel-list">2</a>
<a rel="nofollower" href="/found/by-other-rel">3</a>"#,
        &["/found/by-other-rel"],
    )
    .with_rel_nofollow(&["/found/by-rel-nofollow", "/found/by-rel-list"]),
    HardPage::page(
        "/hard/elsewhere.html",
        r#"<!doctype html><title>Elsewhere</title><a href="http://other.invalid/hidden/a">1</a>
<a href="//other.invalid/b">2</a> <a href="mailto:me@other.invalid">3</a> <a href="tel:+123">4</a>
<a href="javascript:void(0)">5</a>
<a href="data:text/html,<a href=/hidden/data>">6</a> <a href="ftp://other.invalid/">7</a> <a href="http://[bad">8</a>
<a href="http://">9</a> <a href="{origin}/found/absolute">10</a> <a href="http:found/no-slashes">11</a>"#,
        &["/found/absolute", "/hard/found/no-slashes"],
    ),
    HardPage::page("/hard/found/no-slashes", "<!doctype html><title>A scheme without slashes is relative</title>", &[]),
    HardPage::page(
        "/hard/files.html",
        r#"<!doctype html><title>Files</title><a href="/files/0.css">css</a> <a href="/files/0.png">png</a>
<a href="/files/0.txt">txt</a> <a href="/files/0.pdf">pdf</a> <a href="/missing/file">404</a>
<a href="/gone/file">410</a>"#,
        &["/files/0.css", "/files/0.png", "/files/0.txt", "/files/0.pdf", "/missing/file", "/gone/file"],
    ),
    HardPage::page(
        "/hard/robots.html",
        r#"<!doctype html><title>Robots</title><a href="/private/page">1</a> <a href="/private/open/page">2</a>
<a href="/search?q=1">3</a> <a href="/search">4</a> <a href="/found/run.cgi">5</a> <a href="/found/run.cgi?x=1">6</a>
<a href="/%70rivate/coded">7</a>"#,
        &[
            "/private/page",
            "/private/open/page",
            "/search?q=1",
            "/search",
            "/found/run.cgi",
            "/found/run.cgi?x=1",
            "/%70rivate/coded",
        ],
    ),
    HardPage::page(
        "/hard/folder/",
        r#"<!doctype html><title>A folder</title><a href=".">itself</a> <a href="..">up</a>
<a href="../folder">redirected</a>"#,
        &["/hard/folder/", "/hard/", "/hard/folder"],
    ),
];
