//! [`read`]: the rows and cells of a table that is one, and is not there to lay out a page.

use super::{
    block::{Inline, TableContent, plain},
    inline,
    tags::{Attr, Tag},
    tree::Id,
    view::View,
};

/// The most columns or rows that a cell may span.
const MOST_SPANNED: usize = 40;

/// So many cells may a table have for each that the page has, once it is a rectangle.
const MOST_FILLED: usize = 20;

/// The longest text of a cell with several blocks, in bytes: a longer one is no cell, but a part of the page.
const LONGEST_CELL: usize = 1500;

/// A table; none if its cells hold what cannot stand in one line of Markdown, or if it has only one row.
pub(super) fn read(view: &View<'_>, table: Id) -> Option<TableContent> {
    let rows = rows(view, table);
    if is_layout(view, table, &rows) {
        return None;
    }
    let count: usize = rows.iter().map(|row| cells(view, *row).count()).sum();
    let mut grid = grid(view, &rows, count * MOST_FILLED)?;
    let width =
        grid.iter().map(Vec::len).max().filter(|width| *width > 0 && *width * grid.len() <= count * MOST_FILLED)?;
    for row in &mut grid {
        row.resize(width, Vec::new());
    }
    let has_header = rows.first().is_some_and(|row| is_header(view, *row));
    let header = if has_header { grid.remove(0) } else { vec![Vec::new(); width] };
    let table = TableContent { header, rows: grid };
    let columns = (0..width).filter(|column| says(&table, *column)).count();
    (columns > 1 || (columns == 1 && !rows.iter().any(|row| cells(view, *row).any(|cell| spans(view, cell)))))
        .then_some(table)
}

/// Whether a column has any text.
fn says(table: &TableContent, column: usize) -> bool {
    let mut cells = table.rows.iter().chain([&table.header]).map(|row| &row[column]);
    cells.any(|cell| !plain(cell).trim().is_empty())
}

/// Whether a cell reaches across others. With those, one column of text is set beside a picture: that is no table.
fn spans(view: &View<'_>, cell: Id) -> bool {
    [Attr::Colspan, Attr::Rowspan]
        .into_iter()
        .any(|attr| view.tree.attr(cell, attr).is_some_and(|span| span.trim() != "1"))
}

/// The rows of a table, without those of tables in it.
pub(super) fn rows(view: &View<'_>, table: Id) -> Vec<Id> {
    let mut rows = Vec::new();
    let mut inner_end = 0;
    for id in view.seen(table).skip(1) {
        match view.tree.tag(id) {
            _ if id < inner_end => {}
            Tag::Table => inner_end = view.tree.nodes[id].end,
            Tag::Tr => rows.push(id),
            _ => {}
        }
    }
    rows
}

fn cells<'v>(view: &'v View<'_>, row: Id) -> impl Iterator<Item = Id> + 'v {
    view.children(row).filter(|id| matches!(view.tree.tag(*id), Tag::Td | Tag::Th))
}

/// Whether a table lays out a part of the page.
fn is_layout(view: &View<'_>, table: Id, rows: &[Id]) -> bool {
    let has_header = rows.iter().any(|row| cells(view, *row).any(|cell| view.tree.tag(cell) == Tag::Th));
    let is_small = rows.len() < 2 && !(has_header && rows.iter().any(|row| cells(view, *row).count() > 1));
    is_small
        || matches!(view.tree.attr(table, Attr::Role), Some("presentation" | "none"))
        || view.seen(table).skip(1).any(|id| needs_lines(view.tree.tag(id)))
        || rows.iter().any(|row| cells(view, *row).any(|cell| is_part(view, cell)))
}

/// Whether an element cannot be a part of one line.
fn needs_lines(tag: Tag) -> bool {
    tag.heading().is_some() || matches!(tag, Tag::Pre | Tag::Table | Tag::Hr | Tag::Blockquote)
}

/// Whether a cell holds so much that it is a part of the page.
fn is_part(view: &View<'_>, cell: Id) -> bool {
    if !view.has_block[cell] {
        return false;
    }
    let length: usize = view.seen(cell).map(|id| view.tree.nodes[id].text.len()).sum();
    length > LONGEST_CELL
        && view.seen(cell).filter(|id| matches!(view.tree.tag(*id), Tag::P | Tag::Li | Tag::Div)).count() > 3
}

fn is_header(view: &View<'_>, row: Id) -> bool {
    view.tree.tag(view.tree.nodes[row].parent) == Tag::Thead
        || cells(view, row).all(|cell| view.tree.tag(cell) == Tag::Th)
}

/// The cells, each in its column: where another reaches across, one is empty. None if these are more than `most`.
fn grid(view: &View<'_>, rows: &[Id], most: usize) -> Option<Vec<Vec<Vec<Inline>>>> {
    let mut spanned: Vec<usize> = Vec::new();
    let span = |cell, attr| {
        view.tree.attr(cell, attr).and_then(|span| span.trim().parse().ok()).unwrap_or(1).clamp(1, MOST_SPANNED)
    };
    let (mut grid, mut size) = (Vec::new(), 0);
    for row in rows {
        let mut line: Vec<Vec<Inline>> = Vec::new();
        for cell in cells(view, *row) {
            while spanned.get(line.len()).is_some_and(|left| *left > 0) {
                line.push(Vec::new());
            }
            let (width, height) = (span(cell, Attr::Colspan), span(cell, Attr::Rowspan));
            spanned.resize(spanned.len().max(line.len() + width), 0);
            spanned[line.len()..][..width].fill(height);
            line.push(inline::read_one(view, cell));
            line.resize(line.len() + width - 1, Vec::new());
        }
        for left in &mut spanned {
            *left = left.saturating_sub(1);
        }
        size += line.len();
        if size > most {
            return None;
        }
        if !line.is_empty() {
            grid.push(line);
        }
    }
    Some(grid)
}
