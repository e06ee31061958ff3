//! [`PureHalf`]: which of a visit's candidates may be admitted.

use std::{
    collections::{BTreeMap, HashMap, HashSet, hash_map::Entry},
    hash::{BuildHasher, Hasher},
    sync::Arc,
};

use super::{
    Passed, Proposal,
    memo::{Memo, Target},
};
use crate::{
    extract::{AnchorLink, Label, PagePart, RawLink, RawLinks, sitemap::SourceKind},
    frontier::WorkItem,
    scope::{CrawlScope, Refusal},
    store::{ANCHOR, ASSET, LabelPacker},
    url::{Canonicalizer, Fingerprint, FingerprintSeed, KeyRuleSet, WebUrl},
};

/// The reason under which links are counted that a page or its author asks not to follow.
const NOFOLLOW: &str = "nofollow";

/// The reason under which links are counted that are more than are kept of a page.
const MAX_LINKS: &str = "max_links";

/// Parts of pages that are nested deeper, or behind more redirects, are left out.
const MOST_LEVELS: u32 = 5;

/// How many bytes of a refused URL are kept.
const LONGEST_REFUSED: usize = 2048;

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
    scope: Arc<CrawlScope>,
    /// How often the scope became wider.
    generation: u64,
    rules: Canonicalizer,
    seed: FingerprintSeed,
    relation: LinkRelation,
    /// What is refused, wherever it is.
    removed: Arc<HashSet<Fingerprint>>,
}

/// A link of a page that leads to a URL no link before it led to.
struct Judged {
    number: u32,
    fingerprint: Fingerprint,
    nofollow: bool,
    /// The page does not link there: it shows or loads it.
    is_asset: bool,
    /// The link that has the text of those that lead there.
    labelled_by: u32,
    /// The rules that changed the key of one of them.
    changed: KeyRuleSet,
    /// What the scope says.
    allowed: Result<(), Refusal>,
}

/// The candidates of a visit.
#[derive(Debug, Default)]
pub(in crate::engine) struct Proposals {
    /// Those that passed, in page order.
    pub(in crate::engine) passed: Passed,
    /// How many were refused, by reason.
    pub(in crate::engine) refused: BTreeMap<&'static str, u64>,
    /// What lists them, where that is no page.
    pub(in crate::engine) list: Option<SourceKind>,
    /// Of how many, refused or not, a rule changed the key, by rule.
    pub(in crate::engine) rewritten: BTreeMap<&'static str, u64>,
    /// What a page's links say of themselves, packed, where that is kept.
    pub(in crate::engine) labels: Option<Vec<u8>>,
}

impl PureHalf {
    pub(in crate::engine) fn new(
        scope: CrawlScope,
        rules: Canonicalizer,
        seed: FingerprintSeed,
        relation: LinkRelation,
    ) -> Self {
        Self { scope: Arc::new(scope), generation: 0, rules, seed, relation, removed: Arc::default() }
    }

    /// The same that refuses these.
    pub(in crate::engine) fn without(self, removed: HashSet<Fingerprint>) -> Self {
        Self { removed: Arc::new(removed), ..self }
    }

    /// Takes a start URL, or the target of its redirect, into the scope; `true` if that is more than before.
    pub(in crate::engine) fn widen(&mut self, start: &WebUrl) -> bool {
        let scope = Arc::make_mut(&mut self.scope);
        let wider = self.rules.reached_with(start).map(|url| scope.widen(&url)).fold(false, |wider, one| wider | one);
        self.generation += u64::from(wider);
        wider
    }

    /// The links of a page; `follows` is false where the whole page asks not to follow.
    pub(in crate::engine) fn links(&self, links: RawLinks, follows: bool, memo: Option<&mut Memo>) -> Proposals {
        let list = links.list();
        // What is remembered of URLs is what is said of pages.
        let memo = memo.filter(|_| list.is_none());
        let memo = memo.and_then(|memo| memo.serve(self.generation).then_some(memo));
        let (different, left) = self.different(&links, memo);
        let mut proposals = Proposals { list, ..Proposals::default() };
        let mut passed = Vec::with_capacity(different.len());
        let mut labels = links.are_labelled().then(LabelPacker::default);
        let has_parts = !links.parts.is_empty();
        let fingerprints: HashSet<_> = different.iter().filter(|_| has_parts).map(|one| one.fingerprint).collect();
        for Judged { number, fingerprint, nofollow, is_asset, labelled_by, changed, allowed } in different {
            proposals.count_rewritten(changed);
            let forbidden = !is_asset && (!follows || (nofollow && self.relation == LinkRelation::Obey));
            // Nothing is kept that names what was removed.
            let packer = labels.as_mut().filter(|_| allowed != Err(Refusal::Removed));
            if let Some(packer) = packer {
                let reason = allowed.map_or_else(|refusal| Some(refusal.as_str()), |()| forbidden.then_some(NOFOLLOW));
                pack(packer, &links, [number, labelled_by], reason);
            }
            match allowed {
                _ if forbidden => proposals.refuse(NOFOLLOW),
                Ok(()) => passed.push(Proposal { fingerprint, number, is_asset }),
                Err(reason) => proposals.refuse(reason.as_str()),
            }
        }
        if let Some(packer) = &mut labels {
            self.pack_parts(packer, &links, &fingerprints);
            self.pack_anchors(packer, &links);
        }
        proposals.leave_out(links.beyond() + left);
        proposals.labels = labels.map(LabelPacker::finish);
        proposals.passed = Passed::of_page(passed, links, self.rules.clone());
        proposals
    }

