//! [`choose`]: the part of a page that holds its content.

use super::{
    boilerplate,
    density::Sums,
    tags::{Attr, Tag},
    tree::Id,
    view::View,
    words::ClassWords,
};

/// Leaves out the chrome of a page, and finds the innermost node that holds its content.
pub(super) fn choose(view: &mut View<'_>) -> Id {
    let tree = view.tree;
    let is_main = |id: Id| tree.tag(id) == Tag::Main || tree.attr(id, Attr::Role) == Some("main");
    let is_article = |id: Id| tree.tag(id) == Tag::Article || tree.attr(id, Attr::Role) == Some("article");
    let is_body = |id: Id| tree.attr(id, Attr::Itemprop) == Some("articleBody");
    let sums = Sums::of(view);
    boilerplate::omit_by_tags(view, &sums);
    let sums = Sums::of(view);
    let mut root = tree.first(Tag::Body).unwrap_or(0);
    let titled = |id: Id| is_main(id) && view.uppermost[id] == 1;
    root = narrowed(view, &sums, root, 5, &titled);
    root = narrowed(view, &sums, root, 30, &is_main);
    root = narrowed(view, &sums, root, 50, &is_body);
    boilerplate::omit_by_words(view, &sums, root);
    let sums = Sums::of(view);
    root = narrowed(view, &sums, root, 60, &is_article);
    root = narrowed(view, &sums, root, 60, &|id| is_named_content(view, id));
    densest(view, &sums, root)
}

/// The part of a kind that holds the most, if that is so many hundredths of what `root` holds.
fn narrowed(view: &View<'_>, sums: &Sums, root: Id, hundredths: usize, is_wanted: &dyn Fn(Id) -> bool) -> Id {
    let wanted = view.seen(root).filter(|id| is_wanted(*id));
    let most = wanted.max_by_key(|id| (sums.prose(*id), usize::MAX - id));
    most.filter(|id| sums.prose(*id) * 100 >= sums.prose(root) * hundredths && sums.length[*id] > 0).unwrap_or(root)
}

fn is_named_content(view: &View<'_>, id: Id) -> bool {
    let named = |attr| {
        view.tree.attr(id, attr).is_some_and(|names| {
            ClassWords::of(names).say_content() || matches!(names, "content" | "main" | "article" | "post")
        })
    };
    view.has_block[id] && view.tree.tag(id).is_block() && (named(Attr::Class) || named(Attr::Id))
}

/// The innermost node that holds nearly all that `root` holds and is no link.
fn densest(view: &View<'_>, sums: &Sums, root: Id) -> Id {
    let mut part = root;
    while let Some(inner) =
        view.children(part).find(|id| sums.prose(*id) * 100 >= sums.prose(root) * 90 && view.has_block[*id])
    {
        if sums.prose(inner) == 0 || matches!(view.tree.tag(inner), Tag::Ul | Tag::Ol | Tag::Dl | Tag::Table | Tag::Li)
        {
            break;
        }
        if leaves_heading(view, part, inner) {
            break;
        }
        part = inner;
    }
    part
}

/// Whether `part` has a heading before `inner`, or one of the uppermost level after it.
fn leaves_heading(view: &View<'_>, part: Id, inner: Id) -> bool {
    let end = view.tree.nodes[inner].end;
    view.seen(part).any(|id| view.tree.tag(id).heading().is_some_and(|level| id < inner || (id >= end && level == 1)))
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::{super::parse::parse, *};

    /// The text of the part that is found.
    fn found(html: &str) -> String {
        let tree = parse(html);
        let mut view = View::new(&tree, &Url::parse("http://h/").unwrap());
        let root = choose(&mut view);
        view.seen(root).map(|id| tree.nodes[id].text.trim()).collect()
    }

    #[test]
    fn the_part_with_the_content_is_found() {
        for (html, wanted) in [
            ("<div>around</div><main><p>content of the page</main>", "content of the page"),
            ("<div>around</div><article>content of the page</article>", "content of the page"),
            ("<article>one</article><article>two</article>", "onetwo"),
            ("<div>by</div><div class=post-content><p>content of the page</div>", "content of the page"),
            ("<ul><li><a href=/>around</a></ul><div><div><p>content</p><p>of it</p></div></div>", "contentof it"),
            ("<div><h2>title</h2></div><div><p>content of the page</div>", "titlecontent of the page"),
            (
                "<main>x</main><div><p>far more content than is in the other part</div>",
                "far more content than is in the other part",
            ),
            ("", ""),
        ] {
            assert_eq!(found(html), wanted, "{html}");
        }
    }
}
