//! What moves by itself: the masks of sections and pages, and what each look adds to them.
//!
//! Owns: the tables `mask` and `second_look`, and the column `page_state.masks`.
//!
//! Invariant: masks follow from second looks and visits that were committed. What is only asked, is not written.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, OptionalExtension, Result, params};

use super::{Finder, dates, places, standings, still_bytes, texts};
use crate::{
    changes::{ChangedLines, Edit, Explained, LinkEdit, Mask, MaskKind, PageNoise, Standing, alike, edits},
    store::NoiseFigures,
    text::Text,
};

/// Lines of a page that are counted: one that changed more is reported by itself.
pub(super) const MOST_LINES: usize = 2_000;

/// Pages of a section whose masks are compared with one another, at most.
const MOST_PAGES: usize = 200;

/// The same of one of which nothing new is known.
const FEW_PAGES: usize = 3;

/// Sections of a host whose masks are compared with one another, at most.
const MOST_SECTIONS: usize = 100;

/// Masks of a section, at most.
const MOST_MASKS: usize = 100;

/// Sequences in a row in which nothing moved at the place of a mask of a section, after which it is forgotten.
const STILL: u32 = 5;

/// The masks of a section, or those of a whole host.
#[derive(Default)]
struct SectionMasks {
    address: String,
    /// Each with the number of its row.
    masks: Vec<(i64, Mask)>,
    /// Whether pages of it were looked at, and at which masks something moved.
    looked: bool,
    moved: Vec<bool>,
    /// Whether bytes moved on a page of it whose text was the same.
    bytes_moved: bool,
    /// Whether pages of it have masks that are new.
    learns: bool,
}

impl SectionMasks {
    fn has_moving_bytes(&self) -> bool {
        self.masks.iter().any(|(_, mask)| mask.kind() == MaskKind::Bytes)
    }
}

/// A page from which something common may be learnt, and how many masks it had.
struct LearntPage {
    url: i64,
    noise: PageNoise,
    before: usize,
}

/// What is known while visits are looked at.
pub(super) struct NoiseBook {
    sections: HashMap<i64, SectionMasks>,
    /// Whether what is learnt is kept.
    keeps: bool,
    figures: NoiseFigures,
}

/// A page that is looked at.
#[derive(Clone, Copy)]
pub(super) struct LookedPage<'a> {
    pub(super) url: i64,
    /// Of its host and its section.
    places: [i64; 2],
    pub(super) address: &'a str,
}

impl<'a> LookedPage<'a> {
    pub(super) fn of(url: i64, address: &'a str) -> Self {
        Self { url, places: places::places(address), address }
    }

    pub(super) fn host(self) -> i64 {
        self.places[0]
    }

    pub(super) fn section(self) -> i64 {
        self.places[1]
    }

    /// Where its masks are kept that are not its own: those of its section, and those of its host.
    fn shared(self) -> [i64; 2] {
        [self.section(), places::all_sections(self.host())]
    }
}

/// What a page says, and what of it moves.
pub(super) struct PageText {
    pub(super) text: Text,
    pub(super) section: i64,
    pub(super) masks: Vec<Mask>,
}

/// What a look at a text comes to.
#[derive(Default)]
pub(super) struct JudgedText {
    /// What no mask hides.
    pub(super) lines: ChangedLines,
    /// Links that lead elsewhere, and are known not to do so by themselves.
    pub(super) links: Vec<LinkEdit>,
    /// The same for changes that are nearly the same.
    pub(super) alike: u64,
    /// Whether there is any of it.
    pub(super) differs: bool,
    /// Whether nothing else is there than what moves.
    pub(super) is_whole: bool,
    /// The visit before something appeared that has turned out to stay.
    pub(super) stayed: Option<i64>,
}

/// A link edit as lines of a text.
fn link_lines(edit: &LinkEdit) -> [String; 2] {
    edit.targets.each_ref().map(|target| format!("[{}]({target})", edit.text))
}