    /// Packs what a page shows and loads, but for what it links to as well.
    fn pack_parts(&self, packer: &mut LabelPacker, links: &RawLinks, linked: &HashSet<Fingerprint>) {
        let mut different = HashSet::new();
        for PagePart { url, element } in &links.parts {
            let (fingerprint, _) = self.rules.judged(url, self.seed);
            let is_removed = self.removed.contains(&fingerprint);
            if !is_removed
                && !linked.contains(&fingerprint)
                && different.insert(fingerprint)
                && url.as_str().len() <= LONGEST_REFUSED
            {
                packer.refuse(url.as_str(), ASSET, Label { element: *element, rel: "", text: "", language: "" });
            }
        }
    }

    /// Packs the names of a page's elements, and its links to names.
    fn pack_anchors(&self, packer: &mut LabelPacker, links: &RawLinks) {
        let Some(anchors) = &links.anchors else { return };
        anchors.names.iter().for_each(|names| packer.name(names));
        let is_removed = |whole: &str| {
            let url = if self.removed.is_empty() { None } else { WebUrl::parse(whole).ok() };
            url.is_some_and(|url| self.removed.contains(&self.rules.judged(&url, self.seed).0))
        };
        for AnchorLink { whole, element, text, .. } in &anchors.links {
            if whole.len() <= LONGEST_REFUSED && !is_removed(whole) {
                packer.refuse(whole, ANCHOR, Label { element: *element, rel: "", text, language: "" });
            }
        }
    }

    /// The links that lead to different URLs; one counts as `nofollow` if all that lead there do. Beyond so many bytes of
    /// URLs links are left out: how many.
    fn different(&self, links: &RawLinks, mut memo: Option<&mut Memo>) -> (Vec<Judged>, u64) {
        let mut places: HashMap<Fingerprint, usize, BySeed> = HashMap::with_capacity_and_hasher(links.len(), BySeed);
        let mut different: Vec<Judged> = Vec::with_capacity(links.len());
        let (mut bytes, mut left) = (0, 0);
        for link in links.iter() {
            let target = self.target(links, link, memo.as_deref_mut());
            let Target::Url { fingerprint, length, changed, judged } = target else { continue };
            let RawLink { number, nofollow, is_asset, .. } = link;
            match places.entry(fingerprint) {
                Entry::Occupied(at) => {
                    let first = &mut different[*at.get()];
                    if is_asset && judged.is_ok() && first.allowed.is_err() {
                        (first.is_asset, first.allowed) = (true, judged);
                    }
                    first.nofollow &= nofollow;
                    first.changed = first.changed.and(changed);
                    if links.label(first.labelled_by).is_some_and(|label| label.text.is_empty()) {
                        first.labelled_by = number;
                    }
                }
                Entry::Vacant(_) if length as usize > links.most_bytes() - bytes => left += 1,
                Entry::Vacant(at) => {
                    bytes += length as usize;
                    at.insert(different.len());
                    let (labelled_by, allowed) = (number, judged);
                    different.push(Judged { number, fingerprint, nofollow, is_asset, labelled_by, changed, allowed });
                }
            }
        }
        (different, left)
    }

    /// Where a link leads: what is remembered of it, or what resolving it tells.
    fn target(&self, links: &RawLinks, link: RawLink, memo: Option<&mut Memo>) -> Target {
        let of_lists = links.list() == Some(SourceKind::Index);
        let found = || match links.url(link.number).map(WebUrl::without_credentials) {
            Some(url) if of_lists => self.target_of(&url, self.scope.judge_list(&url)),
            Some(url) if link.is_asset => self.target_of(&url, self.scope.judge_asset(&url)),
            Some(url) => self.target_of(&url, self.scope.judge(&url)),
            None => Target::Nowhere,
        };
        // A page may link there as well.
        let memo = memo.filter(|_| !link.is_asset);
        let (Some(memo), Some(hash)) = (memo, link.hash) else { return found() };
        memo.get(hash).unwrap_or_else(|| {
            let target = found();
            memo.put(hash, target);
            target
        })
    }

