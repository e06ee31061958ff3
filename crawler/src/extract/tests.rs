//! Each rule of extraction on a page of its own, and what no page may do to us.

use std::{sync::Arc, thread, time::Duration};

use proptest::prelude::*;

use super::*;
use crate::url::WebUrl;

const PAGE: &str = "http://h/dir/page.html";

fn page(html: &str) -> PageLinks {
    links(html.as_bytes(), Some("text/html; charset=utf-8"), &WebUrl::parse(PAGE).unwrap())
}

fn all(html: &str) -> PageReferences {
    everything(html.as_bytes(), Some("text/html; charset=utf-8"), &WebUrl::parse(PAGE).unwrap())
}

/// The links of a page, those on `http://h/dir/` by their name alone.
fn found(html: &str) -> Vec<String> {
    names(page(html).links.iter().map(|link| &link.url))
}

fn names<'a>(urls: impl IntoIterator<Item = &'a WebUrl>) -> Vec<String> {
    urls.into_iter().map(|url| url.as_str().trim_start_matches("http://h/dir/").to_owned()).collect()
}

#[test]
fn anchors_and_areas_in_document_order_each_once() {
    assert_eq!(
        found("<a href=b>x</a><area href='a'><A HREF=\"c\"/><a href=./b><a name=x><b href=no>"),
        ["b", "a", "c"]
    );
}

#[test]
fn an_empty_href_and_a_mere_fragment_are_the_page_itself() {
    for html in
        ["<a href>", "<a href=''>", "<a href=' '>", "<a href='#top'>", "<a href=page.html#x>", "<a href=x href=y>x"]
    {
        assert_eq!(found(html), [if html.contains('y') { "x" } else { "page.html" }], "{html}");
    }
}

#[test]
fn only_the_web_is_linked() {
    let html = "<a href=mailto:a@b><a href='javascript:x'><a href=' DATA:,x'><a href=ftp://h/>\
                <a href='http://[x'><a href=https://o/p#q>";
    assert_eq!(found(html), ["https://o/p"]);
}

#[test]
fn href_is_trimmed_and_its_entities_are_decoded() {
    assert_eq!(found("<a href=' \n a&#32;b \t'>"), ["a%20b"]);
    assert_eq!(found("<a href='?a=1&amp;b=2&copy=3&#x26;d&eacute;'>"), ["page.html?a=1&b=2&copy=3&d%C3%A9"]);
    assert_eq!(found("<a href='x\r\ny'>"), ["xy"]);
}

#[test]
fn the_first_base_with_an_href_counts_for_all_links() {
    for html in [
        "<base href=/b/><base href=/c/><a href=x>",
        "<base target=_top><a href=x><base href=' /b/#f '>",
        "<a href=x><base href='http://h/b/'>",
    ] {
        let page = page(html);
        assert_eq!((page.links[0].url.as_str(), page.base.as_str()), ("http://h/b/x", "http://h/b/"), "{html}");
    }
}

#[test]
fn a_base_that_is_none_is_passed_over() {
    for href in ["http://[", "data:,x", "javascript:x"] {
        assert_eq!(found(&format!("<base href='{href}'><a href=x>")), ["x"], "{href}");
    }
}

#[test]
fn a_base_off_the_web_leaves_only_absolute_links() {
    let page = page("<base href=ftp://f/><a href=x><a href=//h/y><a href=http://h/z>");
    assert_eq!(names(page.links.iter().map(|link| &link.url)), ["http://h/z"]);
    assert_eq!(page.base.as_str(), PAGE);
}

#[test]
fn an_endless_base_does_not_make_endless_links() {
    let html = format!("<base href=/{}/><a href=x><a href=http://h/z>", "b".repeat(10_000));
    assert_eq!(found(&html), ["http://h/z"]);
}

