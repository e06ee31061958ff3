//! [`read`]: from the nodes of a line to [`Inline`]s.

use url::Url;

use super::{
    block::Inline,
    tags::{Attr, Tag},
    tree::Id,
    view::View,
};

/// What the text of a node is, by the elements around it.
#[derive(Debug, Clone, Copy, Default)]
struct Around {
    code: bool,
    strong: bool,
    emphasis: bool,
}

/// What some nodes say, as one line, without spaces at its ends.
pub(super) fn read(view: &View<'_>, ids: impl IntoIterator<Item = Id>) -> Vec<Inline> {
    let mut inlines = Vec::new();
    for id in ids {
        put(view, id, Around::default(), &mut inlines);
    }
    trimmed(inlines)
}

/// What a node says, without ends of lines in it.
pub(super) fn read_one(view: &View<'_>, id: Id) -> Vec<Inline> {
    let mut content = read(view, [id]);
    unbroken(&mut content);
    trimmed(content)
}

fn unbroken(inlines: &mut [Inline]) {
    for inline in inlines {
        match inline {
            Inline::Break => *inline = Inline::Text(" ".to_owned()),
            Inline::Emphasis(content) | Inline::Strong(content) | Inline::Link { content, .. } => unbroken(content),
            _ => {}
        }
    }
}

/// A line without what is empty in it, two spaces in a row, or spaces at its ends.
pub(super) fn trimmed(inlines: Vec<Inline>) -> Vec<Inline> {
    let mut inlines = spread(inlines);
    let mut after_space = true;
    collapse(&mut inlines, &mut after_space);
    while matches!(inlines.last(), Some(Inline::Break)) || trim_end(&mut inlines) {
        if matches!(inlines.last(), Some(Inline::Break)) {
            inlines.pop();
        }
    }
    inlines
}

/// A line whose code has its spaces beside it.
fn spread(inlines: Vec<Inline>) -> Vec<Inline> {
    let mut out = Vec::with_capacity(inlines.len());
    let space = |is_there: bool| is_there.then(|| Inline::Text(" ".to_owned()));
    for inline in inlines {
        match inline {
            Inline::Code(text) => {
                let (before, after) = (space(text.starts_with(' ')), space(text.ends_with(' ')));
                out.extend(before.into_iter().chain([Inline::Code(text.trim().to_owned())]).chain(after));
            }
            Inline::Strong(content) => out.push(Inline::Strong(spread(content))),
            Inline::Emphasis(content) => out.push(Inline::Emphasis(spread(content))),
            Inline::Link { url, content } => out.push(Inline::Link { url, content: spread(content) }),
            other => out.push(other),
        }
    }
    out
}

/// A character as it is in text: spaces of all kinds are alike, and none where it shows nothing.
pub(super) fn plain_character(character: char) -> Option<char> {
    match character {
        '\t' | '\n' | '\r' | '\x0c' | ' ' | '\u{a0}' | '\u{2028}' | '\u{2029}' => Some(' '),
        '\u{feff}' | '\u{200b}' | '\u{ad}' | '\u{fffe}' | '\u{ffff}' => None,
        _ if character.is_control() => None,
        _ => Some(character),
    }
}

/// Text with single spaces.
pub(super) fn spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len());
    for character in text.chars().filter_map(plain_character) {
        if character != ' ' || !spaced.ends_with(' ') {
            spaced.push(character);
        }
    }
    spaced
}

fn put(view: &View<'_>, id: Id, around: Around, out: &mut Vec<Inline>) {
    let tree = view.tree;
    if view.omitted[id] {
        return;
    }
    match tree.tag(id) {
        Tag::Text => put_text(&tree.nodes[id].text, around, out),
        Tag::Br => out.push(Inline::Break),
        Tag::Img => out.extend(image(view, id)),
        Tag::A => put_link(view, id, around, out),
        Tag::Code | Tag::Tt | Tag::Samp | Tag::Kbd => put_all(view, id, Around { code: true, ..around }, out),
        Tag::Strong | Tag::B if !around.strong && !around.code => {
            let content = content(view, id, Around { strong: true, ..around });
            put_wrapped(Inline::Strong(content), out);
        }
        Tag::Em | Tag::I if !around.emphasis && !around.code => {
            let content = content(view, id, Around { emphasis: true, ..around });
            put_wrapped(Inline::Emphasis(content), out);
        }
        tag if tag.is_block() => {
            put_text(" ", Around::default(), out);
            put_all(view, id, around, out);
            put_text(" ", Around::default(), out);
        }
        _ => put_all(view, id, around, out),
    }
}

fn put_all(view: &View<'_>, id: Id, around: Around, out: &mut Vec<Inline>) {
    for child in view.children(id) {
        put(view, child, around, out);
    }
}

