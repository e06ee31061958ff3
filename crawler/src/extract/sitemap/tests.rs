//! The rules of sitemaps and feeds, each with a case of its own.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

fn at(url: &str, body: impl AsRef<[u8]>, content_type: Option<&str>) -> SourceList {
    read(body.as_ref(), content_type, &WebUrl::parse(url).unwrap(), &SourceLimits::default())
}

fn list(body: impl AsRef<[u8]>) -> SourceList {
    at("http://h/dir/sitemap.xml", body, None)
}

fn urls(entries: &[SourceEntry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.url.as_str()).collect()
}

/// The pages of a sitemap that is otherwise without fault.
fn pages(body: impl AsRef<[u8]>) -> Vec<String> {
    let list = list(body);
    assert_eq!((list.problems.as_slice(), list.sitemaps.as_slice()), (&[][..], &[][..]));
    urls(&list.entries).into_iter().map(str::to_owned).collect()
}

fn faults(list: &SourceList) -> Vec<SourceFault> {
    list.problems.iter().map(|problem| problem.fault).collect()
}

fn urlset(inner: &str) -> String {
    format!("<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{inner}</urlset>")
}

#[test]
fn keeps_what_is_said_of_each_url() {
    let list = list(urlset(
        "<url><priority>0.3</priority><loc>http://h/a</loc><lastmod>2024</lastmod><changefreq> Weekly </changefreq></url>
         <url><loc>http://h/b#c</loc></url>",
    ));
    assert_eq!((list.kind, urls(&list.entries)), (Some(SourceKind::Urlset), vec!["http://h/a", "http://h/b"]));
    let [a, b] = &*list.entries else { panic!() };
    assert_eq!(a.lastmod.map(crate::time::Moment::millis), Some(1_704_067_200_000));
    assert_eq!((a.changefreq, a.priority), (Some(ChangeFrequency::Weekly), Some(0.3)));
    assert_eq!((b.lastmod, b.changefreq, b.priority), (None, None, None));
}

#[test]
fn a_bad_value_costs_the_value_alone() {
    let entry = |inner: &str| {
        let list = list(urlset(&format!("<url><loc>http://h/a</loc>{inner}</url>")));
        assert_eq!(urls(&list.entries), ["http://h/a"]);
        (list.entries[0].clone(), faults(&list))
    };
    for (inner, expected) in [
        ("<lastmod>soon</lastmod>", vec![SourceFault::Date]),
        ("<changefreq>often</changefreq>", vec![SourceFault::ChangeFrequency]),
        ("<priority>high</priority>", vec![SourceFault::Priority]),
        ("<priority>NaN</priority>", vec![SourceFault::Priority]),
        ("<lastmod/><changefreq></changefreq><priority> </priority>", vec![]),
    ] {
        let (entry, faults) = entry(inner);
        assert_eq!((entry.lastmod, entry.changefreq, entry.priority), (None, None, None), "{inner}");
        assert_eq!(faults, expected, "{inner}");
    }
    for (text, priority) in [("1.5", 1.0), ("-3", 0.0)] {
        let (entry, faults) = entry(&format!("<priority>{text}</priority>"));
        assert_eq!((entry.priority, faults), (Some(priority), vec![SourceFault::Priority]));
    }
}

#[test]
fn namespaces_and_prefixes_do_not_matter_but_those_of_extensions() {
    for body in [
        "<urlset><url><loc>http://h/a</loc></url></urlset>",
        "<URLSET><Url><LOC>http://h/a</LOC></Url></URLSET>",
        "<urlset xmlns='http://wrong/'><url><loc>http://h/a</loc></url></urlset>",
        "<s:urlset xmlns:s='http://wrong/'><s:url><s:loc>http://h/a</s:loc></s:url></s:urlset>",
        "<s:urlset><url><loc>http://h/a</loc></url></s:urlset>",
        "<urlset><url><loc>http://h/a</loc><image:image><image:loc>http://h/i</image:loc></image:image></url></urlset>",
        "<urlset><url><image:loc>http://h/i</image:loc><loc>http://h/a</loc></url></urlset>",
        "<urlset><url><image><image><loc>http://h/i</loc></image><loc>http://h/i</loc></image><loc>http://h/a</loc></url></urlset>",
        "<urlset><url><loc>http://h/a</loc><xhtml:link rel='alternate' hreflang='de' href='http://h/de'/></url></urlset>",
        "<urlset><url><video:video><video:loc>http://h/v</video:loc></url><url><loc>http://h/a</loc></url></urlset>",
    ] {
        assert_eq!(pages(body), ["http://h/a"], "{body}");
    }
}