#[test]
fn text_elements_hold_no_links() {
    for name in ["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"] {
        let html = format!("<{name}><a href=no></a><!-- </{name}x><a href=no></{name} ><a href=yes>");
        assert_eq!(found(&html), ["yes"], "{name}");
    }
    assert_eq!(found("<a href=yes><plaintext><a href=no></plaintext><a href=no>"), ["yes"]);
}

#[test]
fn comments_and_doctypes_hold_no_links() {
    assert_eq!(found("<!-- <a href=no> --><a href=yes>"), ["yes"]);
    assert_eq!(found("<!--><a href=yes>"), ["yes"]);
    assert_eq!(found("<!-- <a href=no> --!><a href=yes>"), ["yes"]);
    assert_eq!(found("<!doctype '<a href=yes>"), ["yes"; 0]);
    assert_eq!(found("<![CDATA[ <a href=no> ]]><a href=yes>"), ["yes"]);
}

#[test]
fn an_escaped_script_ends_where_browsers_end_it() {
    assert_eq!(found("<script><!-- <script> </script> <a href=no> --></script><a href=yes>"), ["yes"]);
    assert_eq!(found("<script><!-- </script><a href=yes>"), ["yes"]);
}

#[test]
fn scripts_do_not_run_here() {
    assert_eq!(found("<noscript><a href=x></noscript>"), ["x"]);
}

#[test]
fn svg_is_read_as_svg() {
    assert_eq!(found("<svg><a href=x><a xlink:href=y></svg><a xlink:href=no>"), ["x", "y"]);
    assert_eq!(found("<svg><style/><title/><script/></svg><a href=x>"), ["x"]);
    assert_eq!(found("<svg><![CDATA[<a href=no>]]></svg><a href=x>"), ["x"]);
    assert_eq!(found("<svg><p><style><a href=no></style><a href=x>"), ["x"]);
    assert_eq!(found("<svg><foreignObject><textarea><a href=no></textarea></foreignObject></svg><a href=x>"), ["x"]);
    assert_eq!(
        page("<svg><base href=/no/><title>no</title></svg><title>yes</title>").head.title.as_deref(),
        Some("yes")
    );
}

#[test]
fn unfinished_and_closing_tags_link_nothing() {
    assert_eq!(found("<a href=x></a href=no><a href=no"), ["x"]);
    assert_eq!(found("<a href='no>"), ["x"; 0]);
}

#[test]
fn a_link_is_nofollow_only_if_each_occurrence_is() {
    let page = page("<a href=x rel='NoFollow ugc'><a href=y rel=nofollow><a href=./y><a href=z rel=nofollower>");
    assert_eq!(page.links.iter().map(|link| link.nofollow).collect::<Vec<_>>(), [true, false, false]);
}

#[test]
fn everything_lists_links_with_any_nofollow() {
    assert_eq!(names(&all("<a href=x rel=nofollow><a href=./x><a href=y>").nofollow), ["x"]);
}

#[test]
fn the_title_is_the_first_one_collapsed_and_decoded() {
    for (html, title) in [
        ("<title>\n a &amp;\t<b> </title><title>no</title>", Some("a & <b>")),
        ("<title> </title>", None),
        ("<title></title><title>no</title>", None),
        ("<p>no", None),
        ("<title>open", Some("open")),
    ] {
        assert_eq!(page(html).head.title.as_deref(), title, "{html}");
    }
    assert_eq!(
        page(&format!("<title>{}</title>", "\u{fc}".repeat(9000))).head.title.map(|title| title.len()),
        Some(4096)
    );
}

#[test]
fn meta_robots_add_up() {
    let robots = page("<meta name=robots content=noindex><p><META content='nofollow' NAME=Robots>").head.robots;
    assert_eq!(robots, MetaRobots { nofollow: true, noindex: true });
    assert_eq!(
        page("<meta name=robots><meta content=none><meta name=x content=none>").head.robots,
        MetaRobots::default()
    );
}

