//! [`MainContent`]: what a page shows when its chrome is left out.

use url::Url;

use super::{
    block::{ContentBlock, Heading},
    boilerplate,
    chunks::{self, Chunk},
    density::Sums,
    flow, main_part, meta,
    parse::parse,
    repeated::{self, Repeated},
    tags::Tag,
    text,
    tree::Id,
    view::View,
    write::MarkdownWriter,
};

/// What a page shows when its chrome is left out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MainContent {
    /// Its title.
    pub title: Option<String>,
    /// What it says about itself.
    pub description: Option<String>,
    /// Its language, as the page names it.
    pub language: Option<String>,
    /// Where the site has it as Markdown.
    pub own_markdown: Option<Url>,
    /// Its content.
    pub blocks: Vec<ContentBlock>,
}

impl MainContent {
    /// Reads a page. Blocks that are known to recur over the section are left out, unless nothing would be left.
    pub fn read(html: &str, url: &Url, repeated: &Repeated) -> Self {
        let tree = parse(html);
        let mut view = View::new(&tree, url);
        boilerplate::omit_unseen(&mut view);
        let all = Sums::of(&view);
        boilerplate::omit_hidden(&mut view, &all);
        omit_repeated(&mut view, &all, repeated);
        let root = main_part::choose(&mut view);
        let mut blocks = flow::read(&view, root);
        blocks.splice(0..0, title_before(&view, root));
        Self {
            title: meta::title(&tree),
            description: meta::description(&tree),
            language: meta::language(&tree),
            own_markdown: meta::own_markdown(&tree, &view),
            blocks,
        }
    }

    /// Reads a page of which everything is content.
    pub fn read_whole(html: &str, url: &Url) -> Self {
        let tree = parse(html);
        let mut view = View::new(&tree, url);
        boilerplate::omit_unseen(&mut view);
        Self { title: meta::heading(&tree), blocks: flow::read(&view, 0), ..Self::default() }
    }

    /// The content as Markdown. `link` gives what is there for the URL of a link or image: the URL itself, or the path of a file.
    pub fn markdown(&self, link: &dyn Fn(&Url) -> String) -> String {
        let mut markdown = MarkdownWriter { link }.blocks(&self.blocks);
        if !markdown.is_empty() {
            markdown.push('\n');
        }
        markdown
    }

    /// The content as plain text, with an empty line between blocks.
    pub fn text(&self) -> String {
        text::text(&self.blocks)
    }

    /// The content in parts of about so many tokens, each under its headings, with absolute links.
    pub fn chunks(&self, tokens: usize) -> Vec<Chunk> {
        let link = |url: &Url| url.as_str().to_owned();
        let writer = MarkdownWriter { link: &link };
        chunks::chunks(&self.blocks, tokens, &|blocks| writer.blocks(blocks))
    }
}

/// The keys of the blocks of a page, each once, to learn which recur: a caller counts in how many pages of a section each occurs.
pub fn block_keys(html: &str) -> Vec<u64> {
    let tree = parse(html);
    let nowhere = Url::parse("http://localhost/").expect("this is a URL");
    let mut view = View::new(&tree, &nowhere);
    boilerplate::omit_unseen(&mut view);
    let mut keys: Vec<u64> = repeated::keyed(&view).into_iter().map(|block| block.key).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Leaves out what recurs, unless that is nearly all.
fn omit_repeated(view: &mut View<'_>, sums: &Sums, repeated: &Repeated) {
    let found = repeated.find(view);
    let length: usize = found.iter().map(|id| sums.length[*id]).sum();
    let headings = view.tree.all(0, |tag| tag.heading().is_some()).map(|id| sums.length[id]).sum();
    if length * 20 < sums.length[0].saturating_sub(headings) * 19 {
        for id in found {
            view.omitted[id] = true;
        }
    }
}

/// The title of the page, where it is before the part with the content.
fn title_before(view: &View<'_>, root: Id) -> Option<ContentBlock> {
    let is_title = |id: &Id| view.tree.tag(*id) == Tag::H1;
    if view.seen(root).any(|id| is_title(&id)) {
        return None;
    }
    let before = view.seen(0).take_while(|id| *id < root).filter(is_title).last()?;
    let blocks = flow::read(view, before);
    blocks.into_iter().find(|block| matches!(block, ContentBlock::Heading(Heading { .. })))
}
