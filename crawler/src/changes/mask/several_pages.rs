//! What moves on several pages of a section, or in several sections of a host.

use std::collections::BTreeMap;

use super::{Around, LinePattern, MOST_KNOWN, MOST_PATTERNS, MOST_PLACES, Mask, MaskKind};

/// Pages on which something moves at a place before it moves on all of the section.
const SEVERAL: usize = 3;

impl Mask {
    /// What moves at the same place on several of these pages of a section.
    pub fn common(pages: &[Vec<Self>]) -> Vec<Self> {
        let mut left: Vec<Vec<&Self>> = pages.iter().map(|masks| masks.iter().collect()).collect();
        let mut found = Vec::new();
        for page in pages {
            for mask in page {
                let like = |masks: &Vec<&Self>| masks.iter().position(|other| mask.is_like(other));
                let places: Vec<_> = left.iter().map(like).collect();
                if places.iter().flatten().count() < SEVERAL {
                    continue;
                }
                let like = left.iter().zip(&places).filter_map(|(masks, place)| Some(masks[(*place)?]));
                let common = Self::of_section(&like.collect::<Vec<_>>());
                let is_empty = match common.kind {
                    MaskKind::Value => common.patterns.is_empty(),
                    MaskKind::Link => common.known.is_empty(),
                    _ => false,
                };
                if common.has_place() && !is_empty {
                    for (masks, place) in left.iter_mut().zip(places) {
                        if let Some(place) = place {
                            masks.remove(place);
                        }
                    }
                    found.push(common);
                }
            }
        }
        found
    }

    /// Texts that come and go in the same elements on several of these pages, wherever that is; none of those that are `known`. What only
    /// came may be an edit of all of them.
    pub fn common_texts(pages: &[Vec<Self>], known: &[Self]) -> Vec<Self> {
        let mut texts = BTreeMap::<u64, BTreeMap<u32, Vec<&Self>>>::new();
        for page in pages {
            let mut of_page = BTreeMap::<(u64, u32), &Self>::new();
            for mask in page.iter().filter(|mask| mask.kind == MaskKind::Rotates) {
                of_page.extend(mask.known.iter().map(|text| ((mask.path, *text), mask)));
                for text in &mask.came {
                    of_page.entry((mask.path, *text)).or_insert(mask);
                }
            }
            for ((path, text), mask) in of_page {
                texts.entry(path).or_default().entry(text).or_default().push(mask);
            }
        }
        let mut found = Vec::new();
        for (path, mut texts) in texts {
            let is_known = |text: u32| known.iter().any(|mask| mask.path == path && mask.knows(text));
            let goes = |text: u32, masks: &[&Self]| masks.iter().any(|mask| mask.knows(text));
            texts.retain(|text, masks| masks.len() >= SEVERAL && goes(*text, masks) && !is_known(*text));
            let Some(first) = texts.values().flatten().min_by_key(|mask| mask.since) else { continue };
            found.push(Self {
                path,
                around: Around::default(),
                kind: MaskKind::Rotates,
                lines: 0,
                patterns: Vec::new(),
                pages: texts.values().map(Vec::len).max().unwrap_or_default(),
                still: 0,
                hid: 0,
                since: first.since,
                under: Default::default(),
                example: first.example.clone(),
                came: Vec::new(),
                known: texts.into_keys().take(MOST_KNOWN).collect(),
            });
        }
        found
    }

    /// Whether there is anything by which its place is known.
    fn has_place(&self) -> bool {
        let Around { before, after, outer_before, outer_after, heading, on_page, .. } = self.around;
        let by_heading = self.kind == MaskKind::Value || self.path().is_item();
        self.kind.is_hidden()
            || [before, after, outer_before, outer_after].iter().any(|line| *line != 0)
            || (heading != 0 && by_heading)
            || (1..=self.lines).contains(&on_page)
            || self.patterns.iter().any(|pattern| pattern.label != 0)
    }

