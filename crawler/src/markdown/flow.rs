//! [`read`]: from the nodes of a page to its [`ContentBlock`]s.

use url::Url;

use super::{
    block::{ContentBlock, Heading, Inline, List, plain},
    code, inline, table,
    tags::{Attr, Tag},
    tree::Id,
    view::View,
};

/// How deep lists and quotes are nested at most: what is deeper is in the innermost.
const DEEPEST: usize = 12;

/// What is in a node, as blocks.
pub(super) fn read(view: &View<'_>, root: Id) -> Vec<ContentBlock> {
    let mut flow = Flow { view, link: None, depth: 0, line: Vec::new(), blocks: Vec::new() };
    flow.put(root);
    flow.end_line();
    flow.blocks
}

/// What was read of a part of the page.
struct Flow<'v, 't> {
    view: &'v View<'t>,
    /// Where a link leads that blocks stand in.
    link: Option<Url>,
    depth: usize,
    /// The nodes of a line that has not ended.
    line: Vec<Id>,
    blocks: Vec<ContentBlock>,
}

impl Flow<'_, '_> {
    fn put(&mut self, id: Id) {
        if self.view.is_inline(id) {
            self.line.push(id);
            return;
        }
        self.end_line();
        let tag = self.view.tree.tag(id);
        match tag {
            _ if tag.heading().is_some() => self.heading(id),
            Tag::Pre | Tag::Listing | Tag::Xmp | Tag::Plaintext => self.code(id),
            Tag::Hr => self.blocks.push(ContentBlock::Rule),
            Tag::Table => self.table(id),
            Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir => self.list(id),
            Tag::Blockquote => self.quote(id),
            Tag::Dt => self.term(id),
            Tag::A => self.link(id),
            _ => self.all(id),
        }
        self.end_line();
    }

    fn all(&mut self, id: Id) {
        for child in self.view.children(id) {
            self.put(child);
        }
    }

    fn end_line(&mut self) {
        let ids = std::mem::take(&mut self.line);
        let content = inline::read(self.view, ids);
        for content in content.split(|inline| *inline == Inline::Break).fold(Vec::new(), paragraphs) {
            let content = self.linked(inline::trimmed(content));
            if inline::shows(&content) {
                self.blocks.push(ContentBlock::Paragraph(content));
            }
        }
    }

    fn linked(&self, content: Vec<Inline>) -> Vec<Inline> {
        match &self.link {
            Some(url) => inline::linked(content, url),
            None => content,
        }
    }

    fn heading(&mut self, id: Id) {
        let Some(level) = self.view.tree.tag(id).heading() else { return };
        let content = unlinked(inline::read_one(self.view, id), &self.view.base);
        let content = self.linked(inline::trimmed(content));
        if inline::shows(&content) {
            self.blocks.push(ContentBlock::Heading(Heading { level, anchor: anchor(self.view, id), content }));
        }
    }

    fn code(&mut self, id: Id) {
        self.blocks.extend(code::read(self.view, id).map(ContentBlock::Code));
    }

    fn table(&mut self, id: Id) {
        match table::read(self.view, id) {
            Some(table) => {
                let captions =
                    self.view.seen(id).filter(|id| self.view.tree.tag(*id) == Tag::Caption).take(1).collect::<Vec<_>>();
                for caption in captions {
                    self.all(caption);
                }
                self.end_line();
                self.blocks.push(ContentBlock::Table(table));
            }
            None => self.all(id),
        }
    }

    /// What `read` puts, apart from the blocks before.
    fn inner(&mut self, read: impl FnOnce(&mut Self)) -> Vec<ContentBlock> {
        let before = std::mem::take(&mut self.blocks);
        self.depth += 1;
        read(self);
        self.end_line();
        self.depth -= 1;
        std::mem::replace(&mut self.blocks, before)
    }

