//! What a page says about itself: its title, description and language.

use url::Url;

use super::{
    inline::spaced,
    tags::{Attr, Tag},
    tree::{Id, Tree},
    view::View,
};

/// The title, or the one for other sites.
pub(super) fn title(tree: &Tree) -> Option<String> {
    let is_drawn = |id: Id| tree.ancestors(id).any(|outer| tree.tag(outer) == Tag::Svg);
    let title = (0..tree.nodes.len()).find(|id| tree.tag(*id) == Tag::Title && !is_drawn(*id));
    title.and_then(|id| said(&tree.text(id))).or_else(|| named(tree, &["og:title", "twitter:title"]))
}

/// The text of the first heading, if that is one of the first level.
pub(super) fn heading(tree: &Tree) -> Option<String> {
    let heading = tree.all(0, |tag| tag.heading().is_some()).next()?;
    if tree.tag(heading) == Tag::H1 { said(&tree.text(heading)) } else { None }
}

/// Where the page says that it is as Markdown.
pub(super) fn own_markdown(tree: &Tree, view: &View<'_>) -> Option<Url> {
    let has = |id: Id, attr, word: &str| {
        let value = tree.attr(id, attr).unwrap_or_default();
        value.split([' ', ';', '\t', '\n']).any(|given| given.eq_ignore_ascii_case(word))
    };
    let is_own = |id: &Id| has(*id, Attr::Rel, "alternate") && has(*id, Attr::Type, "text/markdown");
    let link = tree.all(0, |tag| tag == Tag::Link).find(is_own)?;
    view.url(tree.attr(link, Attr::Href)?)
}

/// The description, or the one for other sites.
pub(super) fn description(tree: &Tree) -> Option<String> {
    named(tree, &["description"]).or_else(|| named(tree, &["og:description", "twitter:description"]))
}

/// The language that the page names for all of it.
pub(super) fn language(tree: &Tree) -> Option<String> {
    let of = |tag| tree.first(tag).and_then(|id| tree.attr(id, Attr::Lang));
    let language = of(Tag::Html).or(of(Tag::Body))?.trim();
    let fits = language.len() <= 35 && language.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (fits && !language.is_empty()).then(|| language.to_owned())
}

/// What the first `meta` with one of these names says.
fn named(tree: &Tree, names: &[&str]) -> Option<String> {
    let is_named = |id: Id| {
        let name = tree.attr(id, Attr::Name).or(tree.attr(id, Attr::Property)).unwrap_or_default();
        names.iter().any(|wanted| name.eq_ignore_ascii_case(wanted))
    };
    let metas = tree.all(0, |tag| tag == Tag::Meta).filter(|id| is_named(*id));
    metas.filter_map(|id| tree.attr(id, Attr::Content)).find_map(said)
}

fn said(text: &str) -> Option<String> {
    Some(spaced(text).trim().to_owned()).filter(|text| !text.is_empty())
}
