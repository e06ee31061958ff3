//! What is the text of a page, and what is not.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::{
    text::{LONGEST_LINE, MOST_BYTES, Text},
    url::WebUrl,
};

fn read(body: &[u8], omitted: &Arc<Omitted>) -> ScannedPage {
    let url = WebUrl::parse("http://h/dir/page.html").unwrap();
    let reading = Reading::links(LinkLimits::NONE, ReferenceSeed::random()).with_text(Arc::clone(omitted));
    scan(body, Some("text/html; charset=utf-8"), &url, &reading)
}

fn text(html: &str) -> Text {
    read(html.as_bytes(), &Arc::default()).text.expect("it was asked for").text
}

fn lines(html: &str) -> Vec<String> {
    text(html).lines().map(str::to_owned).collect()
}

#[test]
fn a_block_is_a_line() {
    let html = "<!DOCTYPE html><HTML><head><title>no</title><style>p { color: red }</style></head>\r\n<BODY>before\
        <H1>A <EM>fine</EM> page</H1><p>One\r\n  two<br>three<p>Fish &amp; chips&nbsp;&eacute; &lt;b&gt; &#8364;<hr>tail\
        <ul><li>one<li>two <b>b</b></ul><dl><dt>t<dd>d</dl><address>x</address></body></html> after";
    assert_eq!(
        lines(html),
        [
            "before",
            "A fine page",
            "One two",
            "three",
            "Fish & chips \u{e9} <b> \u{20ac}",
            "tail",
            "one",
            "two b",
            "t",
            "d",
            "x",
            "after"
        ]
    );
}

#[test]
fn inline_elements_and_comments_divide_nothing() {
    assert_eq!(lines("a<b>b</b><!-- x --><span>c</span><a href=x>d</a><img alt=no>e<wbr>f"), ["abcdef"]);
    assert_eq!(lines("a <b> b </b> c"), ["a b c"]);
}

#[test]
fn each_cell_and_each_choice_is_a_line() {
    assert_eq!(
        lines("<table><caption>c<tr><th>h<td>1<table><tr><td>in<td>ner</table>2<td>3</table>4"),
        ["c", "h", "1", "in", "ner", "2", "3", "4"]
    );
    assert_eq!(
        lines("<label>l <select><optgroup label=no><option>1<option>2</select> m</label><button>b</button>"),
        ["l", "1", "2", "m", "b"]
    );
}

#[test]
fn preformatted_lines_are_lines() {
    assert_eq!(lines("<pre>\n a  <b>b\nc</b>\r\n\r\n d\re</pre>f\ng"), ["a b", "c", "d", "e", "f g"]);
    assert_eq!(lines("<textarea>1 &amp;\n<p>2</textarea>x\ny"), ["1 &", "<p>2", "x y"]);
    assert_eq!(
        lines("a<xmp>&amp;\n<p></xmp>b<plaintext>c\n</plaintext>\n&lt;"),
        ["a", "&amp;", "<p>", "b", "c", "</plaintext>", "&lt;"]
    );
}

#[test]
fn what_is_not_shown_is_no_text() {
    for hidden in [
        "<script>no < no</script>",
        "<style>no</style>",
        "<title>no</title>",
        "<template>no<p>no</template>",
        "<noscript>no<img></noscript>",
        "<iframe>no</iframe>",
        "<noframes>no</noframes>",
        "<object>no<object>no</object>no</object>",
        "<video>no</video>",
        "<canvas><pre>no</canvas>",
        "<datalist><option>no</datalist>",
        "<!-- no -->",
        "<![CDATA[no]]>",
        "<?no?>",
        "<svg><title>no</title><style>no</style><text>no</text><![CDATA[no]]></svg>",
        "<math><mi>no</mi><mtext>no</math>",
        "<input value=no placeholder=no>",
    ] {
        assert_eq!(text(&format!("<p>a\nb</p>{hidden}c\nd")).as_str(), "a b\nc d", "{hidden}");
    }
}

#[test]
fn pictures_hold_text_where_they_hold_pages() {
    assert_eq!(lines("a <svg><text>no</text></svg> b"), ["a b"]);
    assert_eq!(lines("<svg><foreignObject><div>yes</div><svg>no</svg></foreignObject>no</svg>end"), ["yes", "end"]);
    assert_eq!(lines("<svg><title>no<p>no</svg><p>yes"), ["yes"]);
    assert_eq!(lines("<svg><path><p>yes"), ["yes"]);
}

#[test]
fn what_is_never_closed_swallows_nothing() {
    for name in ["noscript", "template", "object", "audio", "video", "canvas", "datalist"] {
        assert_eq!(lines(&format!("a<{name}>b<p>c")), ["a", "b", "c"], "{name}");
        assert_eq!(lines(&format!("a<{name}>no</{name}>b</{name}>c<p>d")), ["a", "bc", "d"], "{name}");
    }
}

#[test]
fn a_page_may_be_anything() {
    assert_eq!(lines(""), [""; 0]);
    assert_eq!(lines(" \r\n "), [""; 0]);
    assert_eq!(lines("just words"), ["just words"]);
    assert_eq!(lines("1 < 2 & 3 <"), ["1 < 2 & 3 <"]);
    assert_eq!(lines("a<p b"), ["a"]);
    let broken = read(b"<p>gr\xfcn \xe2\x82<b>x</b>\xf0\x9f", &Arc::default());
    assert_eq!(broken.text.unwrap().text.as_str(), "gr\u{fffd}n \u{fffd}x\u{fffd}");
}