    /// One for the section, of those of several pages: by what is around it on several of them.
    fn of_section(masks: &[&Self]) -> Self {
        let mut common = masks[0].clone();
        masks[1..].iter().for_each(|mask| common.join(mask));
        let most = |of: fn(&Around) -> u32| {
            let mut counts = BTreeMap::<u32, usize>::new();
            for mask in masks {
                *counts.entry(of(&mask.around)).or_default() += 1;
            }
            let best = counts.into_iter().max_by_key(|(_, count)| *count);
            best.filter(|(_, count)| *count >= SEVERAL).map_or(0, |(hash, _)| hash)
        };
        common.patterns = Self::common_patterns(masks);
        if common.kind == MaskKind::Link {
            let known = |link: &u32| masks.iter().filter(|mask| mask.knows(*link)).count() >= SEVERAL;
            common.known.retain(known);
        }
        common.came = Vec::new();
        common.around = Around {
            before: most(|one| one.before),
            after: most(|one| one.after),
            outer_before: most(|one| one.outer_before),
            outer_after: most(|one| one.outer_after),
            heading: most(|one| one.heading),
            on_page: common.around.on_page,
            gaps: [0; 2],
        };
        let shows =
            |mask: &&&Self| mask.around.before == common.around.before && mask.around.heading == common.around.heading;
        if let Some(mask) = masks.iter().find(shows) {
            common.under.clone_from(&mask.under);
        }
        common.pages = masks.iter().map(|mask| mask.pages).sum();
        common
    }

    /// The lines of values that move on several pages, each with the words that move on several of them. Values that stay in them are others
    /// on each page.
    fn common_patterns(masks: &[&Self]) -> Vec<LinePattern> {
        let mut lines = BTreeMap::<(u32, u32), Vec<u64>>::new();
        for mask in masks {
            let mut of_page = BTreeMap::<(u32, u32), u64>::new();
            for LinePattern { shape, moving, label, .. } in mask.patterns() {
                *of_page.entry((shape, label)).or_default() |= moving;
            }
            for (line, moving) in of_page {
                lines.entry(line).or_default().push(moving);
            }
        }
        let pattern = |((shape, label), pages): ((u32, u32), Vec<u64>)| {
            let counts = |word: &u32| pages.iter().filter(|moving| **moving >> word & 1 == 1).count();
            let moving = (0..64).filter(|word| counts(word) >= SEVERAL).fold(0, |moving, word| moving | 1 << word);
            (moving != 0).then_some(LinePattern { shape, moving, label, rest: 0 })
        };
        lines.into_iter().filter_map(pattern).take(MOST_PATTERNS).collect()
    }

