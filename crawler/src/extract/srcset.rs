//! What `srcset` names.

/// The URLs of a `srcset` (HTML standard 4.8.4.2.1), without their descriptors.
pub(super) fn candidates(set: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = set;
    std::iter::from_fn(move || {
        let begins = |byte: &u8| !byte.is_ascii_whitespace() && *byte != b',';
        rest = &rest[rest.iter().position(begins)?..];
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        let (url, after) = rest.split_at(end);
        let without_commas = url.iter().rposition(|byte| *byte != b',').map_or(0, |last| last + 1);
        rest = after;
        if without_commas == url.len() {
            let mut depth = 0_usize;
            let ends = |byte: &u8| {
                match byte {
                    b'(' => depth += 1,
                    b')' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                *byte == b',' && depth == 0
            };
            rest = rest.iter().position(ends).map_or(&[][..], |comma| &rest[comma..]);
        }
        Some(&url[..without_commas])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_srcset_is_split_as_browsers_do() {
        let split = |set: &str| {
            candidates(set.as_bytes()).map(|one| String::from_utf8_lossy(one).into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(split(" a.png 1x ,b.png 2x,, c.png"), ["a.png", "b.png", "c.png"]);
        assert_eq!(split("a.png, b,c.png 3x"), ["a.png", "b,c.png"]);
        assert_eq!(split("a.png (1x, 2x), b.png"), ["a.png", "b.png"]);
        assert_eq!(split(" , ,"), [""; 0]);
    }
}