#[test]
fn text_is_that_of_all_forms_of_xml() {
    for (loc, url) in [
        ("\n\t http://h/a \n", "http://h/a"),
        ("http://h/?a=1&amp;b=2", "http://h/?a=1&b=2"),
        ("http://h/?a=1&b=2&c", "http://h/?a=1&b=2&c"),
        ("http://h/?a=1&copy=2;&", "http://h/?a=1&copy=2;&"),
        ("http://h/&#x61;&#98;", "http://h/ab"),
        ("<![CDATA[http://h/?a&b]]>", "http://h/?a&b"),
        ("http://h/<![CDATA[a]]><!-- no -->b", "http://h/ab"),
        ("<url><![CDATA[http://h/a]]></url>", "http://h/a"),
        ("http://h/&section;", "http://h/&section;"),
    ] {
        assert_eq!(pages(urlset(&format!("<url><loc>{loc}</loc></url>"))), [url], "{loc}");
    }
}

#[test]
fn entities_of_the_document_are_not_resolved() {
    let body = "<!DOCTYPE urlset [<!ENTITY a 'http://h/a'><!ENTITY b SYSTEM 'file:///etc/passwd'>]>
        <urlset><url><loc>&a;</loc></url><url><loc>&b;</loc></url><url><loc>http://h/c</loc></url></urlset>";
    let list = list(body);
    assert_eq!((urls(&list.entries), faults(&list)), (vec!["http://h/c"], vec![SourceFault::NotUrl]));
    assert_eq!((list.problems[0].count, &*list.problems[0].example), (2, "&a;"));
}

#[test]
fn what_precedes_the_document_does_not_matter() {
    let document = urlset("<url><loc>http://h/a</loc></url>");
    for before in
        ["\u{feff}", "\u{feff}\n \r\n", "\n", "<br />\n<b>Warning</b>: no such file<br />", "<!-- x -->", "junk "]
    {
        assert_eq!(pages(format!("{before}{document}")), ["http://h/a"], "{before:?}");
    }
}

#[test]
fn other_charsets_are_decoded() {
    let document = |encoding: &str| {
        format!("<?xml version='1.0' encoding='{encoding}'?><urlset><url><loc>http://h/\u{fc}</loc></url></urlset>")
    };
    let latin = |text: &str| encoding_rs::WINDOWS_1252.encode(text).0.into_owned();
    let utf_16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    for body in [
        latin(&document("ISO-8859-1")),
        [b"\n ".to_vec(), latin(&document("windows-1252"))].concat(),
        document("UTF-8").into_bytes(),
        utf_16(&format!("\u{feff}{}", document("UTF-16"))),
        utf_16(&document("UTF-16")),
    ] {
        assert_eq!(pages(body), ["http://h/%C3%BC"]);
    }
    let named = at("http://h/", latin(&document("nonsense")), Some("text/xml; charset=iso-8859-1"));
    assert_eq!(urls(&named.entries), ["http://h/%C3%BC"]);
    assert_eq!(list(b"<urlset><url><loc>http://h/\xff</loc></url></urlset>").entries.len(), 1);
}

#[test]
fn tags_that_do_not_match_cost_nothing() {
    for body in [
        urlset("<loc>http://h/a</loc></url>"),
        urlset("<url></url><url><loc> http://h/a</loc></url><!-- --></url>"),
        urlset("<url><loc>http://h/a<lastmod>2024</lastmod></url>"),
        urlset("<url><loc>http://h/a</lco></url>"),
        urlset("<url><foo><loc>http://h/x</loc></url><url><loc>http://h/a</loc></url>"),
        urlset("<url><loc>http://h/a</loc></url>>"),
        urlset("<!BAD><url><loc>http://h/a</loc></url>"),
        urlset("<url>http://h/a</url>"),
    ] {
        assert_eq!(pages(&body), ["http://h/a"], "{body}");
    }
}

