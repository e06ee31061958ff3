//! [`ContentBlock`] and [`Inline`]: what a page says, as a small tree.

use url::Url;

/// A part of a page that is on lines of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum ContentBlock {
    /// A heading.
    Heading(Heading),
    /// A paragraph; an image that is alone is one too.
    Paragraph(Vec<Inline>),
    /// A list.
    List(List),
    /// Code, or other text whose lines stand as they are.
    Code(Code),
    /// A table.
    Table(TableContent),
    /// What is quoted.
    Quote(Vec<ContentBlock>),
    /// A line between parts.
    Rule,
}

/// A heading.
#[derive(Debug, Clone, PartialEq)]
pub struct Heading {
    /// 1 for the uppermost, to 6.
    pub level: u8,
    /// The fragment that leads to it.
    pub anchor: Option<String>,
    /// What it says.
    pub content: Vec<Inline>,
}

/// A list.
#[derive(Debug, Clone, PartialEq)]
pub struct List {
    /// The number of its first item, if its items are numbered.
    pub start: Option<u32>,
    /// The blocks of each item.
    pub items: Vec<Vec<ContentBlock>>,
}

/// Code, or other text whose lines stand as they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Code {
    /// The language, where the page names it.
    pub language: Option<String>,
    /// The lines.
    pub text: String,
}

/// A table. All rows are as long as the header.
#[derive(Debug, Clone, PartialEq)]
pub struct TableContent {
    /// The header; its cells are empty where the table has none.
    pub header: Vec<Vec<Inline>>,
    /// The rows below.
    pub rows: Vec<Vec<Vec<Inline>>>,
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq)]
pub enum Inline {
    /// Text, in which no two spaces follow each other.
    Text(String),
    /// Code.
    Code(String),
    /// What is emphasised.
    Emphasis(Vec<Inline>),
    /// What is emphasised strongly.
    Strong(Vec<Inline>),
    /// A link to a web page or mail address.
    Link {
        /// Where it leads.
        url: Url,
        /// What it says.
        content: Vec<Inline>,
    },
    /// An image.
    Image {
        /// Where it is.
        url: Url,
        /// What is in its place.
        alt: String,
    },
    /// The end of a line within a paragraph.
    Break,
}

/// What a reader sees of some inlines.
pub(super) fn plain(inlines: &[Inline]) -> String {
    let mut text = String::new();
    put_plain(inlines, &mut text);
    text
}

fn put_plain(inlines: &[Inline], text: &mut String) {
    for inline in inlines {
        match inline {
            Inline::Text(more) | Inline::Code(more) => text.push_str(more),
            Inline::Emphasis(content) | Inline::Strong(content) | Inline::Link { content, .. } => {
                put_plain(content, text);
            }
            Inline::Image { .. } => {}
            Inline::Break => text.push('\n'),
        }
    }
}