#[test]
fn the_charset_is_used_for_links_and_named() {
    let url = WebUrl::parse(PAGE).unwrap();
    let page = links(b"<meta charset=iso-8859-1><title>\xfc</title><a href='\xfc?\xfc'>", None, &url);
    assert_eq!((page.links[0].url.as_str(), page.charset), ("http://h/dir/%C3%BC?%C3%BC", "windows-1252"));
    assert_eq!(page.head.title.as_deref(), Some("\u{fc}"));
    let utf_16: Vec<u8> = "\u{feff}<a href=x>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(names(links(&utf_16, None, &url).links.iter().map(|link| &link.url)), ["x"]);
}

#[test]
fn everything_sorts_references_by_what_they_are() {
    let page = all("<link rel=stylesheet href=a><link rel='shortcut icon' href=b><link rel=alternate href=c>\
         <link rel=canonical href=no><img src=d>\
         <script src=e></script><iframe src=f></iframe><frame src=g>\
         <video src=h poster=i><object data=j><a href=k><input src=l><img src=d>");
    assert_eq!(names(&page.requisites), ["a", "b", "d", "e", "h", "i", "j", "l"]);
    assert_eq!(names(&page.frames), ["f", "g"]);
    assert_eq!(names(&page.alternates), ["c"]);
    assert_eq!(names(&page.links), ["k"]);
}

/// What the crawl follows on a page, with the element it is in and whether it says nofollow.
fn followed(html: &str, kinds: LinkKinds) -> Vec<(String, &'static str, bool)> {
    let reading = Reading { kinds, ..Reading::links(LinkLimits::NONE, ReferenceSeed::random()) };
    let page = scan(html.as_bytes(), Some("text/html; charset=utf-8"), &WebUrl::parse(PAGE).unwrap(), &reading);
    let url = |link: RawLink| names(page.links.url(link.number).as_ref()).pop().unwrap();
    page.links.iter().map(|link| (url(link), link.element.as_str(), link.nofollow)).collect()
}

fn pages(html: &str) -> Vec<String> {
    followed(html, LinkKinds::Pages).into_iter().map(|(url, ..)| url).collect()
}

#[test]
fn frames_refreshes_and_relations_are_links_in_their_order() {
    let html = "<link rel=Next href=a><meta http-equiv=Refresh content='5; URL=b'><a href=c></a><frame src=d>\
                <iframe src='e#x'><a href=no></a></iframe><LINK HREF='f&amp;' rel='x alternate'><area href=g>\
                <link rel=prev href=h><a href=d>";
    let of = |name, element| (String::from(name), element, false);
    assert_eq!(
        followed(html, LinkKinds::Pages),
        [
            of("a", "link"),
            of("b", "meta"),
            of("c", "a"),
            of("d", "frame"),
            of("e", "iframe"),
            of("f&", "link"),
            of("g", "area"),
            of("h", "link"),
        ]
    );
    assert_eq!(followed(html, LinkKinds::Anchors), [of("c", "a"), of("g", "area"), of("d", "a")]);
    assert_eq!(names(page(html).links.iter().map(|link| &link.url)), ["c", "g", "d"]);
    assert_eq!(names(&all(html).links), ["c", "g", "d"]);
}

#[test]
fn what_leads_to_no_other_page_is_no_link() {
    for html in [
        "<iframe srcdoc='<a href=no>' src=no></iframe><iframe src=no srcdoc></iframe>",
        "<iframe src=about:blank></iframe><frame src='javascript:x'><iframe src='data:,x'></iframe><iframe src=' '></iframe>",
        "<meta http-equiv=refresh content=5><meta http-equiv=refresh content='5; url='><meta content='0;url=no'>",
        "<meta http-equiv=refresh content='5; url=page.html#x'><meta http-equiv=refresh content='0; ./page.html'>",
        "<meta http-equiv=x-refresh content='0;url=no'><meta name=refresh content='0;url=no'>",
        "<link rel='alternate stylesheet' href=no><link rel=canonical href=no><link rel=preload href=no><link href=no>",
        "<link rel=next><link rel=prev href=''><link rel=alternate href='android-app://x/y'>",
        "<svg><link rel=next href=no><frame src=no><iframe src=no></iframe><form action=no></form></svg>",
        "<math><link rel=next href=no /></math><!-- <link rel=next href=no> --><link rel=next href=no",
        "<p data-href=no data-url=/no onclick='location=\"no\"'><button onclick=\"location.href='no'\" formaction=no>",
        "<img src=no><script src=no></script><embed src=no><object data=no></object><video src=no poster=no></video>",
    ] {
        assert_eq!(followed(html, LinkKinds::PagesAndForms), [], "{html}");
    }
    assert_eq!(pages("<base href=/b/><meta http-equiv=refresh content='0;url=page.html'>"), ["http://h/b/page.html"]);
}