impl NoiseBook {
    /// With the masks of all sections.
    pub(super) fn read(connection: &Connection, keeps: bool) -> Result<Self> {
        let mut sections = HashMap::<i64, SectionMasks>::new();
        let mut select = connection.prepare("SELECT id, section, address, mask FROM mask ORDER BY id")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let section = sections.entry(row.get(1)?).or_default();
            section.address = row.get(2)?;
            section.masks.extend(
                mask(row.get_ref(3)?.as_str()?)
                    .map(|mask| (row.get(0), mask))
                    .and_then(|(id, mask)| Some((id.ok()?, mask))),
            );
            section.moved.resize(section.masks.len(), false);
        }
        Ok(Self { sections, keeps, figures: NoiseFigures::default() })
    }

    /// Bytes of a page moved that are not shown: whether it is known of it, or of all in its section, that they do.
    pub(super) fn bytes_moved(&mut self, connection: &Connection, page: LookedPage<'_>) -> Result<bool> {
        if let Some(section) = self.sections.get_mut(&page.section()).filter(|section| section.has_moving_bytes()) {
            section.bytes_moved = true;
            return Ok(true);
        }
        Ok(of_page(connection, page.url)?.has_moving_bytes())
    }

    /// The bytes of a page were others at a second look, and its text was not.
    pub(super) fn bytes_move(&mut self, finder: &Finder<'_>, page: LookedPage<'_>, standing: &Standing) -> Result<()> {
        let mut noise = of_page(finder.connection, page.url)?;
        if noise.has_moving_bytes() {
            return Ok(());
        }
        noise.masks.push(Mask::of_bytes(finder.current.sequence));
        self.learns(page);
        self.save(finder.connection, page.url, &noise, standing)
    }

    /// What is between two texts of a page, for whoever looks at it and has no second look.
    pub(super) fn left(
        &self,
        connection: &Connection,
        page: LookedPage<'_>,
        before: &Text,
        now: &Text,
    ) -> Result<bool> {
        let masks = self.of(connection, page)?;
        Ok(Explained::of(before, now, &masks).edits.is_empty())
    }

    /// Takes in a look at a page that had one text and has another.
    pub(super) fn look(
        &mut self,
        finder: &Finder<'_>,
        (page, visit, standing): (LookedPage<'_>, i64, &Standing),
        (before, now): (&Text, &Text),
        link_edits: &[LinkEdit],
        looked_twice: bool,
    ) -> Result<JudgedText> {
        let mut noise = of_page(finder.connection, page.url)?;
        let known = noise.clone();
        let mut masks = self.masks(&noise, page);
        let mut explained = Explained::of(before, now, &masks);
        if !explained.edits.is_empty() {
            let dates = dates::moving(finder, (page.url, visit), now, &masks)?;
            if !dates.is_empty() {
                Mask::add_to(&mut noise.masks, dates);
                masks = self.masks(&noise, page);
                explained = Explained::of(before, now, &masks);
            }
        }
        let hidden = explained.hidden() as u64;
        let left_edits = explained.left_links(link_edits, &masks);
        let led: Vec<[String; 2]> = left_edits.iter().map(|edit| link_lines(edit)).collect();
        explained.edits.extend(led.iter().map(|[before, after]| Edit { removed: vec![before], added: vec![after] }));
        let differs = !explained.edits.is_empty();
        let lines = ChangedLines::of(&explained.edits, MOST_LINES);
        let left: usize = explained.edits.iter().map(|edit| edit.removed.len() + edit.added.len()).sum();
        if looked_twice {
            let all: usize = edits(before, now).iter().map(|edit| edit.removed.len() + edit.added.len()).sum();
            self.figures.looked += all as u64;
            self.figures.withdrawn += all.saturating_sub(left) as u64;
        }
        self.figures.hidden += hidden;
        self.hide(page, noise.masks.len(), &explained);
        let stayed = standing.good.and_then(|good| noise.look(now, &explained, good, &masks));
        noise.forget_still();
        if noise != known {
            self.save(finder.connection, page.url, &noise, standing)?;
        }
        Ok(JudgedText {
            lines,
            links: left_edits.into_iter().cloned().collect(),
            alike: alike(&explained.edits),
            differs,
            is_whole: explained.is_whole && !differs,
            stayed,
        })
    }

    /// Takes in a look at a page that had the text that it had; the visit before something appeared that has turned out to stay.
    pub(super) fn same_text(
        &mut self,
        finder: &Finder<'_>,
        page: LookedPage<'_>,
        standing: &Standing,
        same_bytes: bool,
    ) -> Result<Option<i64>> {
        let mut noise = of_page(finder.connection, page.url)?;
        if noise.is_empty() {
            return Ok(None);
        }
        let masks = if noise.waits() { self.masks(&noise, page) } else { Vec::new() };
        let stayed = noise.same_text(standing.good.unwrap_or_default(), &masks, same_bytes);
        noise.forget_still();
        self.save(finder.connection, page.url, &noise, standing)?;
        Ok(stayed)
    }

    /// Two looks at a page followed one another.
    pub(super) fn learn_from(
        &mut self,
        finder: &Finder<'_>,
        page: LookedPage<'_>,
        standing: &Standing,
        mut new: Vec<Mask>,
    ) -> Result<()> {
        let mut noise = of_page(finder.connection, page.url)?;
        let own = self.masks(&PageNoise::default(), page);
        new.retain(|mask| !own.iter().any(|known| known.covers(mask)));
        let known = noise.clone();
        if Mask::add_to(&mut noise.masks, new) {
            self.learns(page);
        }
        if noise != known {
            self.save(finder.connection, page.url, &noise, standing)?;
        }
        Ok(())
    }

    /// What is compared of the text of a visit, without what moves; `None` where it is not kept.
    pub(super) fn still_text(&self, finder: &Finder<'_>, visit: Option<i64>) -> Result<Option<Text>> {
        Ok(self.page_text(finder, visit)?.map(|page| Mask::strip(&page.text, &page.masks)))
    }

    /// What is compared of the text of a visit, and the masks that count for it; `None` where it is not kept.
    pub(super) fn page_text(&self, finder: &Finder<'_>, visit: Option<i64>) -> Result<Option<PageText>> {
        let mut select = finder.connection.prepare_cached(
            "SELECT visit.url, url.url, visit.text FROM visit JOIN url ON url.id = visit.url WHERE visit.id = ?",
        )?;
        let mut rows = select.query([visit])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let address = row.get_ref(1)?.as_str()?;
        let page = LookedPage::of(row.get(0)?, address);
        let Some((_, text)) = texts::placed(finder.connection, row.get(2)?)? else { return Ok(None) };
        let masks = self.of(finder.connection, page)?;
        Ok(Some(PageText { text: finder.rules.ignore.apply(&text), section: page.section(), masks }))
    }

    /// The masks that count for a page.
    pub(super) fn of(&self, connection: &Connection, page: LookedPage<'_>) -> Result<Vec<Mask>> {
        Ok(self.masks(&of_page(connection, page.url)?, page))
    }

    /// The masks of a page, and behind them those of its section and of its host.
    fn masks(&self, noise: &PageNoise, page: LookedPage<'_>) -> Vec<Mask> {
        let shared = page.shared().into_iter().filter_map(|place| self.sections.get(&place));
        let shared = shared.flat_map(|section| &section.masks).map(|(_, mask)| mask);
        noise.masks.iter().chain(shared).cloned().collect()
    }

    fn learns(&mut self, page: LookedPage<'_>) {
        let addresses = [places::section_address(page.address), &places::host_address(page.address)];
        for (place, address) in page.shared().into_iter().zip(addresses) {
            let section = self.sections.entry(place).or_default();
            section.learns = true;
            if section.address.is_empty() {
                address.clone_into(&mut section.address);
            }
        }
    }

    /// Notes at which masks of the section and the host of a page something moved. `own` is how many are the page's. They learn nothing from a
    /// page that differs: what is in its place may say the same around.
    fn hide(&mut self, page: LookedPage<'_>, own: usize, explained: &Explained<'_>) {
        let mut first = own;
        let vanished = explained.vanished();
        for place in page.shared() {
            let Some(section) = self.sections.get_mut(&place) else { continue };
            section.looked = true;
            for (number, went) in &explained.moved {
                let Some(number) = number.checked_sub(first) else { continue };
                if let Some((_, mask)) = section.masks.get_mut(number) {
                    section.moved[number] = true;
                    mask.hid += went.len().max(1) as u64;
                    if mask.kind() == MaskKind::Rotates && explained.edits.is_empty() {
                        mask.learn(went.iter().copied().filter(|line| !vanished.contains(line)));
                    }
                }
            }
            first += section.masks.len();
        }
    }

    fn save(&self, connection: &Connection, url: i64, noise: &PageNoise, standing: &Standing) -> Result<()> {
        if !self.keeps {
            return Ok(());
        }
        if noise.is_empty() {
            connection.prepare_cached("UPDATE page_state SET masks = NULL WHERE url = ?")?.execute([url])?;
            return Ok(());
        }
        if standings::load(connection, url)?.is_none() {
            standings::put(connection, url, standing)?;
        }
        let kept = serde_json::to_string(noise).expect("masks are plain JSON");
        connection
            .prepare_cached("UPDATE page_state SET masks = ? WHERE url = ?")?
            .execute(params![kept, url])
            .map(|_| ())
    }

    /// Writes at which masks something moved at these visits, and what was counted.
    pub(super) fn finish(mut self, finder: &Finder<'_>, visits: (i64, i64)) -> Result<()> {
        let connection = finder.connection;
        let have_bytes = self.sections.iter().filter(|(_, section)| section.has_moving_bytes());
        let have_bytes: Vec<i64> = have_bytes.map(|(place, _)| *place).collect();
        let still = still_bytes::sections(connection, visits, &have_bytes)?;
        let mut update = connection.prepare("UPDATE mask SET mask = ? WHERE id = ?")?;
        let mut delete = connection.prepare("DELETE FROM mask WHERE id = ?")?;
        for (place, section) in &mut self.sections {
            for ((id, mask), moved) in section.masks.iter_mut().zip(&section.moved) {
                let (moved, was_seen) = match mask.kind() {
                    MaskKind::Bytes => (section.bytes_moved, section.bytes_moved || still.contains(place)),
                    _ => (*moved, section.looked),
                };
                if !was_seen {
                    continue;
                }
                // Between sequences few pages are looked at, and often.
                mask.still = if moved { 0 } else { mask.still + u32::from(!finder.current.revisited) };
                if mask.still >= STILL {
                    delete.execute([*id])?;
                } else {
                    update.execute(params![serde_json::to_string(mask).expect("a mask is plain JSON"), *id])?;
                }
            }
        }
        self.figures.add_to(connection, finder.current.sequence)
    }

    /// Makes masks of the hosts of what is common to their sections, and of the sections of what is common to their pages; it is no mask of
    /// these any more.
    pub(super) fn learn_common(&mut self, connection: &Connection) -> Result<()> {
        if !self.sections.values().any(|section| section.learns) {
            return Ok(());
        }
        let mut hosts = BTreeMap::<i64, BTreeMap<i64, Vec<LearntPage>>>::new();
        for section in self.sections.iter().filter(|(_, section)| !section.masks.is_empty()) {
            let page = LookedPage::of(0, &section.1.address);
            let sections = hosts.get(&page.host()).map_or(0, BTreeMap::len);
            let learns = self.learns_at(places::all_sections(page.host()));
            if *section.0 == page.section() && learns && sections < MOST_SECTIONS {
                hosts.entry(page.host()).or_default().entry(page.section()).or_default();
            }
        }
        let mut select = connection.prepare(
            "SELECT url.id, url.url, masks FROM page_state CROSS JOIN url ON url.id = page_state.url WHERE masks IS NOT NULL ORDER BY url.id",
        )?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let page = LookedPage::of(row.get(0)?, row.get_ref(1)?.as_str()?);
            if !self.learns_at(places::all_sections(page.host())) {
                continue;
            }
            let sections = hosts.entry(page.host()).or_default();
            let is_new = !sections.contains_key(&page.section());
            let learns = self.learns_at(page.section());
            if is_new && sections.len() >= MOST_SECTIONS && !learns {
                continue;
            }
            let pages = sections.entry(page.section()).or_default();
            if pages.len() < if learns { MOST_PAGES } else { FEW_PAGES } {
                let noise = page_noise(row.get_ref(2)?.as_str()?);
                pages.push(LearntPage { url: page.url, before: noise.masks.len(), noise });
            }
        }
        for (host, mut sections) in hosts {
            let place = places::all_sections(host);
            let of_pages: Vec<_> = sections.values().flatten().map(|page| page.noise.masks.clone()).collect();
            let parts = sections.iter().map(|(section, pages)| self.of_section(*section, pages));
            let parts: Vec<_> = parts.take(MOST_SECTIONS).collect();
            let common = self.add_common(connection, place, Mask::of_host(&parts))?;
            let known: Vec<Mask> =
                self.sections[&place].masks.iter().map(|(_, mask)| mask).chain(&common).cloned().collect();
            self.add_common(connection, place, Mask::common_texts(&of_pages, &known))?;
            forget_covered(sections.values_mut().flatten(), &common);
            for (section, pages) in &mut sections {
                let of_pages: Vec<_> = pages.iter().map(|page| page.noise.masks.clone()).collect();
                let common = self.add_common(connection, *section, Mask::common(&of_pages))?;
                forget_covered(pages.iter_mut(), &common);
            }
            for page in sections.values().flatten().filter(|page| page.noise.masks.len() < page.before) {
                self.keep(connection, page.url, &page.noise)?;
            }
        }
        Ok(())
    }

    fn learns_at(&self, place: i64) -> bool {
        self.sections.get(&place).is_some_and(|section| section.learns)
    }

    /// What moves in a section, on any of its pages.
    fn of_section(&self, section: i64, pages: &[LearntPage]) -> Vec<Mask> {
        let known = self.sections.get(&section).into_iter().flat_map(|section| &section.masks);
        Mask::of_part(known.map(|(_, mask)| mask), pages.iter().flat_map(|page| &page.noise.masks))
    }

    /// Keeps what is common to the parts of a section or a host; what of it was not known.
    fn add_common(&self, connection: &Connection, place: i64, mut common: Vec<Mask>) -> Result<Vec<Mask>> {
        let Some(section) = self.sections.get(&place).filter(|section| section.learns) else { return Ok(Vec::new()) };
        common.retain(|mask| !section.masks.iter().any(|(_, known)| known.covers(mask)));
        common.truncate(MOST_MASKS.saturating_sub(section.masks.len()));
        let mut insert = connection.prepare_cached("INSERT INTO mask (section, address, mask) VALUES (?, ?, ?)")?;
        for mask in &common {
            let kept = serde_json::to_string(mask).expect("a mask is plain JSON");
            insert.execute(params![place, section.address, kept])?;
        }
        Ok(common)
    }

    fn keep(&self, connection: &Connection, url: i64, noise: &PageNoise) -> Result<()> {
        match standings::load(connection, url)? {
            Some(standing) => {
                self.save(connection, url, noise, &standing)?;
                standings::save(connection, url, &standing)
            }
            None => Ok(()),
        }
    }
}

/// Takes from pages what masks of all of them hide.
fn forget_covered<'p>(pages: impl Iterator<Item = &'p mut LearntPage>, common: &[Mask]) {
    for page in pages {
        page.noise.masks.retain(|mask| !common.iter().any(|common| common.covers(mask)));
    }
}

/// What is remembered of a page.
pub(super) fn of_page(connection: &Connection, url: i64) -> Result<PageNoise> {
    let mut select = connection.prepare_cached("SELECT masks FROM page_state WHERE url = ?")?;
    let kept: Option<String> = select.query_row([url], |row| row.get(0)).optional()?.flatten();
    Ok(kept.map(|kept| page_noise(&kept)).unwrap_or_default())
}

/// What is damaged is nothing.
pub(super) fn page_noise(kept: &str) -> PageNoise {
    serde_json::from_str(kept).unwrap_or_default()
}

pub(super) fn mask(kept: &str) -> Option<Mask> {
    serde_json::from_str(kept).ok()
}