#[test]
fn a_record_may_have_many_urls_each_with_what_follows_it() {
    let list = list(
        "<sitemapindex><sitemap><loc>http://h/1</loc><lastmod>2001</lastmod><loc>http://h/2</loc><loc>http://h/3</loc>
         <lastmod>2003</lastmod></sitemap><sitemap>\nhttp://h/4?a&amp;b\n</sitemap></sitemapindex>",
    );
    assert_eq!((list.kind, list.entries.len(), list.problems.len()), (Some(SourceKind::Index), 0, 0));
    assert_eq!(urls(&list.sitemaps), ["http://h/1", "http://h/2", "http://h/3", "http://h/4?a&b"]);
    assert_eq!(
        list.sitemaps.iter().map(|entry| entry.lastmod.is_some()).collect::<Vec<_>>(),
        [true, false, true, false]
    );
}

#[test]
fn an_element_says_whether_it_is_a_sitemap_or_a_page() {
    let inner = "<url><loc>http://h/a</loc></url><sitemap><loc>http://h/b</loc></sitemap>";
    for (body, kind) in
        [(urlset(inner), SourceKind::Urlset), (format!("<sitemapindex>{inner}</sitemapindex>"), SourceKind::Index)]
    {
        let list = list(body);
        assert_eq!((list.kind, urls(&list.entries)), (Some(kind), vec!["http://h/a"]));
        assert_eq!(urls(&list.sitemaps), ["http://h/b"]);
    }
}

#[test]
fn relative_urls_are_resolved_and_named() {
    let list = list(urlset("<url><loc>a.html</loc></url><url><loc>/b</loc></url><url><loc>//i/c</loc></url>"));
    assert_eq!(urls(&list.entries), ["http://h/dir/a.html", "http://h/b", "http://i/c"]);
    assert_eq!(list.problems.len(), 1);
    assert_eq!((list.problems[0].fault, list.problems[0].count), (SourceFault::Relative, 3));
}

#[test]
fn what_is_no_url_is_a_problem() {
    for loc in ["", "mailto:a@b", "http://", "not a url", "ftp://h/"] {
        let list = list(urlset(&format!("<url><loc>{loc}</loc></url><url><loc>http://h/a</loc></url>")));
        assert_eq!((urls(&list.entries), faults(&list)), (vec!["http://h/a"], vec![SourceFault::NotUrl]), "{loc}");
    }
}

#[test]
fn each_url_is_reported_once_and_the_first_counts() {
    let list = list(urlset(
        "<url><loc>http://h/a</loc></url><url><loc>HTTP://h/a#x</loc><priority>1</priority></url><url><loc>http://h/b</loc></url>",
    ));
    assert_eq!(urls(&list.entries), ["http://h/a", "http://h/b"]);
    assert_eq!((list.entries[0].priority, list.beyond), (None, 0));
}

#[test]
fn limits_leave_out_and_count() {
    let url = WebUrl::parse("http://h/").unwrap();
    let limits = SourceLimits { entries: 3, ..SourceLimits::default() };
    let body =
        urlset(&(0..10).map(|n| format!("<url><loc>http://h/{}</loc></url>", n / 2)).collect::<Vec<_>>().concat());
    let list = read(body.as_bytes(), None, &url, &limits);
    assert_eq!((list.entries.len(), list.beyond, faults(&list)), (3, 4, vec![SourceFault::TooMany]));
    let limits = SourceLimits { bytes: body.len() / 2, ..SourceLimits::default() };
    let list = read(body.as_bytes(), None, &url, &limits);
    assert!((1..4).contains(&list.entries.len()) && faults(&list) == [SourceFault::TooLong], "{list:?}");
    assert_eq!(SourceLimits::default(), SourceLimits { entries: 50_000, bytes: 52_428_800 });
}

