//! [`PureHalf`]: what of a visit's candidates may knock at the door.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    extract::PageLink,
    scope::{Refusal, Scope},
    url::{Canonicalizer, Fingerprint, FingerprintSeed, Key, WebUrl},
};

/// The reason under which links are counted that a page or its author asks not to follow.
const NOFOLLOW: &str = "nofollow";

/// The reason under which links are counted that are more than are kept of a page.
const MAX_LINKS: &str = "max_links";

/// Which links with `nofollow` are candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum LinkRelation {
    /// `rel=nofollow` is only a hint for others.
    Ignore,
    /// `rel=nofollow` is obeyed.
    Obey,
}

/// Judges candidates by the scope and gives them their fingerprints.
#[derive(Debug, Clone)]
pub(in crate::engine) struct PureHalf {
    scope: Arc<Scope>,
    seed: FingerprintSeed,
    relation: LinkRelation,
}

/// A candidate that passed.
#[derive(Debug)]
pub(in crate::engine) struct Proposal {
    pub(in crate::engine) url: WebUrl,
    pub(in crate::engine) key: Key,
    pub(in crate::engine) fingerprint: Fingerprint,
}

/// The candidates of a visit.
#[derive(Debug, Default)]
pub(in crate::engine) struct Proposals {
    /// Those that passed, in page order.
    pub(in crate::engine) passed: Vec<Proposal>,
    /// How many were refused, by reason.
    pub(in crate::engine) refused: BTreeMap<&'static str, u64>,
}

impl PureHalf {
    pub(in crate::engine) fn new(scope: Scope, seed: FingerprintSeed, relation: LinkRelation) -> Self {
        Self { scope: Arc::new(scope), seed, relation }
    }

    /// Takes a start URL, or the target of its redirect, into the scope; `true` if that is more than before.
    pub(in crate::engine) fn widen(&mut self, start: &WebUrl) -> bool {
        Arc::make_mut(&mut self.scope).widen(start)
    }

    /// The links of a page; `page_follows` is false where the whole page asks not to follow.
    pub(in crate::engine) fn links(&self, links: Vec<PageLink>, page_follows: bool) -> Proposals {
        let mut proposals = Proposals::default();
        for link in links {
            let forbidden = !page_follows || (link.nofollow && self.relation == LinkRelation::Obey);
            if forbidden { proposals.refuse(NOFOLLOW) } else { self.judge(link.url, &mut proposals) }
        }
        proposals
    }

    /// Whether an admitted URL still belongs to the scope, which may be narrower than when it was admitted.
    pub(in crate::engine) fn allows(&self, url: &WebUrl) -> bool {
        self.scope.judge(url).is_ok()
    }

    /// A single candidate.
    pub(in crate::engine) fn one(&self, url: WebUrl) -> Proposals {
        let mut proposals = Proposals::default();
        self.judge(url, &mut proposals);
        proposals
    }

    fn judge(&self, url: WebUrl, proposals: &mut Proposals) {
        // Names and passwords in links are an endless space of URLs, and would log in as a page chose.
        let url = url.without_credentials();
        match self.scope.judge(&url) {
            Ok(()) => {
                let key = Canonicalizer::default().key(&url);
                let fingerprint = self.seed.fingerprint(&key);
                proposals.passed.push(Proposal { url, key, fingerprint });
            }
            Err(reason) => proposals.refuse(reason.as_str()),
        }
    }
}

impl Proposals {
    /// A single candidate that is refused.
    pub(in crate::engine) fn refused(reason: Refusal) -> Self {
        let mut proposals = Self::default();
        proposals.refuse(reason.as_str());
        proposals
    }

    /// Refuses those that passed.
    pub(in crate::engine) fn refuse_all(&mut self, reason: &'static str) {
        for _ in self.passed.drain(..) {
            *self.refused.entry(reason).or_default() += 1;
        }
    }

    fn refuse(&mut self, reason: &'static str) {
        *self.refused.entry(reason).or_default() += 1;
    }

    /// Counts links of a page that were not kept.
    pub(in crate::engine) fn leave_out(&mut self, links: u64) {
        if links > 0 {
            self.refused.insert(MAX_LINKS, links);
        }
    }

    /// Whether the page had more links than are kept.
    pub(in crate::engine) fn are_cut(&self) -> bool {
        self.refused.contains_key(MAX_LINKS)
    }

    /// These in parts of at most so many that passed; the first counts what was refused. There is always one.
    pub(in crate::engine) fn in_parts(self, size: usize) -> impl Iterator<Item = Self> {
        let (mut passed, mut refused) = (self.passed.into_iter(), Some(self.refused));
        std::iter::from_fn(move || {
            let refused = refused.take();
            if refused.is_none() && passed.len() == 0 {
                return None;
            }
            let part = passed.by_ref().take(size).collect();
            Some(Self { passed: part, refused: refused.unwrap_or_default() })
        })
    }

    /// How many candidates there were.
    pub(in crate::engine) fn candidates(&self) -> u64 {
        self.passed.len() as u64 + self.refused.values().sum::<u64>()
    }

    /// What is kept with the visit of those that passed.
    pub(in crate::engine) fn kept_links(&self) -> Vec<u64> {
        self.passed.iter().map(|proposal| proposal.fingerprint.short()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::{Reach, ScopeRules};

    fn half(relation: LinkRelation) -> PureHalf {
        let rules = ScopeRules { reach: Reach::Host, include: vec![], exclude: vec![], max_url_length: 100 };
        let mut half = PureHalf::new(Scope::new(rules), FingerprintSeed::new(1), relation);
        half.widen(&WebUrl::parse("http://h/").unwrap());
        half
    }

    fn links() -> Vec<PageLink> {
        let link = |text: &str, nofollow| PageLink { url: WebUrl::parse(text).unwrap(), nofollow };
        vec![link("http://h/a", false), link("http://h/b", true), link("http://x/c", false)]
    }

    #[test]
    fn counts_every_candidate_once() {
        let ignoring = half(LinkRelation::Ignore).links(links(), true);
        assert_eq!((ignoring.passed.len(), ignoring.candidates()), (2, 3));
        let obeying = half(LinkRelation::Obey).links(links(), true);
        assert_eq!(obeying.refused, BTreeMap::from([("nofollow", 1), ("scope", 1)]));
        let none = half(LinkRelation::Ignore).links(links(), false);
        assert_eq!((none.passed.len(), none.refused["nofollow"]), (0, 3));
    }
}
