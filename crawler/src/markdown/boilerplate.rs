//! What of a page is no content: what is hidden, and what leads around the site.

use super::{
    density::Sums,
    tags::{Attr, Tag},
    tree::Id,
    view::View,
    words::ClassWords,
};

/// What is hidden at first is text to be shown later if it is so long, in bytes.
const LEAST_HIDDEN_TEXT: usize = 200;

/// A part with the name of chrome is content still if it holds so many hundredths of the text.
const MOST_BY_WORDS: usize = 45;

/// So is one whose element is made for chrome.
const MOST_BY_TAG: usize = 70;

/// Leaves out what browsers never show.
pub(super) fn omit_unseen(view: &mut View<'_>) {
    for id in 0..view.tree.nodes.len() {
        view.omitted[id] = is_unseen(view, id);
    }
}

fn is_unseen(view: &View<'_>, id: Id) -> bool {
    let attr = |attr| view.tree.attr(id, attr);
    let tag = view.tree.tag(id);
    tag.shows_nothing()
        || (tag == Tag::Dialog && attr(Attr::Open).is_none())
        || (attr(Attr::AriaHidden) == Some("true") && view.is_inline(id))
        || attr(Attr::Class).is_some_and(|class| ClassWords::of(class).say_unseen())
}

/// Leaves out what is hidden at first, unless it is so much text that scripts are meant to show it (the panel of a tab, an answer).
pub(super) fn omit_hidden(view: &mut View<'_>, sums: &Sums) {
    for id in 1..view.tree.nodes.len() {
        if !view.omitted[id] && is_hidden(view, id) {
            let is_text = sums.prose(id) >= LEAST_HIDDEN_TEXT && !sums.is_linked(id, 40);
            let is_panel = view.tree.attr(id, Attr::Role) == Some("tabpanel");
            view.omitted[id] = !is_text && !is_panel && !sums.holds(id, 50, 0);
        }
    }
}

fn is_hidden(view: &View<'_>, id: Id) -> bool {
    let attr = |attr| view.tree.attr(id, attr);
    view.tree.tag(id) == Tag::Noscript
        || attr(Attr::Hidden).is_some_and(|hidden| hidden != "until-found")
        || (attr(Attr::AriaHidden) == Some("true") && view.tree.tag(id).heading().is_none())
        || attr(Attr::Style).is_some_and(hides)
}

/// Whether a style has an element not be shown.
fn hides(style: &str) -> bool {
    let style: String = style.chars().filter(|character| !character.is_whitespace()).take(2000).collect();
    style.contains("display:none") || style.contains("visibility:hidden")
}

/// Leaves out the parts whose elements are made for chrome.
pub(super) fn omit_by_tags(view: &mut View<'_>, sums: &Sums) {
    let mut content_end = 0;
    for id in 1..view.tree.nodes.len() {
        let node = &view.tree.nodes[id];
        if matches!(node.tag, Tag::Main | Tag::Article) || view.tree.attr(id, Attr::Role) == Some("main") {
            content_end = node.end.max(content_end);
        }
        if !view.omitted[id] && !is_kept(node.tag) {
            view.omitted[id] = is_chrome_by_tag(view, sums, id, id < content_end) && !sums.holds(id, MOST_BY_TAG, 0);
        }
    }
}

/// Leaves out the parts of `root` that are chrome by their names.
pub(super) fn omit_by_words(view: &mut View<'_>, sums: &Sums, root: Id) {
    for id in view.tree.subtree(root).skip(1) {
        if !view.omitted[id] && !is_kept(view.tree.tag(id)) {
            view.omitted[id] = is_chrome_by_words(view, sums, id) && !sums.holds(id, MOST_BY_WORDS, root);
        }
    }
}

fn is_kept(tag: Tag) -> bool {
    matches!(tag, Tag::Text | Tag::Page | Tag::Html | Tag::Body | Tag::Main) || tag.heading().is_some()
}

fn is_chrome_by_tag(view: &View<'_>, sums: &Sums, id: Id, is_inside: bool) -> bool {
    let role = view.tree.attr(id, Attr::Role).unwrap_or_default();
    match view.tree.tag(id) {
        Tag::Nav | Tag::Footer | Tag::Search | Tag::Label => true,
        Tag::Header => !is_inside && view.uppermost[id] > 1,
        Tag::Aside => !is_inside || sums.is_linked(id, 50),
        Tag::Button => !is_all_of_heading(view, sums, id),
        _ => {
            matches!(
                role,
                "navigation"
                    | "search"
                    | "menu"
                    | "menubar"
                    | "contentinfo"
                    | "dialog"
                    | "alertdialog"
                    | "toolbar"
                    | "tablist"
                    | "button"
            ) || (role == "banner" || role == "complementary") && !is_inside
        }
    }
}

