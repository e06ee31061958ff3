//! What becomes of each kind of reference, in tables.

use super::*;

/// A page with these references.
pub(super) fn changed(text: &str, url: &Url, target: &mut dyn FnMut(&Url) -> Option<String>) -> String {
    html(text, &RewrittenPage { url, head: "" }, &mut |url, _| target(url))
}

/// A page of `http://h/a/b` whose references lead to `/r/` with their URLs.
fn led(text: &str) -> String {
    changed(text, &Url::parse("http://h/a/b").unwrap(), &mut |url| Some(format!("/r/{url}")))
}

fn led_sheet(text: &str) -> String {
    style_sheet(text, &Url::parse("http://h/a/b.css").unwrap(), &mut |url| Some(format!("/r/{url}")))
}

fn kept(text: &str) -> String {
    changed(text, &Url::parse("http://h/a/b").unwrap(), &mut |_| None)
}

const SAID: &str = "<meta charset=\"utf-8\" />";

#[test]
fn references_of_pages_lead_elsewhere_and_all_else_stays() {
    for (text, expected) in [
        ("<a  HREF = c  id='x'>a &amp; b</A>", "<a  HREF = \"/r/http://h/a/c\"  id='x'>a &amp; b</A>"),
        ("<a href='/c?d=e&amp;f=g#h'>", "<a href=\"/r/http://h/c?d=e&amp;f=g#h\">"),
        ("<a href=\" \n c \">", "<a href=\"/r/http://h/a/c\">"),
        ("<a href=//o/&quot;>", "<a href=\"/r/http://o/%22\">"),
        (
            "<img src=x.png data-src=y.png alt=x.png>",
            "<img src=\"/r/http://h/a/x.png\" data-src=\"/r/http://h/a/y.png\" alt=x.png>",
        ),
        (
            "<video poster=p></video><object data=o>",
            "<video poster=\"/r/http://h/a/p\"></video><object data=\"/r/http://h/a/o\">",
        ),
        ("<div data=x cite=x>", "<div data=x cite=x>"),
        (
            "<form action=f><button formaction=g>",
            "<form action=\"/r/http://h/a/f\"><button formaction=\"/r/http://h/a/g\">",
        ),
        ("<table background=t>", "<table background=\"/r/http://h/a/t\">"),
        (
            "<svg><use href=s.svg#x /><image xlink:href=i /></svg>",
            "<svg><use href=\"/r/http://h/a/s.svg#x\" /><image xlink:href=\"/r/http://h/a/i\" /></svg>",
        ),
        ("<img srcset='y.png 2x, /z.png'>", "<img srcset=\"/r/http://h/a/y.png 2x, /r/http://h/z.png\">"),
        ("<link imagesrcset='data:,a 1x,b 2x'>", "<link imagesrcset=\"data:,a 1x,/r/http://h/a/b 2x\">"),
        ("<p style='a:url(&quot;x&quot;) \"y\"'>", "<p style=\"a:url(&quot;/r/http://h/a/x&quot;) &quot;y&quot;\">"),
        ("<style>p>a{b:url(x&y)}</style>url(z)", "<style>p>a{b:url(\"/r/http://h/a/x&y\")}</style>url(z)"),
        (
            "<svg><style>p>a{b:url(x&amp;y)}</style>",
            "<svg><style>p&gt;a{b:url(&quot;/r/http://h/a/x&amp;y&quot;)}</style>",
        ),
        ("<style>@import 'x", "<style>@import \"/r/http://h/a/x\""),
        ("<iframe srcdoc='<a href=c>'>", "<iframe srcdoc=\"&lt;a href=&quot;/r/http://h/a/c&quot;&gt;\">"),
        ("<iframe srcdoc=\"<iframe srcdoc='a'>\">", "<iframe srcdoc=\"&lt;iframe srcdoc=&quot;&quot;&gt;\">"),
        ("<noscript><img src=x></noscript>", "<noscript><img src=\"/r/http://h/a/x\"></noscript>"),
        ("<a href=x href=y>", "<a href=\"/r/http://h/a/x\" href=y>"),
        ("<p>\r\n\0<a href=x>\r", "<p>\r\n\0<a href=\"/r/http://h/a/x\">\r"),
    ] {
        assert_eq!(led(&format!("{SAID}{text}")), format!("{SAID}{expected}"), "{text}");
    }
}

