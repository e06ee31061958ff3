//! [`MarkdownWriter`]: [`ContentBlock`]s as Markdown: that of `CommonMark`, with the tables of GitHub's.

use url::Url;

use super::{
    block::{ContentBlock, Inline, List, TableContent},
    escape,
};

/// Writes Markdown.
pub(super) struct MarkdownWriter<'l> {
    /// What is in the file for a URL.
    pub(super) link: &'l dyn Fn(&Url) -> String,
}

impl MarkdownWriter<'_> {
    /// Blocks, with an empty line between any two.
    pub(super) fn blocks(&self, blocks: &[ContentBlock]) -> String {
        let mut out = String::new();
        let mut lists = 0;
        for (at, block) in blocks.iter().enumerate() {
            if at > 0 {
                out.push_str("\n\n");
            }
            lists = if matches!(block, ContentBlock::List(_)) { lists + 1 } else { 0 };
            self.block(block, lists % 2 == 0 && lists > 0, &mut out);
        }
        out
    }

    /// A block; a list right after another needs other signs than that.
    fn block(&self, block: &ContentBlock, other_sign: bool, out: &mut String) {
        match block {
            ContentBlock::Heading(heading) => {
                let text = escape::heading(&self.line(&heading.content).replace('\n', " "));
                out.push_str(&format!("{} {text}", "#".repeat(heading.level.clamp(1, 6).into())));
            }
            ContentBlock::Paragraph(content) => out.push_str(&escape::lines(&self.line(content))),
            ContentBlock::List(list) => self.list(list, other_sign, out),
            ContentBlock::Code(code) => {
                let fence = escape::fence(&code.text);
                out.push_str(&format!(
                    "{fence}{}\n{}\n{fence}",
                    code.language.as_deref().unwrap_or_default(),
                    code.text
                ));
            }
            ContentBlock::Table(table) => self.table(table, out),
            ContentBlock::Quote(blocks) => indented(&self.blocks(blocks), "> ", "> ", out),
            ContentBlock::Rule => out.push_str("___"),
        }
    }

    fn list(&self, list: &List, other_sign: bool, out: &mut String) {
        let is_tight = list.items.iter().all(|item| {
            matches!(&item[..], [ContentBlock::Paragraph(_)] | [ContentBlock::Paragraph(_), ContentBlock::List(_)])
        });
        for (at, item) in list.items.iter().enumerate() {
            if at > 0 {
                out.push_str(if is_tight { "\n" } else { "\n\n" });
            }
            let sign = match (list.start, other_sign) {
                (Some(start), false) => format!("{}. ", start as usize + at),
                (Some(start), true) => format!("{}) ", start as usize + at),
                (None, false) => "- ".to_owned(),
                (None, true) => "* ".to_owned(),
            };
            let mut text = self.blocks(&item[..1]);
            if item.len() > 1 {
                text.push_str(if is_tight { "\n" } else { "\n\n" });
                text.push_str(&self.blocks(&item[1..]));
            }
            indented(&text, &sign, &" ".repeat(sign.len()), out);
        }
    }

    fn table(&self, table: &TableContent, out: &mut String) {
        self.row(&table.header, out);
        out.push_str("\n|");
        out.push_str(&" --- |".repeat(table.header.len()));
        for row in &table.rows {
            out.push('\n');
            self.row(row, out);
        }
    }

    fn row(&self, cells: &[Vec<Inline>], out: &mut String) {
        out.push('|');
        for cell in cells {
            let text = escape::cell(&self.line(cell));
            out.push_str(&format!(" {text}{}|", if text.is_empty() { "" } else { " " }));
        }
    }

    fn line(&self, inlines: &[Inline]) -> String {
        let mut out = String::new();
        self.inlines(inlines, None, &mut out);
        out
    }

    /// The parts of a line; `after` is the character that will follow them.
    fn inlines(&self, inlines: &[Inline], after: Option<char>, out: &mut String) {
        for (at, inline) in inlines.iter().enumerate() {
            let next = inlines.get(at + 1).map_or(after, first_character);
            match inline {
                Inline::Text(text) => {
                    escape::text(text, out.chars().next_back(), out);
                    if next == Some('[') && out.ends_with('!') {
                        out.insert(out.len() - 1, '\\');
                    }
                }
                Inline::Code(text) => escape::code(text, out),
                Inline::Emphasis(content) => self.emphasis(content, "*", next, out),
                Inline::Strong(content) => self.emphasis(content, "**", next, out),
                Inline::Link { url, content } => self.link(url, content, out),
                Inline::Image { url, alt } => {
                    let mut text = String::new();
                    escape::text(alt, None, &mut text);
                    out.push_str(&format!("![{text}]({})", escape::target(&(self.link)(url))));
                }
                Inline::Break => out.push_str("\\\n"),
            }
        }
    }

    fn link(&self, url: &Url, content: &[Inline], out: &mut String) {
        let text = self.line(content);
        let Parted { before, inner, after } = Parted::of(&text);
        out.push_str(&format!("{before}[{inner}]({}){after}", escape::target(&(self.link)(url))));
    }

    /// Emphasised text, if readers would see that it is: signs are none beside some characters.
    fn emphasis(&self, content: &[Inline], sign: &str, next: Option<char>, out: &mut String) {
        let mut text = String::new();
        self.inlines(content, sign.chars().next(), &mut text);
        let Parted { before, inner, after } = Parted::of(&text);
        out.push_str(before);
        let last = out.chars().next_back();
        let next = if after.is_empty() { next } else { Some(' ') };
        let opens = inner.starts_with(char::is_alphanumeric) || last.is_none_or(char::is_whitespace);
        let closes = inner.ends_with(char::is_alphanumeric) || next.is_none_or(char::is_whitespace);
        let is = opens && closes && !inner.is_empty() && !matches!(last, Some('*' | '\\'));
        let sign = if is && next != Some('*') { sign } else { "" };
        out.push_str(&format!("{sign}{inner}{sign}{after}"));
    }
}

/// Text, and the spaces around it.
struct Parted<'t> {
    before: &'t str,
    inner: &'t str,
    after: &'t str,
}

impl<'t> Parted<'t> {
    fn of(text: &'t str) -> Self {
        let start = text.len() - text.trim_start_matches(' ').len();
        let (before, rest) = text.split_at(start);
        let (inner, after) = rest.split_at(rest.trim_end_matches(' ').len());
        Self { before, inner, after }
    }
}

fn first_character(inline: &Inline) -> Option<char> {
    match inline {
        Inline::Text(text) => text.chars().next(),
        Inline::Code(_) => Some('`'),
        Inline::Emphasis(_) | Inline::Strong(_) => Some('*'),
        Inline::Link { .. } => Some('['),
        Inline::Image { .. } => Some('!'),
        Inline::Break => Some('\n'),
    }
}

/// Lines with signs before the first and before the others.
fn indented(text: &str, first: &str, others: &str, out: &mut String) {
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let sign = if at == 0 { first } else { others };
        out.push_str(if line.is_empty() { sign.trim_end() } else { sign });
        out.push_str(line);
    }
}