    /// A list; one whose items hold headings is there to lay out a part of the page.
    fn list(&mut self, id: Id) {
        if self.depth >= DEEPEST || self.view.uppermost[id] < 7 {
            return self.all(id);
        }
        let start = self.view.tree.attr(id, Attr::Start).and_then(|start| start.trim().parse().ok()).unwrap_or(1);
        let start = (self.view.tree.tag(id) == Tag::Ol).then_some(start);
        let mut items: Vec<Vec<ContentBlock>> = Vec::new();
        for child in self.view.children(id) {
            let blocks =
                self.inner(|flow| if flow.view.tree.tag(child) == Tag::Li { flow.all(child) } else { flow.put(child) });
            match items.last_mut() {
                Some(last) if self.view.tree.tag(child) != Tag::Li => last.extend(blocks),
                _ if blocks.is_empty() => {}
                _ => items.push(blocks),
            }
        }
        if !items.is_empty() {
            self.blocks.push(ContentBlock::List(List { start: start.map(|start: u32| start.min(99_999_999)), items }));
        }
    }

    fn quote(&mut self, id: Id) {
        if self.depth >= DEEPEST {
            return self.all(id);
        }
        let blocks = self.inner(|flow| flow.all(id));
        let is_heading = |block: &ContentBlock| matches!(block, ContentBlock::Heading(_));
        if blocks.iter().any(is_heading) {
            self.blocks.extend(blocks);
        } else if !blocks.is_empty() {
            self.blocks.push(ContentBlock::Quote(blocks));
        }
    }

    /// A term that is defined, in strong letters.
    fn term(&mut self, id: Id) {
        let blocks = self.inner(|flow| flow.all(id));
        for block in blocks {
            let is_text = |inline: &Inline| matches!(inline, Inline::Text(_));
            self.blocks.push(match block {
                ContentBlock::Paragraph(content) if content.iter().all(is_text) => {
                    ContentBlock::Paragraph(vec![Inline::Strong(content)])
                }
                other => other,
            });
        }
    }

    /// A link around blocks is one around the line of each.
    fn link(&mut self, id: Id) {
        let url = self.view.tree.attr(id, Attr::Href).and_then(|href| self.view.url(href));
        let before = std::mem::replace(&mut self.link, url);
        self.all(id);
        self.end_line();
        self.link = before;
    }
}

/// Two ends of a line in a row end a paragraph.
fn paragraphs(mut done: Vec<Vec<Inline>>, line: &[Inline]) -> Vec<Vec<Inline>> {
    let is_empty = !inline::shows(line);
    match done.last_mut() {
        Some(last) if !last.is_empty() && !is_empty => {
            last.push(Inline::Break);
            last.extend_from_slice(line);
        }
        Some(last) if !is_empty => last.extend_from_slice(line),
        Some(last) if last.is_empty() => {}
        _ => done.push(line.iter().filter(|_| !is_empty).cloned().collect()),
    }
    done
}

/// A heading without links to itself, and without the signs that are such links.
fn unlinked(content: Vec<Inline>, page: &Url) -> Vec<Inline> {
    let is_own = |url: &Url| url.fragment().is_some() && url.path() == page.path() && url.host() == page.host();
    let mut kept = Vec::new();
    for inline in content {
        match inline {
            Inline::Link { url, content } if is_own(&url) => {
                let text = plain(&content);
                if text.chars().any(char::is_alphanumeric) {
                    kept.extend(content);
                }
            }
            Inline::Text(text) => kept.push(Inline::Text(text.trim_end_matches(['\u{b6}', '\u{1f517}']).to_owned())),
            other => kept.push(other),
        }
    }
    kept
}

/// The fragment that leads to a heading: of the heading itself, something in it, or what it is the first in.
fn anchor(view: &View<'_>, heading: Id) -> Option<String> {
    let tree = view.tree;
    let named = |id: Id| {
        tree.attr(id, Attr::Id)
            .or_else(|| tree.attr(id, Attr::Name).filter(|_| tree.tag(id) == Tag::A))
            .filter(|name| !name.is_empty())
    };
    let inside = tree.subtree(heading).find_map(named);
    let around = || {
        let says_nothing_before = |id: &Id| (*id + 1..heading).all(|id| tree.nodes[id].text.trim().is_empty());
        let outer = tree.ancestors(heading).take(4).take_while(|id| heading - id < 12 && says_nothing_before(id));
        outer.take_while(|id| !matches!(tree.tag(*id), Tag::Main | Tag::Body)).find_map(named)
    };
    inside.or_else(around).map(str::to_owned)
}