#[test]
fn what_is_no_reference_to_the_web_stays() {
    for text in [
        "<a href=#top><a href=''><a href=' '><a href><a name=x>",
        "<a href=data:,x><a href=javascript:x><a href=' JavaScript:x'><a href=mailto:x><a href=tel:1><a href=about:blank>",
        "<a href=blob:http://h/x><a href=ftp://h/><a href=http://><param value=x><meta content=x>",
        "<script>'<a href=x>'</script><!-- <a href=x> --><!--[if IE]><img src=x><![endif]--><title><a href=x></title>",
        "<style>/* url(x) */ a { content: 'url(x)'; b: url(#x), url(data:,x) }</style>",
    ] {
        assert_eq!(led(&format!("{SAID}{text}")), format!("{SAID}{text}"));
    }
}

#[test]
fn the_first_base_is_that_of_the_whole_page() {
    for (text, expected) in [
        ("<a href=c><base href=/q/><base href=/n/>", "<a href=\"/r/http://h/q/c\"><base><base>"),
        (
            "<base target=x><base href=/q/ target=y><a href=c>",
            "<base target=x><base target=y><a href=\"/r/http://h/q/c\">",
        ),
        ("<base href=//o/><a href=#x><a href=c>", "<base><a href=#x><a href=\"/r/http://o/c\">"),
        ("<base href=javascript:x><a href=c>", "<base><a href=\"/r/http://h/a/c\">"),
        ("<base href=/q/ href=/n/><a href=c>", "<base ><a href=\"/r/http://h/q/c\">"),
        ("<svg><base href=/q/></svg><a href=c>", "<svg><base></svg><a href=\"/r/http://h/a/c\">"),
        ("<base href=/q/><p style='a:url(x)'>", "<base><p style=\"a:url(&quot;/r/http://h/q/x&quot;)\">"),
    ] {
        assert_eq!(led(&format!("{SAID}{text}")), format!("{SAID}{expected}"), "{text}");
    }
}

#[test]
fn what_would_keep_the_copy_from_being_shown_is_left_out() {
    for (text, expected) in [
        ("<script integrity=x crossorigin src=data:, nonce='y' async>", "<script src=data:, async>"),
        ("<meta http-equiv=refresh content='5; url=x'>", "<meta http-equiv=refresh content=\"\">"),
        ("<meta content=5 http-equiv=refresh>", "<meta content=\"\" http-equiv=refresh>"),
        ("<meta http-equiv=x content='a; url=b'>", "<meta content='a; url=b'>"),
        ("<link rel='preconnect stylesheet' href=data:,>", "<link rel=\"stylesheet\" href=data:,>"),
        ("<img src='file:///a'>", "<img src=\"about:invalid\">"),
        ("<p a integrity =b>", "<p a>"),
        ("<p a nonce = b nonce=c >", "<p a >"),
        ("<p a nonce\n=\nb\"=c>", "<p a>"),
        ("<p a nonce='' =c>", "<p a / =c>"),
        ("<p/nonce>", "<p/ >"),
        ("<p / nonce>", "<p / >"),
        ("<p a='b'nonce=\"c\"d>", "<p a='b'd>"),
        ("</p nonce=x>", "</p nonce=x>"),
    ] {
        assert_eq!(kept(&format!("{SAID}{text}")), format!("{SAID}{expected}"), "{text}");
    }
}

#[test]
fn a_refresh_leads_to_another_file_or_nowhere() {
    for (content, expected) in [
        ("0;url=x", "0; url=/r/http://h/a/x"),
        (" 5 , URL = 'x' y", "5; url=/r/http://h/a/x"),
        ("0; x", "0; url=/r/http://h/a/x"),
        ("5", ""),
        ("0;url=javascript:x", ""),
    ] {
        let shown = led(&format!("{SAID}<meta http-equiv=Refresh content=\"{content}\">"));
        assert_eq!(shown, format!("{SAID}<meta http-equiv=Refresh content=\"{expected}\">"));
    }
}

#[test]
fn a_drawing_leads_where_it_may() {
    let page = Url::parse("http://h/a/b.svg").unwrap();
    let read = |text: &str| xml(text, &page, &mut |url| url.path().starts_with("/a").then(|| "x".to_owned()));
    for (text, expected) in [
        ("<svg><script href='c'/><a href=\"c\"/>", "<svg><script href=\"x\"/><a href=\"x\"/>"),
        ("<svg><image xlink:href='http://o/'/>", "<svg><image xlink:href=\"about:invalid\"/>"),
        ("<svg><style>a{b:url(//o/c)}</style>", "<svg><style>a{b:url(&quot;about:invalid&quot;)}</style>"),
    ] {
        assert_eq!(read(text), expected);
    }
}

