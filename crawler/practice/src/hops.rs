//! The redirects: of every status, in chains, in a loop, to a fragment, to errors, to forbidden pages and to other
//! hosts.

use super::{PracticeSite, articles, spelling::plain_number};

/// One redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hop {
    /// 301, 302, 303, 307 or 308.
    pub(super) status: u16,
    /// The `Location` header.
    pub(super) location: String,
    /// The path and query it names on this site; `None` leads elsewhere.
    pub(super) target: Option<String>,
}

/// A redirect written by hand; `{origin}` is in the place of the site's own.
#[derive(Debug)]
struct Written {
    path: &'static str,
    status: u16,
    location: &'static str,
    target: Option<&'static str>,
}

const fn hop(path: &'static str, status: u16, location: &'static str, target: &'static str) -> Written {
    Written { path, status, location, target: Some(target) }
}

static WRITTEN: &[Written] = &[
    hop("/hard/moved/301", 301, "/found/moved-301", "/found/moved-301"),
    hop("/hard/moved/302", 302, "{origin}/found/moved-302", "/found/moved-302"),
    hop("/hard/moved/303", 303, "../../found/moved-303", "/found/moved-303"),
    hop("/hard/moved/307", 307, "?from=307", "/hard/moved/307?from=307"),
    hop("/hard/moved/307?from=307", 307, "/found/moved-307", "/found/moved-307"),
    hop("/hard/moved/308", 308, "/found/moved-308#part", "/found/moved-308"),
    hop("/hard/moved/chain-1", 301, "chain-2", "/hard/moved/chain-2"),
    hop("/hard/moved/chain-2", 302, "chain-3", "/hard/moved/chain-3"),
    hop("/hard/moved/chain-3", 307, "chain-4", "/hard/moved/chain-4"),
    hop("/hard/moved/chain-4", 308, "/found/chain-end", "/found/chain-end"),
    hop("/hard/moved/loop-a", 302, "loop-b", "/hard/moved/loop-b"),
    hop("/hard/moved/loop-b", 302, "loop-a", "/hard/moved/loop-a"),
    hop("/hard/moved/home", 301, "/", "/"),
    hop("/hard/moved/lost", 301, "/missing/moved", "/missing/moved"),
    hop("/hard/moved/private", 301, "/private/moved", "/private/moved"),
    hop("/hard/folder", 301, "{origin}/hard/folder/", "/hard/folder/"),
    Written { path: "/hard/moved/away", status: 301, location: "http://other.invalid/landing", target: None },
];

/// The redirect at `path`: one written by hand, or `/moved/N`, which leads to the ordinary page N.
pub(super) fn at(site: &PracticeSite, path: &str) -> Option<Hop> {
    if let Some(number) = path.strip_prefix("/moved/") {
        return plain_number(number).filter(|number| *number < site.shape.pages).map(|number| to_article(site, number));
    }
    let written = WRITTEN.iter().find(|written| written.path == path)?;
    Some(Hop {
        status: written.status,
        location: written.location.replace("{origin}", &site.origin),
        target: written.target.map(str::to_owned),
    })
}

/// Where the redirects written by hand are.
pub(super) fn paths() -> impl Iterator<Item = &'static str> {
    WRITTEN.iter().map(|written| written.path)
}

fn to_article(site: &PracticeSite, number: u32) -> Hop {
    let target = articles::path(site, number);
    let location = match number % 3 {
        0 => target.clone(),
        1 => format!("{}{target}", site.origin),
        _ => format!("..{target}#moved"),
    };
    Hop { status: [301, 302, 307, 308][number as usize % 4], location, target: Some(target) }
}

#[cfg(test)]
mod tests {
    use url::{Position, Url};

    use super::*;
    use crate::Shape;

    #[test]
    fn every_location_names_its_target() {
        let site = PracticeSite::new(Shape::demo()).at("http://127.0.0.1:8080");
        let moved = (0..site.shape.pages).map(|number| format!("/moved/{number}"));
        for path in moved.chain(paths().map(str::to_owned)) {
            let hop = at(&site, &path).unwrap();
            let named = Url::parse(&format!("{}{path}", site.origin)).unwrap().join(&hop.location).unwrap();
            match hop.target {
                Some(target) => assert_eq!(named[..Position::AfterQuery], format!("{}{target}", site.origin)),
                None => assert_ne!(named.origin().ascii_serialization(), site.origin),
            }
        }
    }
}