#[test]
fn a_feed_is_known_by_its_type() {
    let html = "<link rel=alternate type=application/rss+xml href=a><link rel=alternate type='Application/Atom+XML; x' href='b&amp;'>\
                <link rel=alternate type=text/html href=c><link rel=next type=application/rss+xml href=d>";
    let reading = Reading::links(LinkLimits::NONE, ReferenceSeed::random());
    let links = scan(html.as_bytes(), None, &WebUrl::parse(PAGE).unwrap(), &reading).links;
    let elements: Vec<_> = links.iter().map(|link| link.element).collect();
    assert_eq!(elements, [Element::Feed, Element::Feed, Element::Link, Element::Link]);
    assert!(elements[0].is_feed() && elements[0].as_str() == "link" && !elements[2].is_feed());
}

#[test]
fn forms_sent_with_get_are_links_if_they_are_asked_for() {
    let html = "<form action=a?b=c><form method=GET action='d'><form method=odd action=e rel=nofollow>\
                <form method=Post action=no><form method=dialog action=no><form><form action=''>";
    assert_eq!(pages(html), [""; 0]);
    let of = |name, nofollow| (String::from(name), "form", nofollow);
    assert_eq!(followed(html, LinkKinds::PagesAndForms), [of("a?b=c", false), of("d", false), of("e", true)]);
}

#[test]
fn relations_with_nofollow_say_so() {
    let html = "<link rel='next nofollow' href=a><link rel='NoFollow alternate' href='b&amp;'><link rel=prev href=c>";
    let nofollow: Vec<_> = followed(html, LinkKinds::Pages).into_iter().map(|(.., nofollow)| nofollow).collect();
    assert_eq!(nofollow, [true, true, false]);
}

#[test]
fn a_relation_has_the_language_of_its_target() {
    let html = "<link rel=alternate hreflang=de href=a><link rel=alternate hreflang='fr&#45;CH' href=b><a hreflang=it href=c>c</a>";
    let url = WebUrl::parse(PAGE).unwrap();
    let reading = Reading::links(LinkLimits::of(100), ReferenceSeed::random()).with_labels();
    let mut links = scan(html.as_bytes(), None, &url, &reading).links;
    links.add_header(&link_header([&b"<z>; rel=alternate; hreflang=es"[..]].into_iter(), &url).pages);
    let languages: Vec<_> = links.iter().map(|link| links.label(link.number).unwrap().language.to_owned()).collect();
    assert_eq!(languages, ["de", "fr-CH", "", "es"]);
}

#[test]
fn links_in_the_header_come_last_and_have_labels() {
    let url = WebUrl::parse(PAGE).unwrap();
    let reading = Reading::links(LinkLimits::of(100), ReferenceSeed::random()).with_labels();
    let mut links =
        scan(b"<base href=/b/><iframe src=x></iframe><link rel='a next' href=y>", None, &url, &reading).links;
    links.add_header(&link_header([&b"<z>; rel=\"next  nofollow\""[..]].into_iter(), &url).pages);
    let found: Vec<_> = links
        .iter()
        .map(|link| (links.url(link.number).unwrap(), links.label(link.number).unwrap(), link.nofollow))
        .map(|(url, label, nofollow)| (url.as_str().to_owned(), label.element.as_str(), label.rel.to_owned(), nofollow))
        .collect();
    let of = |url: &str, element, rel: &str, nofollow| (url.to_owned(), element, rel.to_owned(), nofollow);
    assert_eq!(
        found,
        [
            of("http://h/b/x", "iframe", "", false),
            of("http://h/b/y", "link", "a next", false),
            of("http://h/dir/z", "header", "next nofollow", true),
        ]
    );
}