#[test]
fn other_charsets_are_decoded() {
    let url = WebUrl::parse("http://h/").unwrap();
    let reading = Reading::links(LinkLimits::NONE, ReferenceSeed::random()).with_text(Arc::default());
    let page = scan(b"<meta charset=iso-8859-1><p>gr\xfcn", None, &url, &reading);
    assert_eq!(page.text.unwrap().text.as_str(), "gr\u{fc}n");
    assert_eq!(
        plain_text(b"gr\xfcn\r\n\n  x", Some("Text/Plain; charset=latin1"), &url).unwrap().text.as_str(),
        "gr\u{fc}n\nx"
    );
    for other in [None, Some("text/html"), Some("application/json"), Some("text/plainer")] {
        assert!(plain_text(b"x", other, &url).is_none());
    }
}

#[test]
fn text_is_read_only_if_it_is_wanted() {
    let url = WebUrl::parse("http://h/").unwrap();
    let reading = Reading::links(LinkLimits::NONE, ReferenceSeed::random());
    assert_eq!(scan(b"<p>x", None, &url, &reading).text, None);
}

#[test]
fn large_pages_have_bounded_texts() {
    let links = "<a>".repeat(5 * 1024 * 1024 / 3);
    assert!(text(&links).is_empty());
    let words = text(&"word <a>".repeat(1_000_000));
    assert!(words.was_cut() && words.as_str().len() <= MOST_BYTES);
    assert_eq!(lines(&format!("{}deep", "<div>".repeat(100_000))), ["deep"]);
    assert_eq!(text(&"<object>x".repeat(100_000)).lines().count(), 1 + 99_999 / LONGEST_LINE);
}

/// Markup that goes wrong wherever it can.
fn soup() -> impl Strategy<Value = String> {
    let tags = "p div b i a table tr td ul li pre textarea script style title template noscript object svg math mi \
        foreignObject select option br h1 body html head form button plaintext frameset caption font nobr";
    let mut pieces: Vec<_> = tags
        .split_whitespace()
        .flat_map(|tag| [format!("<{tag}>"), format!("</{tag}>"), format!("<{tag}/ x='1'>")])
        .collect();
    pieces.extend(
        ["x", " ", "\n", "\r", "\0", "\u{a0}", "&amp;", "<!--", "-->", "<![CDATA[", "]]>", "<", "\u{fc}"]
            .map(str::to_owned),
    );
    prop::collection::vec(prop::sample::select(pieces), 0..60).prop_map(|pieces| pieces.concat())
}

#[test]
fn images_say_what_they_are_asked_for() {
    let html = "<p>See <img alt='the &amp; map' src='/m.png?v=1#x'> here<p><IMG SRC=' data:image/png;base64,AA'><noscript><img alt=no></noscript>\
                <p><img src=' a.gif ' alt=''>";
    let text = |images: ImageText, selectors: &[&str]| {
        let omitted = Omitted::parse(selectors).unwrap().with_images(images);
        read(html.as_bytes(), &Arc::new(omitted)).text.expect("it was asked for")
    };
    let said = |images, selectors: &[&str]| text(images, selectors).text.as_str().replace('\n', "|");
    assert_eq!(said(ImageText::Nothing, &[]), "See here");
    assert_eq!(said(ImageText::Alt, &[]), "See the & map here");
    let all = "See ![the & map](/m.png) here|![](data:)|![](a.gif)";
    assert_eq!((said(ImageText::Source, &[]), said(ImageText::Source, &[".absent"])), (all.to_owned(), all.to_owned()));
    let rules = [ImageText::Nothing, ImageText::Alt, ImageText::Source].map(|images| text(images, &[]).rule);
    assert!(rules[0] != rules[1] && rules[1] != rules[2] && rules[0] != rules[2], "they are not compared");
    // Links and requisites are found as before.
    let page = "<a href=a><img src=b alt=c></a><iframe src=d></iframe>";
    let links = |images| {
        let omitted = Omitted::default().with_images(images);
        let with = read(page.as_bytes(), &Arc::new(omitted)).resolved();
        with.links.iter().map(|link| link.url.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(links(ImageText::Source), links(ImageText::Nothing));
}

fn has_the_form(text: &Text) -> bool {
    let line =
        |line: &str| !line.is_empty() && !line.contains("  ") && line.trim() == line && line.len() <= LONGEST_LINE;
    text.lines().all(line) && !text.as_str().contains(['\r', '\0'])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn any_bytes_have_a_text(body in prop::collection::vec(any::<u8>(), 0..400), html in soup()) {
        let omitted = Arc::new(Omitted::parse(&["b", "td + td", "div > p"]).unwrap());
        for body in [&body, html.as_bytes()] {
            for omitted in [&Arc::default(), &omitted] {
                prop_assert!(has_the_form(&read(body, omitted).text.unwrap().text));
            }
        }
    }

    #[test]
    fn links_and_title_are_the_same_with_text(html in soup()) {
        let url = WebUrl::parse("http://h/dir/page.html").unwrap();
        let without = links(html.as_bytes(), Some("text/html; charset=utf-8"), &url);
        // What is no markup is not counted alike: a start tag that nothing ends, an element that is none in a drawing.
        let mut with = read(html.as_bytes(), &Arc::default()).resolved();
        with.head.words = without.head.words;
        prop_assert_eq!(with, without);
    }
}