#[test]
fn frames_are_known_and_nothing_is_loaded_in_advance() {
    let page = Url::parse("http://h/").unwrap();
    let text = "<iframe src=a></iframe><object data=b></object><embed src=c><img src=d><script type=SpeculationRules>";
    let mut frames = Vec::new();
    let shown = html(text, &RewrittenPage { url: &page, head: "" }, &mut |url, used_for| {
        frames.extend((used_for == ReferenceUse::Frame).then(|| url.path().to_owned()));
        None
    });
    assert_eq!(frames, ["/a", "/b", "/c"]);
    assert!(shown.ends_with("<script type=\"text/plain\">"), "{shown}");
}

#[test]
fn pages_say_that_they_are_in_utf_8() {
    let far = " ".repeat(2000);
    for (text, expected) in [
        ("<meta charset=latin1>", "<meta charset=\"utf-8\">".to_owned()),
        ("<meta charset=UTF-8 id=x>", "<meta charset=UTF-8 id=x>".to_owned()),
        ("<head a=b><title>x", format!("<head a=b>{SAID}<title>x")),
        ("<!doctype html>\n<p>", format!("<!doctype html>{SAID}\n<p>")),
        ("x", format!("{SAID}x")),
        ("", SAID.to_owned()),
        ("<meta charset>", format!("{SAID}<meta charset>")),
        (
            "<meta http-equiv=content-type content='text/html; charset=latin1'>",
            format!("{SAID}<meta content='text/html; charset=latin1'>"),
        ),
        (&format!("<head>{far}<meta charset=utf-8>"), format!("<head>{SAID}{far}<meta charset=utf-8>")),
    ] {
        assert_eq!(kept(text), expected);
    }
}

#[test]
fn references_of_style_sheets_lead_elsewhere_and_all_else_stays() {
    for (text, expected) in [
        ("a { b: url( x ) /* url(y) */ }", "a { b: url(\"/r/http://h/a/x\") /* url(y) */ }"),
        ("a{b:URL( 'x' )}", "a{b:URL( \"/r/http://h/a/x\" )}"),
        ("a{b:url(\"x\\\"y\\\\\")}", "a{b:url(\"/r/http://h/a/x%22y/\")}"),
        ("a{b:u\\72l(\\x\\79 z)}", "a{b:url(\"/r/http://h/a/xyz\")}"),
        (
            "@import 'x' screen; @import url(y); @import url('z') layer('n')",
            "@import \"/r/http://h/a/x\" screen; @import url(\"/r/http://h/a/y\"); @import url(\"/r/http://h/a/z\") layer('n')",
        ),
        ("@namespace svg url(http://n/); a{content:'url(x)'}", "@namespace svg url(http://n/); a{content:'url(x)'}"),
        (
            "a{b:image-set('x' 1x type('n'), url(y) 2x)}",
            "a{b:image-set(\"/r/http://h/a/x\" 1x type('n'), url(\"/r/http://h/a/y\") 2x)}",
        ),
        ("a{b:url(x y)} c{d:url(z)", "a{b:url(x y)} c{d:url(\"/r/http://h/a/z\")"),
        ("a{b:url(x", "a{b:url(\"/r/http://h/a/x\")"),
        ("a{b:url(#x) url() url(data:,x)}", "a{b:url(#x) url() url(data:,x)}"),
        ("@charset \"latin1\";\r\na{b:url(x)}", "@charset \"utf-8\";\r\na{b:url(\"/r/http://h/a/x\")}"),
        ("@charset \"UTF-8\"; a", "@charset \"UTF-8\"; a"),
    ] {
        assert_eq!(led_sheet(text), expected);
    }
}

#[test]
fn what_is_written_cannot_end_where_it_is() {
    let page = Url::parse("http://h/").unwrap();
    let mut target = |_: &Url| Some("</style>\"'>\\\n,".to_owned());
    let style = "\"\\3c /style>\\\"'>\\\\\\a ,\"";
    for (text, expected) in [
        ("<a href=x>", "<a href=\"&lt;/style&gt;&quot;'&gt;\\\n,\">".to_owned()),
        ("<img srcset='x 2x'>", "<img srcset=\"&lt;/style&gt;&quot;'&gt;\\%2C 2x\">".to_owned()),
        ("<style>a{b:url(x)}</style>", format!("<style>a{{b:url({style})}}</style>")),
    ] {
        assert_eq!(changed(&format!("{SAID}{text}"), &page, &mut target), format!("{SAID}{expected}"));
    }
}
