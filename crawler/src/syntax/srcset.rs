//! URLs in `srcset`.

use std::ops::Range;

/// Where the URLs of a `srcset` are (HTML standard, 4.8.4.2.1).
pub(crate) fn urls_of_source_set(set: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + set[at..].iter().position(|byte| !byte.is_ascii_whitespace() && *byte != b',')?;
        let length = set[start..].iter().position(u8::is_ascii_whitespace).unwrap_or(set.len() - start);
        at = start + length;
        let url = &set[start..at];
        let length = url.iter().rposition(|byte| *byte != b',').map_or(0, |last| last + 1);
        if length == url.len() {
            at += descriptors(&set[at..]);
        }
        Some(start..start + length)
    })
}

/// How long the descriptors are that follow a URL.
fn descriptors(set: &[u8]) -> usize {
    let mut is_inside = false;
    let ends = |byte: &u8| {
        match byte {
            b'(' => is_inside = true,
            b')' => is_inside = false,
            _ => {}
        }
        *byte == b',' && !is_inside
    };
    set.iter().position(ends).unwrap_or(set.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_found_as_browsers_find_them() {
        let split = |set: &'static str| urls_of_source_set(set.as_bytes()).map(|url| &set[url]).collect::<Vec<_>>();
        assert_eq!(split(" a.png 1x ,b.png 2x,, c.png"), ["a.png", "b.png", "c.png"]);
        assert_eq!(split("a.png, b,c.png 3x"), ["a.png", "b,c.png"]);
        assert_eq!(split("a.png (1x, 2x), b.png"), ["a.png", "b.png"]);
        assert_eq!(split("data:image/png;base64,AA== 1x, b.png"), ["data:image/png;base64,AA==", "b.png"]);
        assert_eq!(split(" , ,"), [""; 0]);
    }
}