    /// What moves in a part of a host: that of all its pages, and what is known of it.
    pub fn of_part<'a>(known: impl Iterator<Item = &'a Self>, pages: impl Iterator<Item = &'a Self>) -> Vec<Self> {
        let mut masks: Vec<Self> = known.filter(|mask| mask.kind != MaskKind::Bytes).cloned().collect();
        for mask in pages.filter(|mask| mask.kind != MaskKind::Bytes) {
            let has_room = masks.len() < MOST_PLACES;
            match masks.iter_mut().find(|known| known.is_like(mask)) {
                Some(known) => {
                    known.join(mask);
                    known.pages += mask.pages;
                }
                None if has_room => masks.push(mask.clone()),
                None => {}
            }
        }
        masks
    }

    /// What moves in several of these parts of a host. Bytes do so in a section: on other pages of the host they may be all that changes.
    /// How many lines a page has in such elements says nothing of other sections.
    pub fn of_host(parts: &[Vec<Self>]) -> Vec<Self> {
        let mut common = Self::common(parts);
        for mask in &mut common {
            mask.around.on_page = 0;
        }
        common.retain(Self::has_place);
        common
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            super::region::tests::text,
            tests::{NOTHING, shown},
        },
        *,
    };

    #[test]
    fn what_moves_on_three_pages_moves_on_all() {
        let page = |name: &str, one: &str, other: &str| {
            Mask::between(
                &text(&format!("#{name}|{name} says|-{one}|end")),
                &text(&format!("#{name}|{name} says|-{other}|end")),
                4,
            )
        };
        let pages = [page("x", "one", "two"), page("y", "six", "one"), page("z", "ten", "six")];
        assert!(Mask::common(&pages[..2]).is_empty());
        let common = Mask::common(&pages);
        assert_eq!((common.len(), common[0].pages, common[0].since, common[0].known.len()), (1, 3, 4, 3));
        assert_eq!(shown(["#q|text|-ten|end", "#q|text|-other|end"], &common), NOTHING);
        assert_eq!(shown(["#q|text|-ten|foot", "#q|text|-other|foot"], &common), NOTHING, "the only one of its kind");
        assert_eq!(shown(["#q|text|-ten|foot|-ad", "#q|text|-other|foot|-ad"], &common), ["-ten>-other"]);
        assert_eq!(common[0].place(), "body > div");
    }

    #[test]
    fn a_label_tells_a_value_on_every_page() {
        let page = |name: &str| {
            Mask::between(&text(&format!("{name}|Visitors: 7|{name}")), &text(&format!("{name}|Visitors: 9|{name}")), 1)
        };
        let common = Mask::common(&["u", "v", "w"].map(page));
        assert_eq!(shown(["q|Visitors: 12|r", "q|Visitors: 1,000|s"], &common), ["r>s"]);
        assert_eq!(shown(["q|Readers: 12|r", "q|Readers: 13|r"], &common), ["Readers: 12>Readers: 13"]);
    }

    #[test]
    fn a_price_beside_a_counter_is_none_of_its_name() {
        let page = |price: u32| {
            let line = |sold: u32| text(&format!("{price}|Costs {price} euros, {sold} sold|{price}"));
            Mask::between(&line(7), &line(9), 1)
        };
        let mut pages = [1, 2, 3].map(page).to_vec();
        let common = Mask::common(&pages);
        assert_eq!(shown(["q|Costs 5 euros, 12 sold|r", "q|Costs 5 euros, 99 sold|s"], &common), ["r>s"]);
        assert_eq!(shown(["q|Costs 5 euros, 12 sold|r", "q|Costs 6 euros, 99 sold|r"], &common).len(), 1);
        // On one page the price moves too: on others it is news.
        pages.push(Mask::between(&text("q|Costs 5 euros, 1 sold|r"), &text("q|Costs 6 euros, 2 sold|r"), 1));
        let common = Mask::common(&pages);
        assert_eq!(shown(["q|Costs 5 euros, 12 sold|r", "q|Costs 6 euros, 99 sold|r"], &common).len(), 1);
    }

    #[test]
    fn what_comes_and_goes_on_three_pages_does_so_wherever_it_is() {
        let page = |name: &str, [one, other]: [&str; 2]| {
            Mask::between(&text(&format!("{name}|-{one}|{name}")), &text(&format!("{name}|-{other}|{name}")), 1)
        };
        let by_turns = [page("x", ["one", "two"]), page("y", ["two", "one"]), page("z", ["one", "two"])];
        let known = Mask::common_texts(&by_turns, &[]);
        assert_eq!(shown(["q|-one|r", "q|-two|r"], &known), NOTHING);
        assert!(Mask::common_texts(&by_turns, &known).is_empty() && Mask::common_texts(&by_turns[..2], &[]).is_empty());
        // All pages are edited between their two looks.
        let edited = ["x", "y", "z"].map(|name| page(name, ["old", "new"]));
        assert_eq!(shown(["q|-old|r", "q|-new|r"], &Mask::common_texts(&edited, &[])), ["-old>-new"]);
    }

    #[test]
    fn the_only_line_of_its_kind_is_a_place_in_a_section_and_none_on_a_host() {
        let page = |name: &str| {
            let page = |line: &str| text(&format!("{name}|-{line}|{name}"));
            Mask::between(&page(&format!("one {name}")), &page(&format!("two {name}")), 1)
        };
        let pages = ["x", "y", "z"].map(page);
        assert_eq!((Mask::common(&pages).len(), Mask::of_host(&pages).len()), (1, 0));
    }

    #[test]
    fn a_link_of_one_page_is_none_of_all() {
        let links = |texts: &[&str]| Mask::of_links(texts, 1).into_iter().collect::<Vec<_>>();
        let common = Mask::common(&[links(&["Log in"]), links(&["Log in", "Download"]), links(&["Log in"])]);
        assert_eq!((common.len(), common[0].hides_link("Log in"), common[0].hides_link("Download")), (1, true, false));
    }

    #[test]
    fn what_has_no_place_common_to_all_is_left_to_each_page() {
        let page = |name: &str| {
            let page = |line: &str| text(&format!("#h {name}|{name} a|{line}|{name} b|c|d"));
            Mask::between(&page(&format!("one {name}")), &page(&format!("two {name}")), 1)
        };
        assert!(Mask::common(&["x", "y", "z"].map(page)).is_empty());
    }
}