    /// Whether a URL belongs to the scope.
    pub(in crate::engine) fn allows(&self, url: &WebUrl) -> bool {
        self.scope.judge(url).is_ok()
    }

    /// Whether a list of URLs may be read.
    pub(in crate::engine) fn may_read(&self, list: &WebUrl) -> bool {
        self.scope.judge_list(list).is_ok()
    }

    /// Whether an admitted URL may still be fetched: the scope may be narrower than when it was admitted.
    pub(in crate::engine) fn still_allows(&self, item: &WorkItem) -> bool {
        self.judge_as(item, &item.url).is_ok()
    }

    /// Where a URL redirects to.
    pub(in crate::engine) fn redirected(&self, item: &WorkItem, target: WebUrl) -> Proposals {
        self.judged([target], |url| self.judge_as(item, url))
    }

    /// Judges a URL as what this one is.
    fn judge_as(&self, item: &WorkItem, url: &WebUrl) -> Result<(), Refusal> {
        match item {
            _ if item.is_sitemap() => self.scope.judge_list(url),
            _ if item.is_asset() => self.scope.judge(url).or_else(|_| self.scope.judge_asset(url)),
            _ => self.scope.judge(url),
        }
    }

    /// Lists of URLs that are to be read.
    pub(in crate::engine) fn lists(&self, urls: impl IntoIterator<Item = WebUrl>) -> Proposals {
        self.judged(urls, |url| self.scope.judge_list(url))
    }

    /// Candidates that are no links of a page.
    pub(in crate::engine) fn urls(&self, urls: impl IntoIterator<Item = WebUrl>) -> Proposals {
        self.judged(urls, |url| self.scope.judge(url))
    }

    fn judged(
        &self,
        urls: impl IntoIterator<Item = WebUrl>,
        judge: impl Fn(&WebUrl) -> Result<(), Refusal>,
    ) -> Proposals {
        let mut proposals = Proposals::default();
        let mut passed = Vec::new();
        // Names and passwords in links are an endless space of URLs, and would log in as a page chose.
        for url in urls.into_iter().map(WebUrl::without_credentials) {
            let (fingerprint, changed) = self.rules.judged(&url, self.seed);
            proposals.count_rewritten(changed);
            match self.unless_removed(fingerprint, judge(&url)) {
                Ok(()) => passed.push((fingerprint, url)),
                Err(reason) => proposals.refuse(reason.as_str()),
            }
        }
        proposals.passed = Passed::of_urls(passed, self.rules.clone());
        proposals
    }

    fn unless_removed(&self, url: Fingerprint, judged: Result<(), Refusal>) -> Result<(), Refusal> {
        if self.removed.is_empty() || !self.removed.contains(&url) { judged } else { Err(Refusal::Removed) }
    }

    fn target_of(&self, url: &WebUrl, judged: Result<(), Refusal>) -> Target {
        let length = u32::try_from(url.as_str().len()).unwrap_or(u32::MAX);
        let (fingerprint, changed) = self.rules.judged(url, self.seed);
        let judged = self.unless_removed(fingerprint, judged);
        Target::Url { fingerprint, length, changed, judged }
    }
}

/// Packs what a link says of itself; the text may be that of another one to the same URL. Of a refused one also where it leads,
/// because nothing else tells that.
fn pack(packer: &mut LabelPacker, links: &RawLinks, [number, labelled_by]: [u32; 2], refused: Option<&str>) {
    let (Some(label), Some(telling)) = (links.label(number), links.label(labelled_by)) else { return };
    let label = Label { text: telling.text, ..label };
    let Some(reason) = refused else { return packer.keep(label) };
    let url = links.url(number).map(WebUrl::without_credentials);
    let url = url.as_ref().map_or("", WebUrl::as_str);
    packer.refuse(&url[..url.floor_char_boundary(LONGEST_REFUSED)], reason, label);
}

/// Takes a fingerprint for its own hash: it is one, under a secret seed.
#[derive(Debug, Clone, Copy)]
struct BySeed;

impl BuildHasher for BySeed {
    type Hasher = Leading;

    fn build_hasher(&self) -> Leading {
        Leading(0)
    }
}

/// The first of the numbers it is given.
struct Leading(u64);