#[test]
fn an_empty_source_loads_nothing() {
    let page = all("<iframe src=''></iframe><img src><link rel=stylesheet href=' '><frame>");
    assert!(page.frames.is_empty() && page.requisites.is_empty());
}

#[test]
fn both_ways_find_the_same_links() {
    let html = "<base href=b/><a href=x><img src=y><title>t</title>\
                <meta name=robots content=none><iframe><a href=no></iframe><a href=z>";
    let (some, every) = (page(html), all(html));
    assert_eq!(some.links.iter().map(|link| &link.url).collect::<Vec<_>>(), every.links.iter().collect::<Vec<_>>());
    assert_eq!((some.base, some.head), (every.base, every.head));
}

proptest! {
    #[test]
    fn no_bytes_are_too_bad(body in prop::collection::vec(any::<u8>(), 0..400), header in "[ -~]{0,40}") {
        let url = WebUrl::parse(PAGE).unwrap();
        links(&body, None, &url);
        links(&body, Some(header.as_str()), &url);
        everything(&body, Some(header.as_str()), &url);
        is_html(None, &body);
        robots_header([header.as_str()].into_iter(), "webloom");
    }

    #[test]
    fn links_are_different_web_urls(hrefs in prop::collection::vec("[a-c./:?# \\\\&;]{0,8}", 0..20)) {
        // An ampersand that is not escaped may begin an entity: `&ac;` is one.
        let html = hrefs.iter().fold(String::new(), |html, href| html + "<a href=\"" + &href.replace('&', "&amp;") + "\">");
        let links = page(&html).links;
        let different: std::collections::HashSet<_> = links.iter().map(|link| link.url.as_str()).collect();
        prop_assert_eq!(different.len(), links.len());
        let joined = hrefs.iter().filter_map(|href| WebUrl::parse(PAGE).unwrap().join(href).ok());
        let expected: std::collections::HashSet<_> = joined.map(|url| url.as_str().to_owned()).collect();
        prop_assert_eq!(different, expected.iter().map(String::as_str).collect());
    }
}

#[test]
fn a_tag_may_have_any_number_of_attributes() {
    let many = numbered(50_000, " x='>' y");
    let html =
        format!("<meta name=robots content=nofollow{many}><p{many}><a href='a&amp;b'{many}>t</a{many}></p><a href=c>");
    assert_eq!(found(&html), ["a&b", "c"]);
    assert!(page(&html).head.robots.nofollow);
    assert_eq!(found(&format!("<a href='a&amp;b'{many}")), [""; 0]);
}

#[test]
fn no_page_needs_a_deep_stack() {
    let reading = Reading::links(LinkLimits::NONE, ReferenceSeed::random()).with_text(Arc::default());
    for start in [
        "",
        "<!--",
        "<svg><![CDATA[",
        "<script>",
        "<script><!--",
        "<script><!--<script>",
        "<textarea>",
        "<p",
        "<p x='",
        "<!doctype ",
    ] {
        for again in [
            "-x",
            "--x",
            "--!x",
            "<!-",
            "<!--",
            "--",
            "]x",
            "]]x",
            "</x",
            "<x",
            "/",
            " x",
            " x=y",
            " x='y'",
            "'y'",
            "&",
            "&amp;",
            "&x;",
            "&#1;",
            "&#x",
            "\0",
            "\r",
            "\n",
            "<",
            "<!",
            "<?",
            ">",
            "<p>",
            "</p>",
            "</p >",
            "<p/>",
            "\"\" public ''",
            "<!---->",
            "<a href=x>",
        ] {
            let html = start.to_owned() + &again.repeat(60_000);
            scan(html.as_bytes(), Some("text/html"), &WebUrl::parse(PAGE).unwrap(), &reading);
            page(&html);
        }
    }
}