/// Whether a heading says nothing but what a button in it says.
fn is_all_of_heading(view: &View<'_>, sums: &Sums, id: Id) -> bool {
    let heading = view.tree.ancestors(id).take(4).find(|outer| view.tree.tag(*outer).heading().is_some());
    heading.is_some_and(|heading| sums.holds(id, 90, heading))
}

fn is_chrome_by_words(view: &View<'_>, sums: &Sums, id: Id) -> bool {
    let tag = view.tree.tag(id);
    if tag == Tag::Td || tag == Tag::Pre {
        return view.tree.attr(id, Attr::Class).is_some_and(|class| ClassWords::of(class).say_gutter());
    }
    if matches!(tag, Tag::Code | Tag::Tr | Tag::Th | Tag::Tbody | Tag::Article | Tag::P | Tag::Dt)
        || is_in_code(view, id)
    {
        return false;
    }
    let is_in_heading = view.tree.ancestors(id).take(4).any(|outer| view.tree.tag(outer).heading().is_some());
    let named =
        |names: &str| if is_in_heading { ClassWords::of(names).say_sign() } else { ClassWords::of(names).say_chrome() };
    let is_chrome = view.tree.attr(id, Attr::Class).is_some_and(named)
        || view.tree.attr(id, Attr::Id).is_some_and(|name| named(name) && !is_anchor(view, id, name));
    is_chrome && view.uppermost[id] > 1 && !view.has_code[id] && !is_contents(view, sums, id)
}

/// Whether an id is there for links to a part of the content: it says what the heading of that says, or is the name of something.
fn is_anchor(view: &View<'_>, id: Id, name: &str) -> bool {
    let letters = |text: &str| {
        text.chars()
            .filter(|character| character.is_alphanumeric())
            .take(100)
            .flat_map(char::to_lowercase)
            .collect::<String>()
    };
    if name.contains(['.', '(', '%', ':']) {
        return true;
    }
    let heading = view.seen(id).take(12).find(|inner| view.tree.tag(*inner).heading().is_some());
    let (name, heading) = (letters(name), heading.map(|heading| letters(&view.tree.text(heading))).unwrap_or_default());
    !heading.is_empty() && (name.starts_with(&heading) || heading.ends_with(&name))
}

/// Whether an element lists other pages, as the contents of a chapter do.
fn is_contents(view: &View<'_>, sums: &Sums, id: Id) -> bool {
    let named = |attr| view.tree.attr(id, attr).is_some_and(|names| ClassWords::of(names).say_contents());
    (named(Attr::Class) || named(Attr::Id)) && sums.linked[id] > 0 && sums.is_linked(id, 50)
}

fn is_in_code(view: &View<'_>, id: Id) -> bool {
    view.is_inline(id) && view.tree.ancestors(id).take(6).any(|outer| view.tree.tag(outer) == Tag::Pre)
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::{super::parse::parse, *};

    /// What is left of a page.
    fn rest(html: &str) -> String {
        let tree = parse(html);
        let mut view = View::new(&tree, &Url::parse("http://h/").unwrap());
        omit_unseen(&mut view);
        let sums = Sums::of(&view);
        omit_hidden(&mut view, &sums);
        omit_by_tags(&mut view, &sums);
        omit_by_words(&mut view, &sums, 0);
        view.seen(0).map(|id| tree.nodes[id].text.as_str()).collect()
    }

    #[test]
    fn chrome_is_left_out() {
        for chrome in [
            "<nav>x</nav>",
            "<footer>x</footer>",
            "<header>x</header>",
            "<div class=breadcrumb>x</div>",
            "<div id=cookie-banner>x</div>",
            "<div role=navigation>x</div>",
            "<button>x</button>",
            "<script>x</script>",
            "<span aria-hidden=true>x</span>",
            "<div style='color: red; display : none'>x</div>",
            "<noscript>x</noscript>",
            "<p class=sr-only>x</p>",
        ] {
            assert_eq!(rest(&format!("<p>The content</p>{chrome}")), "The content", "{chrome}");
        }
    }

    #[test]
    fn content_with_the_name_of_chrome_is_kept() {
        for content in [
            "<div class=nav>All that the page says is here</div>",
            "<section id=sharing-data><h2>Sharing data</h2></section>",
            "<div class=sidebar><pre>code</pre></div>",
            "<div class=menu><h1>Title</h1></div>",
            "<h2 class=social>Social sciences</h2>",
            "<h2><button>Question</button></h2>",
            "<dt id=http.cookies>name</dt>",
            "<div class=toc><a href=/1>Chapter one</a></div>",
            "<div hidden role=tabpanel>x</div>",
            "<main><header>Of the text</header></main>",
        ] {
            let text: String = parse(content).nodes.iter().map(|node| node.text.as_str()).collect();
            assert!(rest(&format!("<p>Short text</p>{content}")).ends_with(&text), "{content}");
        }
    }
}
