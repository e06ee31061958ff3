//! The ordinary pages: a tree, so that each page can be reached, with random links across it. Addresses have every
//! common form.

use super::{
    PracticeSite,
    file_kind::FileKind,
    spelling::{Anchor, Speller, mix, plain_number},
};

/// Children of a page in the tree.
pub(super) const FAN_OUT: u32 = 4;

/// The address of page `number`: a plain name, a folder, a query, letters beyond ASCII, a space.
pub(super) fn path(site: &PracticeSite, number: u32) -> String {
    let section = number % 7;
    match mix(site.shape.seed, number, 0) % 16 {
        0..=7 => format!("/s{section}/p{number}.html"),
        8 | 9 => format!("/s{section}/d{number}/"),
        10 | 11 => format!("/view?id={number}&lang=en"),
        12 => format!("/s{section}/stra%C3%9Fe-{number}.html"),
        13 => format!("/s{section}/two%20words-{number}"),
        14 => format!("/s{section}/page.html?v={number}"),
        _ => format!("/s{section}/down/there/p{number}"),
    }
}

/// The page that has this address, if one does.
pub(super) fn number(site: &PracticeSite, path: &str) -> Option<u32> {
    let end = path.rfind(|c: char| c.is_ascii_digit())? + 1;
    let start = path[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |before| before + 1);
    let number = plain_number(&path[start..end]).filter(|number| *number < site.shape.pages)?;
    (self::path(site, number) == path).then_some(number)
}

/// The links of page `number`, in page order.
pub(super) fn anchors(site: &PracticeSite, number: u32) -> Vec<Anchor> {
    let mut speller = Speller::new(site, number, base_folder(site, number));
    let pages = site.shape.pages;
    let children = (1..=FAN_OUT).filter_map(|child| number.checked_mul(FAN_OUT)?.checked_add(child));
    let random = (0..site.shape.links_per_page).map(|at| mix(site.shape.seed, number, 100 + at) % pages);
    let mut anchors: Vec<_> = children
        .chain([number / FAN_OUT, (number + 1) % pages, number])
        .filter(|target| *target < pages)
        .chain(random)
        .map(|target| speller.anchor(path(site, target)))
        .collect();
    anchors.extend(sights(site, number).into_iter().map(|target| speller.anchor(target)));
    anchors.extend(elsewhere(number));
    anchors
}

/// The `<base href>` of page `number`: every tenth has one.
pub(super) fn base(number: u32) -> Option<String> {
    (number % 10 == 4).then(|| format!("/s{}/elsewhere/", number % 5))
}

/// The folder that relative links of page `number` start from.
fn base_folder(site: &PracticeSite, number: u32) -> String {
    let from = base(number).unwrap_or_else(|| path(site, number));
    let without_query = from.split('?').next().unwrap_or_default();
    let end = without_query.rfind('/').map_or(0, |slash| slash + 1);
    without_query[..end].to_owned()
}

/// What is not an ordinary page: broken and moved addresses, files, forbidden pages.
pub(super) fn sights(site: &PracticeSite, number: u32) -> Vec<String> {
    let kind = FileKind::ALL[number as usize / 8 % FileKind::ALL.len()];
    let moved = mix(site.shape.seed, number, 1) % site.shape.pages;
    [
        (number % 25 == 7).then(|| format!("/missing/{number}")),
        (number % 50 == 9).then(|| format!("/gone/{number}")),
        (number % 10 == 3).then(|| format!("/moved/{moved}")),
        (number % 8 == 2).then(|| format!("/files/{number}{}", kind.ending())),
        (number % 40 == 11).then(|| format!("/private/{number}.html")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn elsewhere(number: u32) -> Option<Anchor> {
    let href = match number % 24 {
        5 => format!("http://other.invalid/{number}"),
        17 => format!("mailto:page-{number}@other.invalid"),
        _ => return None,
    };
    Some(Anchor { href, target: None })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use url::{Position, Url};

    use super::*;
    use crate::Shape;

    #[test]
    fn every_number_has_its_own_address() {
        let site = PracticeSite::new(Shape::default());
        let paths: BTreeSet<_> = (0..site.shape.pages).map(|at| path(&site, at)).collect();
        assert_eq!(paths.len(), 3000);
        for at in 0..site.shape.pages {
            assert_eq!(number(&site, &path(&site, at)), Some(at));
        }
        assert_eq!(number(&site, "/s0/p3000.html"), None);
        assert_eq!(number(&site, "/s9/p7.html"), None);
    }

    #[test]
    fn every_link_names_its_target() {
        for seed in 0..3 {
            let site = PracticeSite::new(Shape { seed, pages: 400, ..Shape::default() }).at("http://127.0.0.1:8080");
            for at in 0..site.shape.pages {
                let page = Url::parse(&format!("{}{}", site.origin, path(&site, at))).unwrap();
                let base = base(at).map_or(page.clone(), |base| page.join(&base).unwrap());
                for anchor in anchors(&site, at) {
                    let Some(target) = anchor.target else { continue };
                    let named = base.join(&anchor.href).unwrap();
                    assert_eq!(named[Position::BeforePath..Position::AfterQuery], target, "{}", anchor.href);
                }
            }
        }
    }
}
