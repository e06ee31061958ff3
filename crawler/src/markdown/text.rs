//! [`text`]: [`ContentBlock`]s as plain text.

use super::block::{ContentBlock, Inline, plain};

/// Blocks as plain text, with an empty line between any two; the items of a list and the rows of a table are a line each.
pub(super) fn text(blocks: &[ContentBlock]) -> String {
    blocks.iter().map(block).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Heading(heading) => plain(&heading.content),
        ContentBlock::Paragraph(content) => plain(content),
        ContentBlock::Code(code) => code.text.clone(),
        ContentBlock::Quote(blocks) => text(blocks),
        ContentBlock::Rule => String::new(),
        ContentBlock::List(list) => lines(list.items.iter().map(|item| lines(item.iter().map(self::block)))),
        ContentBlock::Table(table) => lines([&table.header].into_iter().chain(&table.rows).map(|row| cells(row))),
    }
}

fn cells(row: &[Vec<Inline>]) -> String {
    let cells: Vec<String> = row.iter().map(|cell| plain(cell)).collect();
    cells.join("\t").trim_end().to_owned()
}

fn lines(texts: impl Iterator<Item = String>) -> String {
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}
