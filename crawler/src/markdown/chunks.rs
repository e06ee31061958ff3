//! [`Chunk`]: a part of a page, of about a given length, with the headings that it is under.

use super::block::{Code, ContentBlock, Heading, List, TableContent, plain};

/// A part of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// The headings that it is under, the uppermost first.
    pub headings: Vec<String>,
    /// The fragment that leads to the nearest of them that has one.
    pub anchor: Option<String>,
    /// What it says, as Markdown.
    pub text: String,
    /// About how many tokens of a language model it is.
    pub tokens: usize,
}

/// Bytes of a heading, and of an anchor, that is repeated in each chunk below it. A longer anchor is none.
const MOST_REPEATED: usize = 300;

/// About how many tokens a text is: four letters of ASCII each, or one or two others.
pub(super) fn estimate(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.chars().count() - ascii;
    ascii.div_ceil(4) + (others * 2).div_ceil(3)
}

/// The parts of a page. Each heading starts one, unless next to nothing is before it.
pub(super) fn chunks(blocks: &[ContentBlock], tokens: usize, write: &dyn Fn(&[ContentBlock]) -> String) -> Vec<Chunk> {
    let mut chunker = Chunker { tokens: tokens.max(16), write, under: Vec::new(), open: None, done: Vec::new() };
    for block in blocks {
        chunker.take(block);
    }
    chunker.end();
    chunker.done
}

/// A heading that what follows is under.
struct Over {
    level: u8,
    text: String,
    anchor: Option<String>,
}

struct Chunker<'w> {
    tokens: usize,
    write: &'w dyn Fn(&[ContentBlock]) -> String,
    under: Vec<Over>,
    open: Option<Chunk>,
    done: Vec<Chunk>,
}

impl Chunker<'_> {
    fn take(&mut self, block: &ContentBlock) {
        if let ContentBlock::Heading(heading) = block {
            self.heading(heading);
        }
        let text = (self.write)(std::slice::from_ref(block));
        let length = estimate(&text);
        if length <= self.tokens {
            return self.put(&text, length);
        }
        match parts(block, self.tokens) {
            Some(parts) => parts.iter().for_each(|part| self.take(part)),
            None => sentences(&text, self.tokens).into_iter().for_each(|part| self.put(part, estimate(part))),
        }
    }

    /// Ends the chunk before a heading, unless that holds little more than headings above it.
    fn heading(&mut self, heading: &Heading) {
        self.under.retain(|over| over.level < heading.level);
        let mut text = plain(&heading.content);
        text.truncate(text.floor_char_boundary(MOST_REPEATED));
        let anchor = heading.anchor.clone().filter(|anchor| anchor.len() <= MOST_REPEATED);
        let over = Over { level: heading.level, text, anchor };
        let parent: Vec<&str> = self.under.iter().map(|over| over.text.as_str()).collect();
        let goes_on = |open: &Chunk| open.tokens < self.tokens / 8 && parent == open.headings;
        if !self.open.as_ref().is_some_and(goes_on) {
            self.end();
        }
        self.under.push(over);
    }

    fn put(&mut self, text: &str, length: usize) {
        if self.open.as_ref().is_some_and(|open| open.tokens + length > self.tokens) {
            self.end();
        }
        match &mut self.open {
            Some(open) => {
                open.text.push_str("\n\n");
                open.text.push_str(text);
                open.tokens += length;
            }
            none => {
                let headings = self.under.iter().map(|over| over.text.clone()).collect();
                let anchor = self.under.iter().rev().find_map(|over| over.anchor.clone());
                *none = Some(Chunk { headings, anchor, text: text.to_owned(), tokens: length });
            }
        }
    }

    fn end(&mut self) {
        self.done.extend(self.open.take());
    }
}

/// The parts of a block that is too long; none if it has none.
fn parts(block: &ContentBlock, tokens: usize) -> Option<Vec<ContentBlock>> {
    match block {
        ContentBlock::List(list) if list.items.len() > 1 => Some(halves(&list.items, |items, from| {
            let start = list.start.map(|start| start.saturating_add(u32::try_from(from).unwrap_or(u32::MAX)));
            ContentBlock::List(List { start, items: items.to_vec() })
        })),
        ContentBlock::List(list) => list.items.first().cloned(),
        ContentBlock::Quote(blocks) if blocks.len() > 1 => {
            Some(halves(blocks, |blocks, _| ContentBlock::Quote(blocks.to_vec())))
        }
        ContentBlock::Table(table) if table.rows.len() > 1 => Some(halves(&table.rows, |rows, _| {
            // A long header is not repeated.
            let length: usize = table.header.iter().map(|cell| plain(cell).len()).sum();
            let header = if length <= tokens { table.header.clone() } else { vec![Vec::new(); table.header.len()] };
            ContentBlock::Table(TableContent { header, rows: rows.to_vec() })
        })),
        ContentBlock::Code(code) => {
            let lines: Vec<&str> = code.text.split('\n').collect();
            let part = |text: String| ContentBlock::Code(Code { language: code.language.clone(), text });
            if lines.len() > 1 {
                return Some(halves(&lines, |lines, _| part(lines.join("\n"))));
            }
            let pieces = sentences(&code.text, tokens / 2);
            (pieces.len() > 1).then(|| pieces.into_iter().map(|piece| part(piece.to_owned())).collect())
        }
        _ => None,
    }
}

fn halves<T>(all: &[T], block: impl Fn(&[T], usize) -> ContentBlock) -> Vec<ContentBlock> {
    let (first, second) = all.split_at(all.len() / 2);
    vec![block(first, 0), block(second, first.len())]
}

/// A long text in pieces, each to the end of a sentence or at least of a word.
fn sentences(text: &str, tokens: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let most = rest.floor_char_boundary(tokens.max(8) * 3);
        let window = &rest[..most];
        let sentence = window.rfind(['.', '!', '?']).map(|end| end + 1).filter(|end| *end > most / 2);
        let end = if most == rest.len() {
            most
        } else {
            sentence.or(window.rfind(' ')).filter(|end| *end > 0).unwrap_or(most)
        };
        let (piece, later) = rest.split_at(end);
        pieces.push(piece.trim());
        rest = later.trim_start();
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_divided_at_sentences() {
        let text = "One two three. Four five six seven. Eight nine ten eleven twelve.";
        let pieces = sentences(text, 10);
        assert_eq!(pieces.join(" "), text);
        assert!(pieces[..pieces.len() - 1].iter().all(|piece| piece.len() <= 30), "{pieces:?}");
        assert_eq!(sentences(&"x".repeat(100), 10).concat().len(), 100);
    }
}
