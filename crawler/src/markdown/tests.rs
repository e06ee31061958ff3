//! The module as a whole: from pages to Markdown, text and chunks.

use std::time::{Duration, Instant};

use url::Url;

use super::*;

fn read(html: &str) -> MainContent {
    MainContent::read(html, &Url::parse("https://h.example/a/b").unwrap(), &Repeated::default())
}

fn markdown(html: &str) -> String {
    read(html).markdown(&|url| url.as_str().to_owned()).trim_end().to_owned()
}

#[test]
fn blocks_are_written() {
    for (html, wanted) in [
        ("<h2 id=x>A <em>b</em></h2><p>c<br>d", "## A *b*\n\nc\\\nd"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "- a\n  - b\n- c"),
        ("<ol start=3><li>a<li><p>b<p>c</ol>", "3. a\n\n4. b\n\n   c"),
        ("<ul><li>a</ul><ul><li>b</ul>", "- a\n\n* b"),
        ("<blockquote><p>a<p>b</blockquote><hr><p>c", "> a\n>\n> b\n\n___\n\nc"),
        ("<pre><code class=language-rust>fn a() {\n    `x`\n}\n</code></pre>", "```rust\nfn a() {\n    `x`\n}\n```"),
        ("<pre>```\na</pre>", "````\n```\na\n````"),
        ("<p><code>a b <a href=/x>c</a></code> d", "`a b` [`c`](https://h.example/x) d"),
        ("<dl><dt>a<dd>b</dl>", "**a**\n\nb"),
        ("<p>a<b>b </b><b>c</b><code>d`e</code>", "a**b c**``d`e``"),
        ("<img alt='a]' data-src=/i.png src=data:x><p>b", "![a\\]](https://h.example/i.png)\n\nb"),
        ("<a href=/x><h3>a</h3><p>b</p></a>", "### [a](https://h.example/x)\n\n[b](https://h.example/x)"),
        ("<ul><li><h3>a</h3><p>b</ul>", "### a\n\nb"),
    ] {
        assert_eq!(markdown(html), wanted, "{html}");
    }
}

#[test]
fn tables_are_written_unless_they_are_layout() {
    let table =
        "<table><thead><tr><th>a<th>b|c</thead><tr><td colspan=2><p>d</p><tr><td>e<br>f<td><code>g|h</code></table>";
    assert_eq!(markdown(table), "| a | b\\|c |\n| --- | --- |\n| d | |\n| e f | `g\\|h` |");
    let headless = "<table><tr><td rowspan=2>a<td>b<tr><td>c</table>";
    assert_eq!(markdown(headless), "| | |\n| --- | --- |\n| a | b |\n| | c |");
    let note = "<table><tr><td rowspan=2><img src=/i alt=Note><th>Note<tr><td><p>a<p>b</table>";
    assert_eq!(markdown(note), "![Note](https://h.example/i)\n\nNote\n\na\n\nb");
    assert_eq!(markdown("<table><tr><td>a<td><pre>b</pre></table>"), "a\n\n```\nb\n```");
    assert_eq!(markdown("<table><tr><td><h2>a</h2><tr><td>b</table>"), "## a\n\nb");
    let wide = format!("<table><tr>{}</tr>{}</table>", "<td>x".repeat(2000), "<tr><td>y".repeat(2000));
    assert_eq!(read(&wide).blocks.iter().filter(|block| matches!(block, ContentBlock::Table(_))).count(), 0);
}

