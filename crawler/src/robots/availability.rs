//! [`Availability`]: what the status of the robots.txt fetch means.

/// What follows from the answer to a robots.txt fetch (RFC 9309, 2.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Availability {
    /// The body holds the rules (2.3.1.1).
    Parse,
    /// There are no rules: everything may be fetched (2.3.1.3, "unavailable").
    AllowAll,
    /// Nobody knows the rules: nothing may be fetched until they are known (2.3.1.4, "unreachable").
    Unreachable,
}

/// What an HTTP status means. Redirects are the caller's to follow: a 3xx counts here as the one after the fifth
/// redirect, which may be taken for "unavailable" (2.3.1.2).
///
/// 429 is a client error to RFC 9309, but it says "not now", so it counts as unreachable; so does any number that is no
/// status of a final answer.
///
/// ```
/// use webloom::internals::robots::{Availability, availability};
/// assert_eq!(availability(200), Availability::Parse);
/// assert_eq!(availability(404), Availability::AllowAll);
/// assert_eq!(availability(503), Availability::Unreachable);
/// ```
pub fn availability(status: u16) -> Availability {
    match status {
        200..=299 => Availability::Parse,
        429 => Availability::Unreachable,
        300..=499 => Availability::AllowAll,
        _ => Availability::Unreachable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_status_has_its_meaning() {
        let cases = [
            (Availability::Parse, &[200, 204, 206][..]),
            (Availability::AllowAll, &[301, 304, 308, 400, 401, 403, 404, 410, 451][..]),
            (Availability::Unreachable, &[429, 500, 502, 503, 504, 599, 100, 0, 600, u16::MAX][..]),
        ];
        for (meaning, statuses) in cases {
            for status in statuses {
                assert_eq!(availability(*status), meaning, "{status}");
            }
        }
    }
}