#[test]
fn gzip_is_unpacked() {
    use std::io::Write;
    let packed = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let body = packed(&urlset("<url><loc>http://h/a</loc></url>"));
    assert_eq!(pages(&body), ["http://h/a"]);
    let list = list(&body[..body.len() - 9]);
    assert_eq!((list.kind, faults(&list)), (Some(SourceKind::Urlset), vec![SourceFault::Gzip]));
    let text = at("http://h/sitemap.txt.gz", packed("http://h/a\nhttp://h/b"), Some("application/gzip"));
    assert_eq!((text.kind, urls(&text.entries)), (Some(SourceKind::Text), vec!["http://h/a", "http://h/b"]));
}

#[test]
fn an_end_that_is_missing_is_named() {
    for (body, expected) in [
        ("<urlset><url><loc>http://h/a</loc></url>", vec!["http://h/a"]),
        ("<urlset><url><loc>http://h/a</lo", vec!["http://h/a"]),
        ("<urlset><url><loc>http://h/a</", vec!["http://h/a"]),
        ("<urlset><url><loc>http://h/a<", vec![]),
        ("<urlset><url><loc>http://h/a", vec![]),
        ("<urlset><url><loc>http://h/a&am", vec![]),
        ("<urlset><url>http://h/a", vec![]),
        ("<urlset><!-- <url>", vec![]),
    ] {
        let list = list(body);
        assert_eq!((urls(&list.entries), faults(&list)), (expected, vec![SourceFault::Unfinished]), "{body}");
        assert_eq!(list.kind, Some(SourceKind::Urlset));
    }
}

#[test]
fn text_is_a_url_a_line() {
    let body = "\u{feff}http://h/a\r\n\n  https://i/b#c  \nhttp://h/a\n";
    for (url, content_type) in [
        ("http://h/list", Some("Text/Plain; charset=utf-8")),
        ("http://h/sitemap.TXT", None),
        ("http://h/sitemap", Some("application/octet-stream")),
    ] {
        let list = at(url, body, content_type);
        assert_eq!((list.kind, list.problems.len()), (Some(SourceKind::Text), 0));
        assert_eq!(urls(&list.entries), ["http://h/a", "https://i/b"], "{url}");
    }
    let mixed = "http://h/a\nsee also\n/relative\nhttp://h/b c\n";
    let list = at("http://h/a.txt", mixed, None);
    assert_eq!((urls(&list.entries), faults(&list)), (vec!["http://h/a"], vec![SourceFault::NotUrl]));
    assert_eq!(list.problems[0].count, 3);
    assert_eq!(at("http://h/a", mixed, None).kind, None);
}

#[test]
fn half_a_line_at_the_end_of_a_text_is_no_url() {
    let url = WebUrl::parse("http://h/a.txt").unwrap();
    let list = read_beginning(b"http://h/a\nhttp://h/b", None, &url, &SourceLimits::default());
    assert_eq!((urls(&list.entries), faults(&list)), (vec!["http://h/a"], vec![SourceFault::Unfinished]));
    let limits = SourceLimits { bytes: 15, ..SourceLimits::default() };
    assert_eq!(urls(&read(b"http://h/a\nhttp://h/b", None, &url, &limits).entries), ["http://h/a"]);
}

#[test]
fn other_documents_are_no_source() {
    for (body, content_type) in [
        ("", None),
        (" \n", Some("text/plain")),
        ("<!doctype html><html><body><urlset><url><loc>http://h/a</loc></url></urlset>", Some("text/html")),
        ("<opml><outline xmlUrl='http://h/a'/></opml>", Some("text/xml")),
        ("<!--\nhttp://h/a\n-->", Some("text/plain")),
        ("User-agent: *\nDisallow: /", Some("text/plain")),
        ("{\"a\": 1}", Some("application/json")),
    ] {
        let list = at("http://h/x", body, content_type);
        assert_eq!((list.kind, list.entries.len(), list.problems.len()), (None, 0, 0), "{body}");
    }
    assert_eq!(list("<urlset/>").kind, Some(SourceKind::Urlset));
}

