//! [`read`]: the lines of a `pre`, and the language that the page names for them.

use super::{
    block::Code,
    inline::plain_character,
    tags::{Attr, Tag},
    tree::Id,
    view::View,
};

/// How far out from a `pre` an element may name its language.
const FAR: usize = 3;

/// The code in a `pre`; none if it is empty.
pub(super) fn read(view: &View<'_>, pre: Id) -> Option<Code> {
    let mut text = String::new();
    for id in view.seen(pre) {
        match view.tree.tag(id) {
            Tag::Text => text.extend(view.tree.nodes[id].text.chars().filter_map(kept)),
            Tag::Br => text.push('\n'),
            tag if id != pre && (tag.is_block() || is_line(view, id)) && !text.is_empty() && !text.ends_with('\n') => {
                text.push('\n');
            }
            _ => {}
        }
    }
    let first = text.find(|character: char| character != '\n').unwrap_or(0);
    let text = text[first..].trim_end().to_owned();
    (!text.is_empty()).then(|| Code { language: language(view, pre), text })
}

/// Whether an element is a line of code, shown as one by its style.
fn is_line(view: &View<'_>, id: Id) -> bool {
    let class = view.tree.attr(id, Attr::Class).unwrap_or_default();
    view.tree.tag(id) == Tag::Span && class.split_whitespace().any(|word| matches!(word, "token-line" | "code-line"))
}

fn kept(character: char) -> Option<char> {
    if matches!(character, '\n' | '\t') { Some(character) } else { plain_character(character) }
}

/// The language that a `pre`, the `code` in it or an element around it names.
fn language(view: &View<'_>, pre: Id) -> Option<String> {
    let inner = view.tree.children(pre).find(|id| view.tree.tag(*id) == Tag::Code);
    let around = view.tree.ancestors(pre).take(FAR);
    inner.into_iter().chain([pre]).chain(around).find_map(|id| named(view, id))
}

fn named(view: &View<'_>, id: Id) -> Option<String> {
    let attr = |attr| view.tree.attr(id, attr);
    let data = attr(Attr::DataLang).or(attr(Attr::DataLanguage)).and_then(word);
    data.or_else(|| attr(Attr::Class).unwrap_or_default().split_whitespace().find_map(by_class))
}

fn by_class(class: &str) -> Option<String> {
    let found = ["language-", "lang-", "highlight-source-", "highlight-", "brush:"]
        .into_iter()
        .find_map(|prefix| class.strip_prefix(prefix))?;
    word(found).filter(|language| {
        !matches!(language.as_str(), "default" | "none" | "notranslate" | "text" | "plaintext" | "wrapper" | "source")
    })
}

/// A name of a language that may stand behind a fence.
fn word(name: &str) -> Option<String> {
    let name = name.trim().to_ascii_lowercase();
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"+#-_.".contains(&byte);
    (!name.is_empty() && name.len() <= 24 && name.bytes().all(fits)).then_some(name)
}