impl Hasher for Leading {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, number: u128) {
        self.0 ^= (number >> 64) as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Proposals {
    /// These, but for parts of parts of parts of a page: where they do not end, that costs the crawl nothing.
    pub(in crate::engine) fn within_levels(mut self, of: &WorkItem) -> Self {
        if of.is_asset() && of.redirects >= MOST_LEVELS {
            let all = self.passed.len();
            self.passed.retain(|proposal| !proposal.is_asset);
            // Labels are those of all that passed.
            self.labels = self.labels.filter(|_| self.passed.len() == all);
        }
        self
    }

    /// A single candidate that is refused.
    pub(in crate::engine) fn refused(reason: Refusal) -> Self {
        let mut proposals = Self::default();
        proposals.refuse(reason.as_str());
        proposals
    }

    fn refuse(&mut self, reason: &'static str) {
        *self.refused.entry(reason).or_default() += 1;
    }

    fn count_rewritten(&mut self, changed: KeyRuleSet) {
        for rule in changed.iter() {
            *self.rewritten.entry(rule.as_str()).or_default() += 1;
        }
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
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Batch, Judge, Provenance},
        *,
    };
    use crate::{
        candidate::Hop,
        extract::{Element, LinkLimits, Reading, ReferenceSeed, scan},
        scope::{Reach, ScopeRules},
        store::Labels,
        time::Moment,
    };

    fn half(relation: LinkRelation) -> PureHalf {
        let rules = ScopeRules { reach: Reach::Host, include: vec![], exclude: vec![], max_url_length: 100 };
        let (keys, seed) = (Canonicalizer::default(), FingerprintSeed::new(1));
        let mut half = PureHalf::new(CrawlScope::new(rules), keys, seed, relation);
        half.widen(&WebUrl::parse("http://h/").unwrap());
        half
    }

    fn page(html: &str, bytes: usize) -> RawLinks {
        let url = WebUrl::parse("http://h/d/").unwrap();
        let limits = LinkLimits { links: 100, bytes };
        scan(html.as_bytes(), Some("text/html"), &url, &Reading::links(limits, ReferenceSeed::random())).links
    }

    fn links() -> RawLinks {
        page("<a href=/a><a href=//h/b rel=nofollow><a href=http://x/c>", 1000)
    }

    #[test]
    fn labels_are_those_of_what_is_kept_and_of_what_is_refused() {
        let html = "<a href=a><img src=x></a><a href=./a rel=x>text</a><a href=//me:x@x/c rel='nofollow me'>away</a>\
                    <area href=b alt=map><a href=c rel=nofollow>no</a><a href=mailto:x>mail</a>";
        let url = WebUrl::parse("http://h/d/").unwrap();
        let reading = Reading::links(LinkLimits::of(100), ReferenceSeed::random());
        assert_eq!(half(LinkRelation::Obey).links(page(html, 1000), true, None).labels, None);
        let labelled = scan(html.as_bytes(), Some("text/html"), &url, &reading.with_labels()).links;
        let proposals = half(LinkRelation::Obey).links(labelled, true, None);
        let labels = Labels::read(&proposals.labels.unwrap()).unwrap();
        let kept: Vec<_> =
            labels.kept.iter().map(|label| (label.element, label.rel.as_deref(), &*label.text)).collect();
        assert_eq!(kept, [(Element::Anchor, None, "text"), (Element::Area, None, "map")]);
        assert_eq!(proposals.passed.len(), kept.len());
        let refused = labels.refused.iter().map(|link| (&*link.url, &*link.reason, link.label.rel.as_deref()));
        let expected = [("http://x/c", "scope", Some("nofollow me")), ("http://h/d/c", "nofollow", Some("nofollow"))];
        assert_eq!(refused.collect::<Vec<_>>(), expected);
    }

    fn urls(proposals: &Proposals) -> Vec<String> {
        let made = |proposal| proposals.passed.candidate(proposal).unwrap().url.as_str().to_owned();
        proposals.passed.iter().map(made).collect()
    }

    fn candidates(proposals: &Proposals) -> u64 {
        proposals.passed.len() as u64 + proposals.refused.values().sum::<u64>()
    }

    #[test]
    fn counts_every_candidate_once() {
        let ignoring = half(LinkRelation::Ignore).links(links(), true, None);
        assert_eq!((ignoring.passed.len(), candidates(&ignoring)), (2, 3));
        let obeying = half(LinkRelation::Obey).links(links(), true, None);
        assert_eq!(obeying.refused, BTreeMap::from([("nofollow", 1), ("scope", 1)]));
        let none = half(LinkRelation::Ignore).links(links(), false, None);
        assert_eq!((none.passed.len(), none.refused["nofollow"]), (0, 3));
    }