fn content(view: &View<'_>, id: Id, around: Around) -> Vec<Inline> {
    let mut content = Vec::new();
    put_all(view, id, around, &mut content);
    content
}

fn put_text(text: &str, around: Around, out: &mut Vec<Inline>) {
    let text = spaced(text);
    match (around.code, out.last_mut()) {
        (true, Some(Inline::Code(before))) | (false, Some(Inline::Text(before))) => {
            let repeats = before.ends_with(' ') && text.starts_with(' ');
            before.push_str(&text[usize::from(repeats)..]);
        }
        (true, _) if text != " " => out.push(Inline::Code(text)),
        _ => out.push(Inline::Text(text)),
    }
}

/// Two that follow each other are one: their signs would not be distinguished.
fn put_wrapped(inline: Inline, out: &mut Vec<Inline>) {
    match (inline, out.last_mut()) {
        (Inline::Strong(more), Some(Inline::Strong(before)))
        | (Inline::Emphasis(more), Some(Inline::Emphasis(before))) => {
            before.extend(more);
        }
        (inline, _) => out.push(inline),
    }
}

fn put_link(view: &View<'_>, id: Id, around: Around, out: &mut Vec<Inline>) {
    let content = content(view, id, around);
    match view.tree.attr(id, Attr::Href).and_then(|href| view.url(href)) {
        Some(url) if shows(&content) && !content.iter().any(holds_link) => {
            if matches!(out.last(), Some(Inline::Link { .. })) {
                out.push(Inline::Text(" ".to_owned()));
            }
            out.push(Inline::Link { url, content });
        }
        _ => out.extend(content),
    }
}

/// A line as a link, unless one is in it already.
pub(super) fn linked(content: Vec<Inline>, url: &Url) -> Vec<Inline> {
    if !shows(&content) || content.contains(&Inline::Break) || content.iter().any(holds_link) {
        return content;
    }
    vec![Inline::Link { url: url.clone(), content }]
}

fn holds_link(inline: &Inline) -> bool {
    match inline {
        Inline::Link { .. } => true,
        Inline::Strong(content) | Inline::Emphasis(content) => content.iter().any(holds_link),
        _ => false,
    }
}

/// Whether a reader sees anything of it.
pub(super) fn shows(inlines: &[Inline]) -> bool {
    inlines.iter().any(|inline| match inline {
        Inline::Text(text) | Inline::Code(text) => !text.trim().is_empty(),
        Inline::Emphasis(content) | Inline::Strong(content) | Inline::Link { content, .. } => shows(content),
        Inline::Image { .. } => true,
        Inline::Break => false,
    })
}

/// An image; what it is for until a script has run is not its URL.
fn image(view: &View<'_>, id: Id) -> Option<Inline> {
    let sources = [Attr::Src, Attr::DataSrc, Attr::DataLazySrc, Attr::DataOriginal];
    let url = sources
        .into_iter()
        .find_map(|attr| view.url(view.tree.attr(id, attr).filter(|src| !src.trim().is_empty())?))?;
    let alt = spaced(view.tree.attr(id, Attr::Alt).unwrap_or_default()).trim().to_owned();
    matches!(url.scheme(), "http" | "https").then_some(Inline::Image { url, alt })
}

/// Leaves out what is empty, and spaces after spaces.
fn collapse(inlines: &mut Vec<Inline>, after_space: &mut bool) {
    inlines.retain_mut(|inline| match inline {
        Inline::Text(text) => {
            if *after_space {
                *text = text.trim_start_matches(' ').to_owned();
            }
            *after_space = if text.is_empty() { *after_space } else { text.ends_with(' ') };
            !text.is_empty()
        }
        Inline::Code(text) => {
            *after_space &= text.is_empty();
            !text.is_empty()
        }
        Inline::Emphasis(content) | Inline::Strong(content) | Inline::Link { content, .. } => {
            collapse(content, after_space);
            !content.is_empty()
        }
        Inline::Image { .. } => {
            *after_space = false;
            true
        }
        Inline::Break => {
            *after_space = true;
            true
        }
    });
    inlines.dedup_by(|later, earlier| match (earlier, later) {
        (Inline::Code(text), Inline::Code(more)) => {
            text.push_str(more);
            true
        }
        _ => false,
    });
}

/// Leaves out the space at the end; says whether the last part went with it.
fn trim_end(inlines: &mut Vec<Inline>) -> bool {
    let is_empty = match inlines.last_mut() {
        Some(Inline::Text(text)) => {
            text.truncate(text.trim_end_matches(' ').len());
            text.is_empty()
        }
        Some(Inline::Emphasis(content) | Inline::Strong(content) | Inline::Link { content, .. }) => {
            while trim_end(content) {}
            content.is_empty()
        }
        _ => false,
    };
    if is_empty {
        inlines.pop();
    }
    is_empty
}
