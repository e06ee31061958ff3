//! The tree of a page, within limits: what a hostile page may cost.
//!
//! html5ever walks the open elements at many tags, opens formatting elements anew in each block, and compares each
//! attribute of a tag with those before: a page of a megabyte can make it work for hours, and fill all memory. So the
//! page is handed over in small pieces, and given up when the tree has grown too deep or too large, or one tag seems to
//! have no end of attributes. Then each piece costs a bounded time, and the page a linear one.

use ego_tree::NodeRef;
use html5ever::{
    ParseOpts, driver,
    tendril::{StrTendril, TendrilSink},
    tree_builder::TreeBuilderOpts,
};
use scraper::{Html, HtmlTreeSink, Node};

/// The deepest tree, in nodes. Browsers do not nest deeper either.
const DEEPEST: usize = 512;

/// The most nodes: some 50 MB.
const MOST_NODES: usize = 300_000;

/// The most spaces, slashes and quotes that are handed over without anything new in the tree: they may stand between
/// the attributes of one tag. Few comments are so long, few attributes hold so much.
const MOST_SEPARATORS: usize = 20_000;

/// So many bytes are handed over before the tree is looked at.
const PIECE: usize = 256;

/// The longest text or attribute that is written at once: html5ever looks through all that is left of it at each character that it
/// escapes.
const LONGEST: usize = 4096;

/// The tree of a page; none if it goes beyond these limits.
pub(super) fn parse(html: &str) -> Option<Html> {
    parse_with(html, ParseOpts::default())
}

/// The same as a browser has it that runs no scripts.
pub(super) fn parse_without_scripts(html: &str) -> Option<Html> {
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    parse_with(html, ParseOpts { tree_builder, ..ParseOpts::default() })
}

fn parse_with(html: &str, options: ParseOpts) -> Option<Html> {
    let mut parser = driver::parse_document(HtmlTreeSink::new(Html::new_document()), options);
    let mut rest = html;
    let mut growth = Growth::default();
    while !rest.is_empty() {
        let (piece, later) = rest.split_at(rest.floor_char_boundary(PIECE));
        parser.process(StrTendril::from(piece));
        growth = growth.after(piece, &parser.tokenizer.sink.sink.0.borrow())?;
        rest = later;
    }
    let page = parser.finish();
    growth.after("", &page)?;
    Some(page)
}

/// A page again, in linear time: long texts are written in pieces, and long attributes are left out, for they are no text.
pub(super) fn html(mut page: Html) -> String {
    split_long(&mut page);
    page.html()
}

/// Has texts and attributes be so short that any part of the page is written in linear time.
pub(super) fn split_long(page: &mut Html) {
    let text = |node: NodeRef<'_, Node>| {
        Some((node.id(), node.value().as_text().filter(|text| text.len() > LONGEST)?.text.clone()))
    };
    let long: Vec<_> = page.tree.nodes().filter_map(text).collect();
    for (id, text) in long {
        let Some(mut node) = page.tree.get_mut(id) else { continue };
        let mut rest = &*text;
        while !rest.is_empty() {
            let (piece, later) = rest.split_at(rest.floor_char_boundary(LONGEST));
            node.insert_before(Node::Text(scraper::node::Text { text: piece.into() }));
            rest = later;
        }
        node.detach();
    }
    for element in page.tree.values_mut() {
        if let Node::Element(element) = element {
            element.attrs.retain(|(_, value)| value.len() <= LONGEST);
        }
    }
}

/// How far a tree has grown.
#[derive(Debug, Default)]
struct Growth {
    nodes: usize,
    /// Length of the text that is the newest node.
    text: usize,
    /// How many were handed over since the tree grew.
    separators: usize,
}

impl Growth {
    /// After this piece; none if a limit is passed.
    fn after(self, piece: &str, page: &Html) -> Option<Self> {
        let nodes = page.tree.values().len();
        let newest = page.tree.values().next_back();
        let text = newest.and_then(Node::as_text).map_or(0, |text| text.len());
        let since = if (nodes, text) == (self.nodes, self.text) { self.separators } else { 0 };
        let separators = since + piece.bytes().filter(|byte| b" \t\n\x0c\r/\"'".contains(byte)).count();
        let mut new = page.tree.nodes().rev().take(nodes - self.nodes);
        let fits = nodes <= MOST_NODES && separators <= MOST_SEPARATORS && new.all(|node| is_shallow(&node));
        fits.then_some(Self { nodes, text, separators })
    }
}

fn is_shallow(node: &NodeRef<'_, Node>) -> bool {
    node.ancestors().take(DEEPEST).count() < DEEPEST
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(most: usize, before: &str, after: &str) -> String {
        (0..most).fold(String::new(), |text, number| text + before + &number.to_string() + after)
    }

    #[test]
    fn an_ordinary_page_has_a_tree() {
        let items = numbered(5_000, "<li><a href=x title='\u{fc}'>", "</a>");
        let page = parse(&format!("<ul>{items}</ul><p>end")).unwrap();
        assert!(page.html().ends_with(">4999</a></li></ul><p>end</p></body></html>"));
        assert!(parse(&format!("<p>{}", numbered(300, "<b x=", ">"))).is_some());
    }

    #[test]
    fn a_long_text_is_written_in_pieces() {
        let long = "x &<\u{e9}\u{a0}".repeat(3_000);
        let mut page = parse("<p title=short>1<b>2</b>3").unwrap();
        let text = |node: &Node| node.as_text().is_some_and(|text| &**text == "1");
        let first = page.tree.nodes().find(|node| text(node.value())).unwrap().id();
        let longer = scraper::node::Text { text: long.as_str().into() };
        *page.tree.get_mut(first).unwrap().value() = Node::Text(longer);
        let whole = page.html();
        assert_eq!(html(page), whole);
        let long = format!("<p title='{long}' id=x>1");
        assert!(html(parse(&long).unwrap()).ends_with("<body><p id=\"x\">1</p></body></html>"));
    }

    #[test]
    fn what_would_take_hours_is_given_up() {
        for html in [
            "<div>".repeat(100_000),
            "<b>".repeat(100_000),
            numbered(30_000, "<b x=", ">") + &"<p>".repeat(100_000),
            "<p>".to_owned() + &numbered(300, "<b x=", ">") + &"<p>x</p>".repeat(100_000),
            "<table><tr><td>".repeat(50_000),
            "</body><!----><div>".repeat(50_000),
            "<p>".repeat(400_000),
            "<svg><desc>".repeat(50_000),
            "<template>".repeat(50_000),
            "<p".to_owned() + &numbered(200_000, " a", ""),
            "<p".to_owned() + &numbered(200_000, "/a", ""),
            "<p".to_owned() + &numbered(200_000, "\na", "=''"),
        ] {
            assert!(parse(&html).is_none(), "{}", &html[..40]);
        }
    }
}
