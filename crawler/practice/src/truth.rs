//! [`Truth`]: what a complete crawl must find, by walking the model.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{
    PracticeSite,
    resource::{self, Resource},
};

/// What a complete crawl from `/` finds, by path and query. It follows `a` and `area`, obeys robots.txt and the
/// `nofollow` of whole pages, and follows single `rel=nofollow` links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Truth {
    /// What answers 2xx, of any type, and its depth: the fewest links from `/`, a redirect counting none.
    pub stored: BTreeMap<String, u32>,
    /// Those of [`Truth::stored`] that are HTML.
    pub html: BTreeSet<String>,
    /// What answers 404 or 410.
    pub broken: BTreeMap<String, u16>,
    /// What redirects, and where to: a path and query of this site, or a whole URL of another.
    pub redirects: BTreeMap<String, String>,
    /// What is linked and forbidden by robots.txt: never asked for.
    pub forbidden: BTreeSet<String>,
    /// Those of [`Truth::stored`] that a crawl misses, rightly, when it obeys `rel=nofollow` of single links.
    pub only_by_rel_nofollow: BTreeSet<String>,
}

impl Truth {
    /// Everything that is asked for, each once (robots.txt apart).
    pub fn requested(&self) -> BTreeSet<&str> {
        let redirects = self.redirects.keys();
        self.stored.keys().chain(self.broken.keys()).chain(redirects).map(String::as_str).collect()
    }
}

/// What a walk does with `rel=nofollow`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RelNofollow {
    Follow,
    Obey,
}

impl PracticeSite {
    /// What a complete crawl from `/` must store, find broken, see redirected, and leave alone.
    pub fn truth(&self) -> Truth {
        walk(self)
    }
}

fn walk(site: &PracticeSite) -> Truth {
    let mut truth = walk_as(site, RelNofollow::Follow);
    let obedient = walk_as(site, RelNofollow::Obey);
    truth.only_by_rel_nofollow =
        truth.stored.keys().filter(|path| !obedient.stored.contains_key(*path)).cloned().collect();
    truth
}

/// Breadth first; a redirect's target goes to the front, since it is as deep as the redirect.
fn walk_as(site: &PracticeSite, rel: RelNofollow) -> Truth {
    let mut truth = Truth::default();
    let mut seen = BTreeSet::new();
    let mut queue = VecDeque::from([("/".to_owned(), 0)]);
    while let Some((path, depth)) = queue.pop_front() {
        if !seen.insert(path.clone()) {
            continue;
        }
        if resource::forbidden(&path) {
            truth.forbidden.insert(path);
            continue;
        }
        let resource = resource::at(site, &path);
        let leads = resource::leads(site, &resource).into_iter();
        let followed = leads.filter(|lead| rel == RelNofollow::Follow || !lead.rel_nofollow).map(|lead| lead.target);
        match resource {
            Resource::Hop(_) => followed.for_each(|target| queue.push_front((target, depth))),
            _ => queue.extend(followed.map(|target| (target, depth + 1))),
        }
        truth.record(path, depth, resource);
    }
    truth
}

impl Truth {
    fn record(&mut self, path: String, depth: u32, resource: Resource) {
        match resource {
            Resource::Broken(status) => drop(self.broken.insert(path, status)),
            Resource::Hop(hop) => drop(self.redirects.insert(path, hop.target.unwrap_or(hop.location))),
            Resource::File(_) | Resource::Robots | Resource::Sitemap => drop(self.stored.insert(path, depth)),
            _ => {
                self.html.insert(path.clone());
                self.stored.insert(path, depth);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HIDDEN, Shape, articles};

    #[test]
    fn every_ordinary_page_and_the_whole_chain_are_reached() {
        let site = PracticeSite::new(Shape::default());
        let truth = site.truth();
        assert!((0..3000).all(|number| truth.html.contains(&articles::path(&site, number))));
        assert_eq!(truth.stored.get("/chain/30"), Some(&30));
        assert_eq!(truth.stored.get("/"), Some(&0));
    }

    #[test]
    fn the_demo_has_about_five_hundred_pages() {
        let truth = PracticeSite::new(Shape::demo()).truth();
        assert!((480..=540).contains(&truth.stored.len()), "{}", truth.stored.len());
    }

    #[test]
    fn agrees_with_the_answers() {
        let site = PracticeSite::new(Shape::demo());
        let truth = site.truth();
        let status = |path: &String| site.answer(path).status;
        assert!(truth.stored.keys().all(|path| status(path) == 200));
        assert!(truth.broken.iter().all(|(path, expected)| status(path) == *expected));
        assert!(truth.redirects.keys().all(|path| (301..=308).contains(&status(path))));
        let is_html =
            |path: &&String| site.answer(path).headers.iter().any(|(_, value)| value.starts_with("text/html"));
        assert!(truth.stored.keys().filter(is_html).eq(truth.html.iter()));
    }

    #[test]
    fn nothing_hidden_is_to_be_asked_for_and_nothing_forbidden_either() {
        let truth = PracticeSite::new(Shape::default()).truth();
        let requested = truth.requested();
        assert!(!requested.iter().any(|path| path.starts_with(HIDDEN)));
        assert!(truth.forbidden.iter().all(|path| !requested.contains(path.as_str())));
        assert!(truth.forbidden.contains("/private/moved"), "a redirect leads there");
    }

    #[test]
    fn redirects_cost_no_depth() {
        let truth = PracticeSite::new(Shape::demo()).truth();
        assert_eq!(truth.stored["/found/chain-end"], 2);
        assert_eq!(truth.redirects["/hard/moved/chain-4"], "/found/chain-end");
        assert_eq!(truth.redirects["/hard/moved/away"], "http://other.invalid/landing");
    }

    #[test]
    fn knows_what_single_nofollow_links_alone_lead_to() {
        let truth = PracticeSite::new(Shape::demo()).truth();
        let expected = ["/found/by-rel-list", "/found/by-rel-nofollow"];
        assert!(truth.only_by_rel_nofollow.iter().map(String::as_str).eq(expected));
    }
}
