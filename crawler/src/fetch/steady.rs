//! How long a page is expected to stay unchanged, by the headers of its answer.

use std::time::{Duration, SystemTime};

use super::FetchResponse;
use crate::time::Moment;

impl FetchResponse {
    /// For how many seconds the page may be expected to stay as it is, above 0; `None` where no header says.
    ///
    /// That is the time for which its copy may be used without asking (RFC 9111 4.2.1: `max-age`, or else `Expires` less `Date`)
    /// or that has passed since it was modified (`Last-Modified`), whichever is longer: a page that has stayed for a year is
    /// likely to stay for more than the minute for which it may be cached. What must not be kept (`no-store`) says nothing of
    /// when it changes, and `max-age=0` and `no-cache` only ask to be asked.
    pub fn steady_for(&self, now: Moment) -> Option<u32> {
        let lifetime = match self.cache_control() {
            CacheControl::NotKept => return None,
            CacheControl::MaxAge(seconds) => Some(Duration::from_secs(seconds)),
            CacheControl::AskAgain => None,
            CacheControl::Silent => {
                let sent = self.date("date").unwrap_or(now);
                self.date("expires").map(|expires| expires.since(sent))
            }
        };
        let unmodified = self.date("last-modified").map(|modified| now.since(modified));
        let seconds = lifetime.max(unmodified)?.as_secs();
        Some(u32::try_from(seconds).unwrap_or(u32::MAX)).filter(|seconds| *seconds > 0)
    }

    fn date(&self, name: &str) -> Option<Moment> {
        let date = httpdate::parse_http_date(self.header(name)?.trim()).ok()?;
        Some(Moment::EPOCH + date.duration_since(SystemTime::UNIX_EPOCH).ok()?)
    }

    fn cache_control(&self) -> CacheControl {
        let lines = self.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("cache-control"));
        let lines = lines.filter_map(|(_, value)| std::str::from_utf8(value).ok());
        let mut found = CacheControl::Silent;
        for directive in lines.flat_map(|line| line.split(',')).map(str::trim) {
            let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
            if name.eq_ignore_ascii_case("no-store") {
                return CacheControl::NotKept;
            } else if name.eq_ignore_ascii_case("no-cache") {
                found = CacheControl::AskAgain;
            } else if name.eq_ignore_ascii_case("max-age") && matches!(found, CacheControl::Silent) {
                let seconds = value.trim_matches('"').parse().unwrap_or(0);
                found = if seconds == 0 { CacheControl::AskAgain } else { CacheControl::MaxAge(seconds) };
            }
        }
        found
    }
}

/// What `Cache-Control` says of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CacheControl {
    Silent,
    NotKept,
    AskAgain,
    /// In seconds, above 0.
    MaxAge(u64),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::WebUrl;

    /// 2026-11-22T12:00:00Z.
    const NOW: Duration = Duration::from_hours(498_708);

    fn steady(headers: &[(&str, &str)]) -> Option<u32> {
        let response = FetchResponse::new(WebUrl::parse("http://h/").unwrap(), 200);
        let headers = headers.iter().map(|(name, value)| ((*name).into(), value.as_bytes().into())).collect();
        FetchResponse { headers, ..response }.steady_for(Moment::EPOCH + NOW)
    }

    #[test]
    fn the_longer_of_lifetime_and_age_counts() {
        let modified = ("last-modified", "Sun, 22 Nov 2026 11:00:00 GMT");
        for (headers, expected) in [
            (&[][..], None),
            (&[("cache-control", "public, Max-Age=600")], Some(600)),
            (&[("cache-control", "max-age=\"60\""), ("expires", "Sun, 22 Nov 2026 13:00:00 GMT")], Some(60)),
            (&[("expires", "Sun, 22 Nov 2026 13:00:00 GMT")], Some(3600)),
            (&[("expires", "Sun, 22 Nov 2026 13:00:00 GMT"), ("date", "Sun, 22 Nov 2026 12:30:00 GMT")], Some(1800)),
            (&[("expires", "0")], None),
            (&[("expires", "Sun, 22 Nov 2026 11:00:00 GMT")], None),
            (&[modified], Some(3600)),
            (&[modified, ("cache-control", "max-age=600")], Some(3600)),
            (&[modified, ("cache-control", "max-age=99999999999")], Some(u32::MAX)),
            (&[modified, ("cache-control", "no-cache")], Some(3600)),
            (&[modified, ("cache-control", "no-store, max-age=600")], None),
            (&[modified, ("cache-control", "max-age=600"), ("cache-control", "no-store")], None),
            (&[("cache-control", "max-age=0"), ("expires", "Sun, 22 Nov 2026 13:00:00 GMT")], None),
            (&[("cache-control", "max-age=soon")], None),
            (&[("last-modified", "Sun, 22 Nov 2026 12:00:01 GMT")], None),
            (&[("last-modified", "yesterday")], None),
        ] {
            assert_eq!(steady(headers), expected, "{headers:?}");
        }
    }
}