#[test]
fn rss_has_a_link_an_item() {
    let list = list(
        "<rss version='2.0' xmlns:atom='http://www.w3.org/2005/Atom'><channel><link>http://h/feed</link>
         <atom:link rel='self' href='http://h/rss'/><image><link>http://h/image</link></image>
         <item><guid>http://h/guid-a</guid><title>A</title><link>http://h/a?b&amp;c</link><pubDate>Sat, 19 Oct 2024 11:21:53 GMT</pubDate></item>
         <item><guid isPermaLink='false'>http://h/b</guid><pubDate>never</pubDate></item>
         <item><link/><guid>tag:h,2024:c</guid></item>
         <item><description>&lt;a&gt; <link>http://h/no</link></description><atom:link rel='alternate' href='/d'/></item>
         <item><link><![CDATA[e]]></link><link>http://h/second</link>
         <item><dc:date>2024-10-19</dc:date><link>http://h/f</link></item></channel></rss>",
    );
    assert_eq!(list.kind, Some(SourceKind::Rss));
    let expected = ["http://h/a?b&c", "http://h/b", "http://h/d", "http://h/dir/e", "http://h/f"];
    assert_eq!(urls(&list.entries), expected);
    assert_eq!(faults(&list), [SourceFault::Date]);
    assert_eq!(list.entries.iter().filter(|entry| entry.lastmod.is_some()).count(), 2);
}

#[test]
fn rss_1_is_a_graph() {
    let list = list(
        "<rdf:RDF xmlns:rdf='r' xmlns='http://purl.org/rss/1.0/'><channel rdf:about='x'><link>http://h/</link></channel>
         <item rdf:about='http://h/a'><title>A</title><link>http://h/a</link><dc:date>2024-10-19</dc:date></item></rdf:RDF>",
    );
    assert_eq!((list.kind, urls(&list.entries)), (Some(SourceKind::Rss), vec!["http://h/a"]));
    assert!(list.entries[0].lastmod.is_some());
}

#[test]
fn atom_has_a_page_an_entry() {
    let list = list(
        "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='/base/'><link href='http://h/feed'/><updated>2024</updated>
         <entry><link rel='edit' href='edit'/><link type='application/json' href='a.json'/><link rel='alternate' href='a'/>
           <link href='second'/><published>2020</published><updated>2021</updated></entry>
         <entry xml:base='deep/'><link type='application/pdf' href='b.pdf'/></entry>
         <entry><content type='xhtml'><div><link href='no'/></div></content><source><link href='no'/></source>
           <link xml:base='http://i/' href='c?d&amp;e'/></entry>
         <entry><id>http://h/id</id></entry></feed>",
    );
    assert_eq!((list.kind, list.problems.len()), (Some(SourceKind::Atom), 0));
    assert_eq!(urls(&list.entries), ["http://h/base/a", "http://h/base/deep/b.pdf", "http://i/c?d&e"]);
    assert_eq!(list.entries[0].lastmod.map(crate::time::Moment::millis), Some(1_609_459_200_000));
    let prefixed = "<a:feed xmlns:a='x'><a:entry><a:link href='http://h/a'/></a:entry></a:feed>";
    assert_eq!(urls(&at("http://h/", prefixed, None).entries), ["http://h/a"]);
}

#[test]
fn a_long_base_makes_no_long_urls() {
    let long = format!("http://h/{}/", "x".repeat(3000));
    let list = at(&long, urlset("<url><loc>a</loc></url>"), None);
    assert_eq!((list.entries.len(), faults(&list)), (0, vec![SourceFault::NotUrl]));
    let feed = format!("<feed xml:base='{long}'><entry><link href='a'/></entry></feed>");
    assert_eq!(urls(&at("http://h/", feed, None).entries), ["http://h/a"]);
}

/// Each would take minutes if its cost grew with the square of its length.
#[test]
fn hostile_documents_are_read_in_linear_time() {
    let times = 1 << 16;
    for (start, part) in [
        ("<urlset>", "<!"),
        ("<urlset>", "<!x>"),
        ("<urlset>", "<!--"),
        ("<urlset>", "<a>"),
        ("<urlset><url><loc>", "&"),
        ("<urlset><url><loc>", " <a>"),
        ("<urlset><url>", " </b>"),
        ("<feed><entry>", "<link xml:base='a/' href='b'>"),
        ("<feed><entry><link ", "a=b "),
        ("", "<"),
        ("", "http://h/\n"),
    ] {
        list([start, &part.repeat(times)].concat());
    }
}

