//! [`parse`]: from the tokens of a page to its [`Tree`], in linear time.
//!
//! It closes what HTML lets be left open, and forgives what is where it may not. It is no full HTML parser: what is misplaced in a table
//! stays there. Elements deeper than [`DEEPEST`] are left out, and their texts are taken for those of the element they stand in.

use super::{
    tags::Tag,
    tokens::{HtmlTokens, StartTag, Token},
    tree::{Id, Node, Tree},
};

/// How deep elements are nested at most.
const DEEPEST: usize = 200;

/// The most nodes of a page: what follows them is left out.
const MOST_NODES: usize = 1_500_000;

/// So many blocks are opened anew after the end of an element that began before them.
const MOST_REOPENED: usize = 4;

/// The tree of a page.
pub(super) fn parse(html: &str) -> Tree {
    let mut builder = Builder::default();
    builder.open(StartTag { tag: Tag::Page, attributes: Vec::new(), is_closed: false });
    for token in HtmlTokens::of(html) {
        match token {
            Token::Start(start) => builder.start(start),
            Token::End(tag) => builder.end(tag),
            Token::Text(text) => builder.text(text),
        }
        if builder.nodes.len() >= MOST_NODES {
            break;
        }
    }
    builder.close_from(0);
    Tree { nodes: builder.nodes }
}

/// A tree that is being built.
#[derive(Debug, Default)]
struct Builder {
    nodes: Vec<Node>,
    /// The elements that are open, the outermost first.
    open: Vec<Id>,
    /// How many more are open, too deep to be kept.
    too_deep: usize,
    has_html: bool,
    has_body: bool,
}

impl Builder {
    fn tag(&self, depth: usize) -> Tag {
        self.nodes[self.open[depth]].tag
    }

    /// How deep the innermost open element is that is `wanted`, if none that ends the search is open inside it.
    fn find(&self, wanted: impl Fn(Tag) -> bool, ends: impl Fn(Tag) -> bool) -> Option<usize> {
        for depth in (0..self.open.len()).rev() {
            let tag = self.tag(depth);
            if wanted(tag) {
                return Some(depth);
            }
            if ends(tag) {
                return None;
            }
        }
        None
    }

    fn push(&mut self, start: StartTag, text: String) -> Id {
        let id = self.nodes.len();
        let parent = self.open.last().copied().unwrap_or(0);
        self.nodes.push(Node { tag: start.tag, attributes: start.attributes, text, parent, end: id + 1 });
        id
    }

    fn open(&mut self, start: StartTag) {
        let id = self.push(start, String::new());
        self.open.push(id);
    }

    fn close_from(&mut self, depth: usize) {
        let end = self.nodes.len();
        for id in self.open.drain(depth..) {
            self.nodes[id].end = end;
        }
    }

    fn close(&mut self, wanted: impl Fn(Tag) -> bool, ends: impl Fn(Tag) -> bool) {
        if let Some(depth) = self.find(wanted, ends) {
            self.close_from(depth);
        }
    }

    fn start(&mut self, start: StartTag) {
        let tag = start.tag;
        if matches!(tag, Tag::Html | Tag::Body) && std::mem::replace(self.has(tag), true) {
            return;
        }
        if !tag.is_metadata() {
            self.close(|open| open == Tag::Head, |open| open == Tag::Template);
        }
        if self.too_deep == 0 {
            self.close_implied(tag);
        }
        let is_empty = tag.is_void() || (start.is_closed && self.is_foreign(tag));
        if tag.is_in_table() && self.find(|open| open == Tag::Table, |_| false).is_none() {
            return;
        }
        if self.open.len() >= DEEPEST {
            self.too_deep += usize::from(!is_empty);
        } else if is_empty {
            self.push(start, String::new());
        } else {
            self.open(start);
        }
    }

    /// Whether the page has begun with this element: a second one is none.
    fn has(&mut self, tag: Tag) -> &mut bool {
        if tag == Tag::Html { &mut self.has_html } else { &mut self.has_body }
    }

    fn is_foreign(&self, tag: Tag) -> bool {
        matches!(tag, Tag::Svg | Tag::Math)
            || self.find(|open| matches!(open, Tag::Svg | Tag::Math), Tag::is_block).is_some()
    }

