//! Pages: what becomes of the parts of their [`Markup`].

use std::{borrow::Cow, ops::Range};

use super::{
    edits::Edits,
    markup::{Markup, Part, PartKind},
    reader::read,
    references::{ReferenceUse, RewrittenReferences},
    source_set, style,
};

/// What says that a page is in UTF-8.
const CHARSET: &str = "<meta charset=\"utf-8\" />";

/// So far behind the beginning of the head it is looked for.
const LOOKED_AT: usize = 1024;

/// A page with other references; `None` if it stays as it is.
pub(super) fn rewritten(html: &str, head: &str, references: &mut RewrittenReferences<'_>) -> Option<String> {
    let markup = read(html, false);
    let says_charset = |part: &Part| part.kind == PartKind::Charset && part.range.start < markup.head + LOOKED_AT;
    let charset = if markup.parts.iter().any(says_charset) { "" } else { CHARSET };
    // What a page in an attribute of this page holds in an attribute is left out: it would be escaped twice.
    let inner = |html: &str, references: &mut RewrittenReferences<'_>| {
        edited(html, &read(html, false), "", references, |_, _| Some(String::new()))
    };
    edited(html, &markup, &(charset.to_owned() + head), references, inner)
}

/// An XML document with other references; `None` if it stays as it is.
pub(super) fn rewritten_xml(xml: &str, references: &mut RewrittenReferences<'_>) -> Option<String> {
    edited(xml, &read(xml, true), "", references, |_, _| Some(String::new()))
}

/// The page with its parts changed, and with `head` at the beginning of its head. `inner` changes the pages in its attributes.
fn edited(
    html: &str,
    markup: &Markup,
    head: &str,
    references: &mut RewrittenReferences<'_>,
    inner: impl Fn(&str, &mut RewrittenReferences<'_>) -> Option<String>,
) -> Option<String> {
    let mut edits = Edits::of(html);
    let mut head_at = (!head.is_empty()).then_some(markup.head);
    references.with_base(markup.base.as_deref(), |references| {
        for part in &markup.parts {
            if let Some(at) = head_at.take_if(|at| *at <= part.range.start) {
                edits.replace(at..at, head);
            }
            let (text, range) = (&*part.text, part.range.clone());
            let new = match part.kind {
                PartKind::Dropped => {
                    let (range, new) = without(html.as_bytes(), range);
                    edits.replace(range, new);
                    continue;
                }
                PartKind::Sheet => style::rewritten(text, references),
                PartKind::DrawnSheet => style::rewritten(text, references).map(|new| escaped(&new).into_owned()),
                PartKind::Url => references.target(text).map(quoted),
                PartKind::Frame => references.target_of(text, ReferenceUse::Frame).map(quoted),
                PartKind::Speculation if text.trim().eq_ignore_ascii_case("speculationrules") => {
                    Some(quoted("text/plain"))
                }
                PartKind::Speculation => None,
                PartKind::SourceSet => source_set::rewritten(text, references).map(quoted),
                PartKind::Style => style::rewritten(text, references).map(quoted),
                PartKind::Document => inner(text, references).map(quoted),
                PartKind::Refresh => Some(quoted(refresh(text, references))),
                PartKind::Relations => relations(text).map(quoted),
                PartKind::Charset if text.trim().eq_ignore_ascii_case("utf-8") => None,
                PartKind::Charset => Some(quoted("utf-8")),
            };
            if let Some(new) = new {
                edits.replace(range, &new);
            }
        }
    });
    if let Some(at) = head_at {
        edits.replace(at..at, head);
    }
    edits.changed()
}

/// A refresh that leads to another file. One that leads elsewhere, or reads the page again, is none.
fn refresh(text: &str, references: &mut RewrittenReferences<'_>) -> String {
    let Some((time, rest)) = text.split_once([';', ',']) else { return String::new() };
    let rest = rest.trim_start();
    let url = rest.get(..3).filter(|name| name.eq_ignore_ascii_case("url")).map(|_| rest[3..].trim_start());
    let url = url.and_then(|url| url.strip_prefix('=')).unwrap_or(rest).trim();
    let url = url.strip_prefix(['"', '\'']).map_or(url, |quoted| quoted.split(['"', '\'']).next().unwrap_or_default());
    let new = references.target(url).filter(|new| !new.contains("://") || new.starts_with('/'));
    new.map(|new| format!("{}; url={new}", time.trim())).unwrap_or_default()
}

/// The relations without those by which a browser connects to hosts, or loads what nobody has asked for; `None` if they stay.
fn relations(text: &str) -> Option<String> {
    let connects = |word: &&str| {
        ["preconnect", "dns-prefetch", "prerender", "prefetch"].iter().any(|one| word.eq_ignore_ascii_case(one))
    };
    let kept: Vec<_> = text.split_ascii_whitespace().filter(|word| !connects(word)).collect();
    (kept.len() < text.split_ascii_whitespace().count()).then(|| kept.join(" "))
}

/// What is replaced where the attribute at `range` is left out, and by what. What is around it means the same then.
fn without(html: &[u8], range: Range<usize>) -> (Range<usize>, &'static str) {
    let before = |back: usize| range.start.checked_sub(back).and_then(|at| html.get(at)).copied().unwrap_or_default();
    let mut after = html.get(range.end..).unwrap_or_default().iter();
    let next = after.clone().next().copied().unwrap_or_default();
    if after.find(|byte| !byte.is_ascii_whitespace()) == Some(&b'=') {
        // The attribute before it would have that as its value.
        return (range, "/");
    }
    if before(1) == b'/' {
        // The tag would end in `/>`.
        return (range, " ");
    }
    let is_apart = next == b'>' || next.is_ascii_whitespace();
    if before(1).is_ascii_whitespace() && before(2) != b'/' && is_apart {
        return (range.start - 1..range.end, "");
    }
    (range, "")
}

/// A value of an attribute as it is written.
fn quoted(value: impl AsRef<str>) -> String {
    format!("\"{}\"", escaped(value.as_ref()))
}

fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '"', '<', '>']) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + text.len() / 8);
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            _ => escaped.push(letter),
        }
    }
    Cow::Owned(escaped)
}