/// A document with every construct, all of whose URLs are different.
const WHOLE: [&str; 3] = [
    "\u{feff}<?xml version='1.0' encoding='UTF-8'?><!DOCTYPE urlset [<!ENTITY x 'y'>]><urlset xmlns:i='i'>
     <url><loc>http://h/1?a=b&amp;c=&#100;&e</loc><lastmod>2024-10-19</lastmod><i:image><i:loc>http://h/i</i:loc></i:image></url>
     <url><priority>0.5</priority><loc><![CDATA[http://h/2?x&y]]></loc></url><!-- <url> --><url><loc>http://h/3/\u{fc}</loc>
     <url>http://h/4</url><sitemap>http://h/5</sitemap><url><loc><url>http://h/6</url></loc></url><loc>http://h/7</loc></urlset>",
    "<rss><channel><link>http://h/</link><item><guid>http://h/1-guid</guid><link>http://h/1</link></item><item><guid>http://h/2</guid>
     <pubDate>Sat, 19 Oct 2024 11:21:53 GMT</pubDate></item><item><atom:link href='http://h/3'/></item><item><link>http://h/4</link>
     </channel></rss>",
    "<feed xml:base='http://i/'><entry><link type='a/b' href='1-other'/><link href='1'/></entry><entry><link type='a/b' href='2'/>
     <updated>2024-10-19T11:21:53Z</updated></entry><entry><summary><link href='no'/></summary><link rel=alternate href='3'></entry></feed>",
];

#[test]
fn no_beginning_has_a_url_that_the_whole_does_not_have() {
    for whole in WHOLE {
        let every: HashSet<_> = of_all(whole.as_bytes());
        assert!(every.len() >= 3);
        for end in 0..whole.len() {
            let found = of_all(&whole.as_bytes()[..end]);
            assert!(
                found.is_subset(&every),
                "{:?} of {}",
                found.difference(&every),
                &whole[..whole.floor_char_boundary(end)]
            );
        }
    }
}

/// All URLs of a document. The beginning of what precedes one may be a text of URLs.
fn of_all(body: &[u8]) -> HashSet<WebUrl> {
    let list = list(body);
    let is_markup = list.kind != Some(SourceKind::Text);
    list.entries.into_iter().chain(list.sitemaps).filter(|_| is_markup).map(|entry| entry.url).collect()
}

/// Pieces from which documents are made that are almost right.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: [&str; 40] = [
        "<urlset>",
        "</urlset>",
        "<url>",
        "</url>",
        "<loc>",
        "</loc>",
        "<loc/>",
        "<sitemapindex>",
        "<sitemap>",
        "</sitemap>",
        "<lastmod>",
        "</lastmod>",
        "2024-10-19",
        "<priority>",
        "9",
        "<rss>",
        "<item>",
        "</item>",
        "<link>",
        "</link>",
        "<link href='/x'/>",
        "<guid>",
        "</guid>",
        "<feed xml:base='a'>",
        "<entry>",
        "</entry>",
        "http://h/",
        "a",
        " ",
        "\n",
        "&amp;",
        "&",
        ";",
        "&#",
        "<![CDATA[",
        "]]>",
        "<!--",
        "-->",
        "<",
        ">",
    ];
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60).prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_read(body in prop::collection::vec(any::<u8>(), 0..2000), text in any::<bool>()) {
        let body = if text { [b"<urlset><url><loc>".to_vec(), body].concat() } else { body };
        list(&body);
        at("http://h/a.txt", &body, Some("text/plain; charset=utf-16"));
        list([&b"\x1f\x8b\x08\0\0\0\0\0\0\0"[..], &body].concat());
    }

    #[test]
    fn beginnings_of_broken_documents_have_no_urls_of_their_own(body in pieces(), cut in any::<prop::sample::Index>()) {
        let whole = of_all(&body);
        let beginning = of_all(&body[..cut.index(body.len() + 1)]);
        prop_assert!(beginning.is_subset(&whole), "{:?}", beginning.difference(&whole));
    }
}