#[test]
fn chrome_is_left_out_and_headings_are_kept() {
    let page = "<title>T</title><html lang=en><meta name=description content='a  b'><header><nav><a href=/>Home</a></nav></header>
        <div class=sidebar><h4>More</h4><a href=/x>x</a></div><main><h1>Title</h1><div class=toc><a href=#p>Part</a></div>
        <p>Long text of the content.<h2 id=p>Part<a class=headerlink href=#p>\u{b6}</a></h2><section id=related-work><h2>Related work</h2>
        <p>More of it.</section><div class=share-buttons>Share</div><p hidden>not shown<p style='display: none'>nor this</main><footer>Imprint</footer>";
    let document = read(page);
    assert_eq!(document.text(), "Title\n\nLong text of the content.\n\nPart\n\nRelated work\n\nMore of it.");
    let said = [document.title, document.description, document.language].map(Option::unwrap);
    assert_eq!(said, ["T", "a b", "en"]);
    assert_eq!(document.blocks.iter().filter(|block| matches!(block, ContentBlock::Heading(_))).count(), 3);
}

#[test]
fn what_recurs_is_left_out() {
    let page = |text: &str| format!("<p>Imprint of the site<p>All rights are reserved<h2>About the site</h2><p>{text}");
    let mut counts = std::collections::BTreeMap::<u64, usize>::new();
    for text in ["One of the pages", "Another of the pages"] {
        for key in block_keys(&page(text)) {
            *counts.entry(key).or_default() += 1;
        }
    }
    assert_eq!(counts.len(), 4);
    let repeated = Repeated::from_counts(counts, 2);
    let url = Url::parse("https://h.example/").unwrap();
    let rest = MainContent::read(&page("A third one, which is new"), &url, &repeated);
    assert_eq!(rest.text(), "About the site\n\nA third one, which is new");
    let all = MainContent::read(&page(""), &url, &repeated);
    assert_eq!(all.text(), "Imprint of the site\n\nAll rights are reserved\n\nAbout the site");
}

#[test]
fn links_are_safe() {
    for (html, wanted) in [
        ("<a href='javascript:alert(1)'>a</a>", "a"),
        ("<a href=' JaVaScRiPt:x'>a</a>", "a"),
        ("<a href='java\nscript:x'>a</a>", "a"),
        ("<a href='data:text/html,x'>a</a> <a href=vbscript:x>b</a>", "a b"),
        ("<a href=mailto:a@b.c>a</a>", "[a](mailto:a@b.c)"),
        ("<a href='#f'>a</a>", "[a](https://h.example/a/b#f)"),
        ("<a href='/x y)(<z>'>a](b</a>", "[a\\](b](https://h.example/x%20y%29%28%3Cz%3E)"),
        ("<img src=javascript:x alt=a>b", "b"),
        ("<base href=//other/d/><a href=e>a</a>", "[a](https://other/d/e)"),
        ("<base href=javascript:x><a href=e>a</a>", "[a](https://h.example/a/e)"),
    ] {
        assert_eq!(markdown(html), wanted, "{html}");
    }
}

#[test]
fn text_is_no_markup() {
    for (html, wanted) in [
        ("&lt;script>x&lt;/script> &amp;lt; a &amp; b", "\\<script>x\\</script> \\&lt; a & b"),
        ("# a", "\\# a"),
        ("a<br>---<br>===<br>- b<br>&gt; c<br>1. d", "a\\\n\\---\\\n\\===\\\n\\- b\\\n\\> c\\\n1\\. d"),
        ("<p>&nbsp;&nbsp;&nbsp;&nbsp;a\u{1}\u{200b}b", "ab"),
        (
            "*a* _b_ c_d `e` [f](g) !<a href=/x>h</a>",
            "\\*a\\* \\_b\\_ c_d \\`e\\` \\[f\\](g) \\![h](https://h.example/x)",
        ),
        ("<h2>C#</h2>", "## C\\#"),
    ] {
        assert_eq!(markdown(html), wanted, "{html}");
    }
}