    #[test]
    fn links_to_one_url_are_one_candidate() {
        let html =
            "<a href=a rel=nofollow><a href=./a><a href=/d/b rel=nofollow><a href=//me:x@h/d/a><a href=b rel=nofollow>";
        let proposals = half(LinkRelation::Obey).links(page(html, 1000), true, None);
        assert_eq!((urls(&proposals), candidates(&proposals)), (vec!["http://h/d/a".to_owned()], 2));
    }

    #[test]
    fn a_link_that_a_program_adds_is_one_of_the_page() {
        let url = |text| WebUrl::parse(text).unwrap();
        let mut links = page("<a href=a>", 1000);
        for link in ["http://h/d/a", "http://h/b", "http://x/c", "http://h/b"] {
            links.add(&url(link));
        }
        let added = half(LinkRelation::Obey).links(links, true, Some(&mut Memo::new()));
        assert_eq!((urls(&added), candidates(&added)), (vec!["http://h/d/a".into(), "http://h/b".into()], 3));
        let mut none =
            RawLinks::none(&url("http://h/d/"), LinkLimits { links: 1, bytes: 100 }, ReferenceSeed::random(), true);
        for link in ["http://h/a", "http://h/b"] {
            none.add(&url(link));
        }
        let few = half(LinkRelation::Obey).links(none, true, None);
        assert_eq!((urls(&few), few.refused["max_links"]), (vec!["http://h/a".into()], 1));
        assert_eq!(Labels::read(&few.labels.unwrap()).unwrap().kept.len(), 1);
    }

    #[test]
    fn a_candidate_is_counted_once_by_each_rule_that_changes_its_key() {
        let html = "<a href=~a><a href=%7ea><a href=%7Ea?><a href=b><a href=//x/%2f?>";
        let mut memo = Memo::new();
        for _ in 0..2 {
            let proposals = half(LinkRelation::Ignore).links(page(html, 1000), true, Some(&mut memo));
            assert_eq!(
                (urls(&proposals), candidates(&proposals)),
                (vec!["http://h/d/~a".into(), "http://h/d/b".into()], 3)
            );
            assert_eq!(proposals.rewritten, BTreeMap::from([("unreserved", 1), ("hex-case", 1), ("empty-query", 2)]));
        }
        let one = half(LinkRelation::Ignore).urls([WebUrl::parse("http://h/?").unwrap()]);
        assert_eq!(one.rewritten, BTreeMap::from([("empty-query", 1)]));
    }

    #[test]
    fn urls_beyond_the_bytes_are_left_out() {
        let proposals = half(LinkRelation::Ignore).links(page("<a href=a><a href=b><a href=./a>", 20), true, None);
        assert_eq!((urls(&proposals).len(), proposals.refused["max_links"]), (1, 1));
    }

    #[test]
    fn what_is_remembered_changes_nothing() {
        let (mut memo, mut half) = (Memo::new(), half(LinkRelation::Obey));
        let html =
            "<a href=a><a href=?b><a href=//x/c><a href=http://[><a href=/a rel=nofollow><a href=./a><a href=''>";
        for wider in [false, false, true, false] {
            if wider {
                half.widen(&WebUrl::parse("http://x/").unwrap());
            }
            let (with, without) =
                (half.links(page(html, 60), true, Some(&mut memo)), half.links(page(html, 60), true, None));
            assert_eq!((urls(&with), &with.refused), (urls(&without), &without.refused));
            assert_eq!(with.rewritten, without.rewritten);
            assert_eq!(with.passed.kept(), without.passed.kept());
        }
    }

    #[test]
    fn parts_know_their_urls() {
        let found =
            Provenance { hop: Hop::Link, via: None, depth: 0, redirects: 0, judge: Judge::Cache, at: Moment::EPOCH };
        let proposals =
            half(LinkRelation::Ignore).links(page("<a href=a><a href=b><a href=c><a href=//x>", 1000), true, None);
        let parts: Vec<(Vec<String>, u64)> = Batch::new(found, proposals)
            .in_parts(2)
            .map(|part| {
                (
                    part.urls.iter().map(|url| part.urls.candidate(url).unwrap().url.to_string()).collect(),
                    part.candidates(),
                )
            })
            .collect();
        let names = |names: &[&str]| names.iter().map(|name| format!("http://h/d/{name}")).collect::<Vec<_>>();
        assert_eq!(parts, [(names(&["a", "b"]), 3), (names(&["c"]), 1)]);
    }
}