/// Pages made to be slow, by how often something is in them.
const HOSTILE: [fn(usize) -> String; 26] = [
    |n| "<".repeat(n),
    |n| "</".repeat(n),
    |n| "<!--".repeat(n),
    |n| "<svg>".repeat(n) + &"</desc>".repeat(n),
    |n| "<svg><desc>".repeat(n) + &"</p>".repeat(n),
    |n| format!("<a {}>", "href=x ".repeat(n)),
    |n| format!("<a {}>", numbered(n, " x")),
    |n| format!("<div {}>", "a='".repeat(n)),
    |n| format!("<a href='{}'>", "&amp".repeat(n)),
    |n| format!("<a href='{}'>", "../".repeat(n)),
    |n| numbered(n, "><a href="),
    |n| "<a href=//h/x>".repeat(n),
    |n| format!("<title>{}", "&x".repeat(n)),
    |n| "<script><!--<script>".repeat(n),
    |n| "<base href=x><meta name=robots content=x><a href='javascript:".repeat(n),
    |n| "<textarea></textarea ".repeat(n),
    |n| format!("<meta {}>", numbered(n, "='' x")),
    |n| format!("<title></title {}>", numbered(n, "=\"\"x")),
    |n| "<object><pre>\n".repeat(n),
    |n| "<iframe src=x></iframe><link rel=next href='&amp;'><link rel=next href=y>".repeat(n),
    |n| numbered(n, "'><meta http-equiv=refresh content='0;url=./"),
    |n| "<div>".repeat(n),
    |n| "<p>x<b>".repeat(n),
    |n| numbered(n, "'><a id='a href='x#y"),
    |n| "<a href=#x>".to_owned() + &"y ".repeat(n),
    |n| "x ".repeat(n) + &"\u{20ac}".repeat(n) + "<pre>" + &"\n\r".repeat(n),
];

fn numbered(n: usize, before: &str) -> String {
    (0..n).fold(String::new(), |text, number| text + before + &number.to_string())
}

/// The CPU time of reading a page: others may use the machine meanwhile.
fn time(html: &str) -> Duration {
    let used = || {
        let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::try_from(used).expect("the clock does not begin before 0")
    };
    let before = used();
    page(html);
    all(html);
    anchors(html.as_bytes(), Some("text/html"), &WebUrl::parse(PAGE).unwrap(), LinkLimits::of(10_000));
    for omitted in [Omitted::default(), Omitted::parse(&["nav > b + a.x [y='z']", "p:nth-child(7)"]).unwrap()] {
        let reading = Reading::links(LinkLimits::NONE, ReferenceSeed::random()).with_text(Arc::new(omitted));
        scan(html.as_bytes(), Some("text/html"), &WebUrl::parse(PAGE).unwrap(), &reading);
    }
    used().saturating_sub(before)
}

/// Where nothing is optimised, each state of the tokenizer that follows another takes stack.
const ENOUGH_STACK: usize = 1 << 30;

#[test]
fn time_is_linear_whatever_the_page() {
    let body = thread::Builder::new().stack_size(ENOUGH_STACK).spawn(assert_linear).unwrap();
    body.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

fn assert_linear() {
    for (number, make) in HOSTILE.iter().enumerate() {
        let (small, large) = (make(10_000), make(80_000));
        let best = (0..3).map(|_| time(&small)).min().unwrap_or_default();
        let bound = best.max(Duration::from_millis(2)) * 8 * 4;
        let taken = (0..3).map(|_| time(&large)).min().unwrap_or_default();
        assert!(taken <= bound, "hostile page {number}: {best:?} at an eighth of its size, {taken:?} whole");
    }
}
