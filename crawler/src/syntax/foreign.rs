//! Where a page is SVG or `MathML` and where it is HTML: the little of tree construction that changes how tags are
//! read.

/// The deepest nesting that is followed; what is nested deeper does not change the namespace any more. Browsers stop at
/// 512 elements of any kind; only namespace changes count here.
const DEEPEST: usize = 64;

/// The longest name that means something here: `annotation-xml`.
const LONGEST_NAME: usize = 14;

/// The open elements at which the namespace changes, outermost first, by lower-case name: `svg` and `math`, and the
/// integration points in them (HTML standard, 13.2.6.5 and 13.2.4.2).
#[derive(Debug, Default)]
pub(crate) struct Foreign {
    open: Vec<&'static [u8]>,
}

impl Foreign {
    /// Whether the current element is not HTML.
    pub(crate) fn is_foreign(&self) -> bool {
        matches!(self.open.last(), Some(&(b"svg" | b"math")))
    }

    /// Whether tags of any name may change the namespace.
    pub(crate) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Whether text here is part of a picture or a formula: of all that is not HTML, only what `foreignObject` holds is
    /// text as on the rest of the page.
    pub(crate) fn is_drawing(&self) -> bool {
        !matches!(self.open.last(), None | Some(&b"foreignobject"))
    }

    /// A start tag with this lower-case name: whether its element is HTML.
    pub(crate) fn start(&mut self, name: &[u8], self_closing: bool) -> bool {
        if self.is_foreign() && breaks_out(name) {
            self.break_out();
        }
        let html = !self.is_foreign() && !matches!(name, b"svg" | b"math");
        if !html && !self_closing {
            self.push(name);
        }
        html
    }

    /// An end tag with this lower-case name.
    pub(crate) fn end(&mut self, name: &[u8]) {
        if let Some(at) = self.open.iter().rposition(|open| *open == name) {
            self.open.truncate(at);
        } else if self.is_foreign() && matches!(name, b"p" | b"br") {
            self.break_out();
        }
    }

    fn push(&mut self, name: &[u8]) {
        let inside = self.open.last().copied().unwrap_or_default();
        if let (Some(change), true) = (namespace_change(inside, name), self.open.len() < DEEPEST) {
            self.open.push(change);
        }
    }

    fn break_out(&mut self) {
        while self.is_foreign() {
            self.open.pop();
        }
    }
}

/// Whether a start or end tag of this name, in any case, may change the namespace where one is open.
pub(crate) fn may_change_namespace(name: &[u8]) -> bool {
    let mut lower = [0; LONGEST_NAME];
    let Some(lower) = lower.get_mut(..name.len()) else { return false };
    for (to, from) in lower.iter_mut().zip(name) {
        *to = from.to_ascii_lowercase();
    }
    breaks_out(lower) || namespace_change(b"svg", lower).or_else(|| namespace_change(b"math", lower)).is_some()
}

/// The name to remember when an element called `name` starts in `inside` and what is in it belongs to another
/// namespace.
fn namespace_change(inside: &[u8], name: &[u8]) -> Option<&'static [u8]> {
    Some(match (inside, name) {
        (_, b"svg") => b"svg",
        (_, b"math") => b"math",
        (b"svg", b"foreignobject") => b"foreignobject",
        (b"svg", b"desc") => b"desc",
        (b"svg", b"title") => b"title",
        (b"math", b"mi") => b"mi",
        (b"math", b"mo") => b"mo",
        (b"math", b"mn") => b"mn",
        (b"math", b"ms") => b"ms",
        (b"math", b"mtext") => b"mtext",
        (b"math", b"annotation-xml") => b"annotation-xml",
        _ => return None,
    })
}

/// The start tags that close all foreign elements (HTML standard, 13.2.6.5; `font` is left out: it does so only with
/// some attributes).
fn breaks_out(name: &[u8]) -> bool {
    match name {
        [b'h', level] => matches!(level, b'1'..=b'6' | b'r'),
        [_] => matches!(name, b"b" | b"i" | b"p" | b"s" | b"u"),
        [_, _] => matches!(name, b"br" | b"dd" | b"dl" | b"dt" | b"em" | b"li" | b"ol" | b"tt" | b"ul"),
        _ => matches!(
            name,
            b"big"
                | b"blockquote"
                | b"body"
                | b"center"
                | b"code"
                | b"div"
                | b"embed"
                | b"head"
                | b"img"
                | b"listing"
                | b"menu"
                | b"meta"
                | b"nobr"
                | b"pre"
                | b"ruby"
                | b"small"
                | b"span"
                | b"strong"
                | b"strike"
                | b"sub"
                | b"sup"
                | b"table"
                | b"var"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn svg_ends_with_its_end_tag() {
        let mut foreign = Foreign::default();
        assert!(foreign.start(b"div", false));
        assert!(!foreign.start(b"svg", false));
        assert!(!foreign.start(b"style", true));
        assert!(foreign.is_foreign());
        foreign.end(b"svg");
        assert!(!foreign.is_open());
    }

    #[test]
    fn html_comes_back_in_integration_points_and_by_breaking_out() {
        let mut foreign = Foreign::default();
        foreign.start(b"svg", false);
        foreign.start(b"foreignobject", false);
        assert!(foreign.start(b"title", false));
        foreign.end(b"foreignobject");
        assert!(!foreign.start(b"path", false));
        assert!(foreign.start(b"div", false));
        assert!(!foreign.is_open());
        foreign.start(b"math", false);
        foreign.end(b"p");
        assert!(!foreign.is_open());
    }

    #[test]
    fn a_self_closing_svg_holds_nothing() {
        let mut foreign = Foreign::default();
        assert!(!foreign.start(b"svg", true));
        assert!(!foreign.is_open());
    }

    #[test]
    fn nesting_is_bounded() {
        let mut foreign = Foreign::default();
        for _ in 0..1000 {
            foreign.start(b"svg", false);
        }
        assert_eq!(foreign.open.len(), DEEPEST);
    }
}
