//! The practice web: a synthetic site whose pages are a pure function of their URL and of the site's version, with known
//! truth.
//!
//! Owns: the site ([`PracticeSite`], shaped by a [`Shape`]), what a complete crawl of it must find ([`Truth`]), what
//! differs between two versions ([`SiteChanges`]), and a server for it on loopback ([`PracticeServer`]). `webloom demo`, the end-to-end tests and the benches crawl the same
//! site.
//!
//! Invariants: the same shape, version, address and path give the same bytes for ever; every address a crawl must follow is
//! stated by the model that writes the page, never read back out of the page.
//!
//! Does not know: the crawler's extractor, robots rules or scope. What they must find is written down here by hand or
//! by construction, so that they can be judged by it.

mod answer;
mod articles;
mod changes;
mod file_kind;
mod hard_pages;
mod hops;
mod resource;
mod server;
mod site;
mod spelling;
mod truth;
mod versions;

pub use answer::{Answer, Coding};
pub use changes::SiteChanges;
pub use resource::HIDDEN;
pub use server::{OUTAGE, PracticeServer, Request};
pub use site::{PracticeSite, Shape};
pub use truth::Truth;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_the_same_for_ever_and_differs_by_seed() {
        let site = |seed| PracticeSite::new(Shape { seed, ..Shape::demo() });
        let truth = site(1).truth();
        for path in truth.stored.keys() {
            assert_eq!(site(1).answer(path), site(1).answer(path), "{path}");
        }
        assert_ne!(truth, site(2).truth());
    }

    #[test]
    fn names_its_own_origin() {
        let body = |origin: &str| PracticeSite::new(Shape::demo()).at(origin).answer("/hard/elsewhere.html").body;
        assert_ne!(body("http://127.0.0.1:1"), body("http://127.0.0.1:2/"));
    }

    #[test]
    fn no_two_pages_are_alike() {
        let site = PracticeSite::new(Shape::demo());
        let truth = site.truth();
        let bodies: std::collections::BTreeSet<_> = truth.html.iter().map(|path| site.answer(path).body).collect();
        assert_eq!(bodies.len(), truth.html.len());
    }
}
