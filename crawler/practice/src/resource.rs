//! What a path names: the one place that maps addresses to resources, and resources to the links on them.

use super::{
    PracticeSite, articles,
    file_kind::FileKind,
    hard_pages::{self, HardPage},
    hops::{self, Hop},
    spelling::{Anchor, Lead, plain_number},
    versions,
};

/// Everything under this path is named only where a crawler must not look or must not follow: a request for it is a
/// fault.
pub const HIDDEN: &str = "/hidden/";

/// What a path names. Everything that is not named is [`Resource::Broken`].
#[derive(Debug)]
pub(super) enum Resource {
    /// `/`.
    Home,
    /// `/hard/`: the way to every hard page and hop.
    HardPageIndex,
    /// `/hub`: thousands of links.
    Hub,
    /// One link of the chain, counted from 1.
    Chain(u32),
    /// `/news/`: what is new since the first version, which does not have it.
    News,
    /// An ordinary page, by its number.
    Article(u32),
    /// A page written by hand to be difficult.
    HardPage(&'static HardPage),
    /// A page that leads only home.
    Leaf,
    /// Something that is not HTML.
    File(FileKind),
    /// A redirect.
    Hop(Hop),
    /// `/robots.txt`.
    Robots,
    /// `/sitemap.xml`: linked from robots.txt alone, names nothing that has no link.
    Sitemap,
    /// An error status: 404 or 410.
    Broken(u16),
}

/// What lies at `path`.
pub(super) fn at(site: &PracticeSite, path: &str) -> Resource {
    match path {
        "/" => Resource::Home,
        "/hard/" => Resource::HardPageIndex,
        "/hub" => Resource::Hub,
        "/news/" if versions::stories(site) > 0 => Resource::News,
        "/robots.txt" => Resource::Robots,
        "/sitemap.xml" => Resource::Sitemap,
        _ => numbered(site, path)
            .or_else(|| hard_pages::at(path).map(Resource::HardPage))
            .or_else(|| hops::at(site, path).map(Resource::Hop))
            .or_else(|| articles::number(site, path).map(|number| article(site, number)))
            .unwrap_or_else(|| by_folder(path)),
    }
}

/// Whether robots.txt forbids the path; [`super::answer`] writes the same rules as a robots.txt.
pub(super) fn forbidden(path: &str) -> bool {
    let private = path.starts_with("/private/") && !path.starts_with("/private/open/");
    let coded = path.starts_with("/%70rivate/");
    let program = path.rsplit('.').next() == Some("cgi");
    private || coded || program || path.starts_with("/search?")
}

/// The links a crawl must follow from here.
pub(super) fn leads(site: &PracticeSite, resource: &Resource) -> Vec<Lead> {
    let follow = |target: String| Lead { target, rel_nofollow: false };
    match resource {
        Resource::HardPage(hard_page) => hard_page.leads(),
        Resource::Leaf => vec![follow("/".to_owned())],
        Resource::Hop(hop) => hop.target.clone().map(follow).into_iter().collect(),
        _ => anchors(site, resource).into_iter().filter_map(|anchor| anchor.target).map(follow).collect(),
    }
}

/// The anchors of a page made by rule; none for everything else.
pub(super) fn anchors(site: &PracticeSite, resource: &Resource) -> Vec<Anchor> {
    match resource {
        Resource::Home => home(site),
        Resource::HardPageIndex => hard_pages::paths().chain(hops::paths()).map(Anchor::plain).collect(),
        Resource::Hub => hub(site),
        Resource::Chain(at) if *at < site.shape.chain => vec![Anchor::plain(&format!("/chain/{}", at + 1))],
        Resource::Article(number) => articles::anchors(site, *number),
        Resource::News => (1..=versions::stories(site)).map(|story| Anchor::plain(&format!("/news/{story}"))).collect(),
        _ => Vec::new(),
    }
}

fn home(site: &PracticeSite) -> Vec<Anchor> {
    let mut anchors = vec![Anchor::plain("/hard/"), Anchor::plain("/hub"), Anchor::plain(&articles::path(site, 0))];
    if site.shape.chain > 0 {
        anchors.push(Anchor::plain("/chain/1"));
    }
    if versions::stories(site) > 0 {
        anchors.push(Anchor::plain("/news/"));
    }
    anchors
}

fn hub(site: &PracticeSite) -> Vec<Anchor> {
    (0..site.shape.hub_links)
        .map(|at| {
            let path = articles::path(site, at % site.shape.pages);
            Anchor { href: format!("{path}#entry-{at}"), target: Some(path) }
        })
        .collect()
}

/// An ordinary page, or what is left of one that was removed.
fn article(site: &PracticeSite, number: u32) -> Resource {
    if versions::is_removed(site, number) { Resource::Broken(410) } else { Resource::Article(number) }
}

/// `/chain/N`, `/news/N` and `/files/N.KIND`.
fn numbered(site: &PracticeSite, path: &str) -> Option<Resource> {
    if let Some(at) = path.strip_prefix("/chain/") {
        return plain_number(at).filter(|at| (1..=site.shape.chain).contains(at)).map(Resource::Chain);
    }
    if let Some(story) = path.strip_prefix("/news/") {
        return plain_number(story).filter(|at| (1..=versions::stories(site)).contains(at)).map(|_| Resource::Leaf);
    }
    let name = path.strip_prefix("/files/")?;
    let kind = FileKind::ALL.into_iter().find(|kind| name.ends_with(kind.ending()))?;
    plain_number(name.strip_suffix(kind.ending())?).map(|_| Resource::File(kind))
}

fn by_folder(path: &str) -> Resource {
    let leaves = ["/found/", "/private/", "/search", HIDDEN];
    if leaves.iter().any(|folder| path.starts_with(folder)) {
        return Resource::Leaf;
    }
    Resource::Broken(if path.starts_with("/gone/") { 410 } else { 404 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;

    #[test]
    fn a_number_has_one_spelling() {
        let site = PracticeSite::new(Shape::demo());
        assert!(matches!(at(&site, "/chain/7"), Resource::Chain(7)));
        for other in ["/chain/07", "/chain/+7", "/chain/31", "/chain/0", "/chain/", "/files/07.css", "/files/7.zip"] {
            assert!(matches!(at(&site, other), Resource::Broken(404)), "{other}");
        }
    }

    #[test]
    fn the_hub_has_its_links() {
        let site = PracticeSite::new(Shape::default());
        assert_eq!(leads(&site, &Resource::Hub).len(), 5000);
    }

    #[test]
    fn robots_rules_take_the_longest_match() {
        for path in ["/private/", "/private/openly", "/%70rivate/x", "/search?q", "/found/run.cgi"] {
            assert!(forbidden(path), "{path}");
        }
        for path in ["/private", "/private/open/", "/search", "/found/run.cgi?x=1"] {
            assert!(!forbidden(path), "{path}");
        }
    }
}