    /// Closes what ends where `tag` starts.
    fn close_implied(&mut self, tag: Tag) {
        if tag.ends_paragraph() {
            self.close(|open| open == Tag::P, |open| open.is_barrier() || open == Tag::Button);
        }
        match tag {
            Tag::Li => self.close(|open| open == Tag::Li, ends_item),
            Tag::Dd | Tag::Dt => {
                self.close(|open| matches!(open, Tag::Dd | Tag::Dt), |open| ends_item(open) || open == Tag::Dl);
            }
            Tag::Td | Tag::Th => self.close(
                |open| matches!(open, Tag::Td | Tag::Th | Tag::Caption),
                |open| matches!(open, Tag::Table | Tag::Tr),
            ),
            Tag::Tr => self
                .close(|open| matches!(open, Tag::Tr | Tag::Caption), |open| open == Tag::Table || open.is_row_group()),
            Tag::Tbody | Tag::Thead | Tag::Tfoot => {
                self.close(|open| open.is_row_group() || open == Tag::Caption, |open| open == Tag::Table);
            }
            Tag::A if self.find(|open| open == Tag::A, Tag::is_barrier).is_some() => self.end(Tag::A),
            Tag::Option => self.close(|open| open == Tag::Option, |open| open == Tag::Select),
            Tag::Body => self.close(|open| open == Tag::Head, |_| false),
            _ if tag.heading().is_some() && self.tag(self.open.len() - 1).heading().is_some() => {
                self.close_from(self.open.len() - 1);
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: Tag) {
        if self.too_deep > 0 && !tag.is_void() {
            self.too_deep -= 1;
            return;
        }
        if matches!(tag, Tag::Html | Tag::Body) {
            return;
        }
        if tag == Tag::Br {
            self.push(StartTag { tag, attributes: Vec::new(), is_closed: true }, String::new());
            return;
        }
        let Some(depth) = self.find(|open| is_ended_by(open, tag), |open| holds(open, tag)) else { return };
        let inner: Vec<Id> =
            self.open[depth + 1..].iter().copied().filter(|id| self.nodes[*id].tag.is_block()).collect();
        self.close_from(depth);
        if tag.is_formatting() && inner.len() <= MOST_REOPENED {
            for id in inner {
                let again = StartTag {
                    tag: self.nodes[id].tag,
                    attributes: self.nodes[id].attributes.clone(),
                    is_closed: false,
                };
                self.open(again);
            }
        }
    }

    fn text(&mut self, text: String) {
        if text.bytes().any(|byte| !byte.is_ascii_whitespace()) {
            let last = self.open.len() - 1;
            if self.tag(last) == Tag::Head {
                self.close_from(last);
            }
        }
        self.push(StartTag { tag: Tag::Text, attributes: Vec::new(), is_closed: true }, text);
    }
}

/// Whether an item of a list does not reach out of this element.
fn ends_item(open: Tag) -> bool {
    open.is_barrier()
        || matches!(open, Tag::Ul | Tag::Ol | Tag::Menu | Tag::Section | Tag::Article | Tag::Main | Tag::Blockquote)
}

/// Whether the end tag `end` ends an open element.
fn is_ended_by(open: Tag, end: Tag) -> bool {
    open == end || (open.heading().is_some() && end.heading().is_some())
}

/// Whether the end tag `end` inside this open element does not reach out of it.
fn holds(open: Tag, end: Tag) -> bool {
    match end {
        Tag::Table => open == Tag::Body,
        Tag::Tr | Tag::Tbody | Tag::Thead | Tag::Tfoot | Tag::Td | Tag::Th => open == Tag::Table,
        Tag::Li => matches!(open, Tag::Ul | Tag::Ol) || open.is_barrier(),
        _ => open.is_barrier(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree with each element in brackets.
    fn shape(html: &str) -> String {
        let tree = parse(html);
        let mut out = String::new();
        let mut ends = Vec::new();
        for (id, node) in tree.nodes.iter().enumerate().skip(1) {
            while ends.last().is_some_and(|end| *end <= id) {
                ends.pop();
                out.push(')');
            }
            if node.tag == Tag::Text {
                out.push_str(node.text.trim());
            } else {
                out.push_str(&format!("{:?}(", node.tag).to_lowercase());
                ends.push(node.end);
            }
        }
        out + &")".repeat(ends.len())
    }

    #[test]
    fn what_is_left_open_is_closed() {
        assert_eq!(shape("<p>a<p>b<div>c</div>d"), "p(a)p(b)div(c)d");
        assert_eq!(shape("<ul><li>a<ul><li>b</ul><li>c</ul>d"), "ul(li(aul(li(b)))li(c))d");
        assert_eq!(shape("<table><tr><td>a<td>b<tr><th>c</table>d"), "table(tr(td(a)td(b))tr(th(c)))d");
        assert_eq!(shape("<dl><dt>a<dd>b<dt>c</dl>"), "dl(dt(a)dd(b)dt(c))");
        assert_eq!(shape("<head><meta><p>a"), "head(meta())p(a)");
        assert_eq!(shape("<a>x<a>y</a>z"), "a(x)a(y)z");
    }

    #[test]
    fn an_element_that_ends_too_early_does_not_end_the_blocks_in_it() {
        assert_eq!(shape("<b><p>x</b>y</p>z"), "b(p(x))p(y)z");
        assert_eq!(shape("<table><td></table>x<td>y"), "table(td())xy");
        assert_eq!(shape("</p>a</div>b</li>"), "ab");
    }

    #[test]
    fn deep_elements_are_flattened() {
        let tree = parse(&("<div>".repeat(10_000) + "x" + &"</div>".repeat(10_000) + "<p>y"));
        assert_eq!(tree.nodes.len(), DEEPEST + 3);
        assert_eq!(tree.ancestors(DEEPEST + 1).count(), 1);
    }
}