#[test]
fn chunks_are_divided_at_headings() {
    let long = "Some words of a sentence. ".repeat(40);
    let page =
        format!("<h1 id=t>T</h1><p>{long}<h2 id=a>A</h2><p>short<h2>B</h2><pre>{}</pre>", "line of code\n".repeat(100));
    let document = read(&page);
    let chunks = document.chunks(120);
    assert!(chunks.iter().all(|chunk| chunk.tokens <= 130 && !chunk.text.is_empty()), "{chunks:#?}");
    let under: Vec<String> = chunks.iter().map(|chunk| chunk.headings.join("/")).collect();
    assert!(under.contains(&"T/A".to_owned()) && under.contains(&"T/B".to_owned()) && under[0] == "T", "{under:?}");
    assert_eq!(chunks[0].anchor.as_deref(), Some("t"));
    let code: Vec<_> = chunks.iter().filter(|chunk| chunk.headings.last().is_some_and(|last| last == "B")).collect();
    assert!(code.len() > 2 && code[1].text.starts_with("```\nline"), "{code:#?}");
    assert_eq!(chunks.iter().map(|chunk| chunk.text.matches("line of code").count()).sum::<usize>(), 100);
    let endless = "w".repeat(100_000);
    let chunks = read(&format!("<h1 id={endless}>{endless}</h1><p>{long}")).chunks(120);
    assert!(
        chunks.iter().all(|chunk| chunk.headings.concat().len() <= 300 && chunk.anchor.is_none()),
        "a heading is repeated"
    );
    assert_eq!(chunks.iter().map(|chunk| chunk.text.matches('w').count()).sum::<usize>(), 100_000 + 40);
}

#[test]
fn hostile_pages_take_little_time() {
    let million = 1_000_000;
    let attributes = (0..300_000).fold(String::new(), |text, number| text + " a" + &number.to_string() + "=x");
    for html in [
        "<div>".repeat(million),
        "<b><p>".repeat(million / 2),
        "<b>".repeat(million),
        "<a><div></a>".repeat(million / 4),
        "<ul><li>x".repeat(million / 2),
        "<blockquote>x".repeat(million / 4),
        "<table><tr><td>x".repeat(million / 4),
        "<table>".to_owned() + &"<tr><td colspan=1000 rowspan=1000>x".repeat(million / 8),
        "<div class=nav>".repeat(150) + &"x<p>".repeat(million / 2) + "<h1>y",
        "<ul>".repeat(190) + &"<li>x".repeat(million / 4) + "<h1>y",
        "<body>".repeat(million / 2),
        "<svg>".repeat(million / 2) + &"<a/>".repeat(million / 2),
        format!("<p{attributes}>x"),
        "`".repeat(million) + &"*_[".repeat(million / 3),
        "<pre>".to_owned() + &"`\n".repeat(million),
        "<i>a</i><b>b</b>".repeat(million / 8),
        "<a href=x>y</a>".repeat(million / 8),
        "a<br>".repeat(million / 2),
        "<!--".repeat(million) + "<",
        "&".repeat(million),
        "<h1>x".repeat(million / 4),
    ] {
        let start = Instant::now();
        let document = read(&html);
        let (written, text) = (document.markdown(&|url| url.as_str().to_owned()), document.text());
        let chunks = document.chunks(400);
        let longest = html.len() * 20 + 1000;
        assert!(written.len() < longest && text.len() < longest && chunks.len() < longest, "{}", &html[..30]);
        assert!(start.elapsed() < Duration::from_secs(10), "{:?} {}", start.elapsed(), &html[..30]);
        if std::env::var_os("SHOW_TIMES").is_some() {
            println!(
                "{:>6} ms {:>9} B -> {:>9} B {}",
                start.elapsed().as_millis(),
                html.len(),
                written.len(),
                &html[..20]
            );
        }
    }
}

#[test]
fn any_page_gives_the_same_text_twice() {
    let page = "<main><p>a<a href=x>b</a><table><tr><th>c<tr><td>d</table><ul class=nav><li>e</ul></main>".repeat(20);
    assert_eq!(markdown(&page), markdown(&page));
    assert_eq!(block_keys(&page), block_keys(&page));
    assert_eq!(markdown(""), "");
}
