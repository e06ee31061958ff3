//! robots.txt files that are none, too long, or not to be had.

use std::{io, io::Write};

use webloom_tests::server::{Asked, Reply};

use super::behaviour::{Behaviour, usual};

/// A site with this robots.txt, where `/x` is a page.
fn with_robots(asked: &Asked, robots: impl FnOnce() -> Reply) -> Reply {
    match asked.target.as_str() {
        "/robots.txt" => robots(),
        "/x" => Reply::html("x"),
        _ => usual(asked),
    }
}

/// A site with a robots.txt of these bytes.
fn with_rules(asked: &Asked, rules: &[u8]) -> Reply {
    with_robots(asked, || Reply::Whole(200, vec!["content-type: text/plain".to_owned()], rules.to_vec()))
}

/// `/x` is forbidden.
const FORBIDDEN: &[&str] = &["/x abandoned - robots"];
/// `/x` is allowed.
const ALLOWED: &[&str] = &["/x stored 200"];
/// Nothing was asked for.
const WAITS: &[&str] = &["/ queued -", "/good"];

pub(super) const ROBOTS: &[Behaviour] = &[
    Behaviour::site("robots-page", |asked| {
        with_robots(asked, || Reply::html("<html><h1>Welcome</h1><p>Disallow: nothing</p></html>"))
    })
    .gives(ALLOWED),
    Behaviour::site("robots-page-with-a-rule", |asked| {
        with_robots(asked, || Reply::html("<pre>\nUser-agent: *\nDisallow: /x\n</pre>"))
    })
    .gives(FORBIDDEN),
    Behaviour::site("robots-mark", |asked| with_rules(asked, "\u{feff}User-agent: *\r\nDisallow: /x\r\n".as_bytes()))
        .gives(FORBIDDEN),
    Behaviour::site("robots-old-line-ends", |asked| with_rules(asked, b"User-agent: *\rDisallow: /x\r"))
        .gives(FORBIDDEN),
    Behaviour::site("robots-latin1", |asked| with_rules(asked, b"# caf\xe9\nUser-agent: *\nDisallow: /x\n"))
        .gives(FORBIDDEN),
    Behaviour::site("robots-nul", |asked| with_rules(asked, b"User-agent: \0*\nUser-agent: *\nDisallow: /x\n\0"))
        .gives(FORBIDDEN),
    Behaviour::site("robots-typos", |asked| with_rules(asked, b"useragent *\nuser agent: *\ndissallow: /x\n"))
        .gives(FORBIDDEN),
    Behaviour::site("robots-without-agent", |asked| with_rules(asked, b"Disallow: /x\n")).gives(ALLOWED),
    Behaviour::site("robots-long", |asked| {
        let filler = "# nothing\n".repeat(60_000);
        with_rules(asked, format!("User-agent: *\nDisallow: /x\n{filler}Disallow: /good\n").as_bytes())
    })
    .gives(FORBIDDEN),
    Behaviour::site("robots-long-line", |asked| {
        with_rules(asked, format!("User-agent: *\nDisallow: /{}\nDisallow: /x\n", "y".repeat(100_000)).as_bytes())
    })
    .gives(FORBIDDEN),
    Behaviour::site("robots-stars", |asked| {
        with_rules(asked, format!("User-agent: *\nDisallow: /{}b\nDisallow: /x$\n", "*a".repeat(5_000)).as_bytes())
    })
    .gives(FORBIDDEN),
    Behaviour::site("robots-forbids-all", |asked| with_rules(asked, b"User-agent: *\nDisallow: /\n"))
        .ends(1, "failed")
        .gives(&["/ abandoned - robots", "/good"]),
    Behaviour::site("robots-delay-absurd", |asked| {
        with_rules(asked, b"User-agent: *\nCrawl-delay: 1e99\nCrawl-delay: 999999\n")
    })
    .set(&[("POLITENESS_MAX_DELAY", "100ms")])
    .gives(ALLOWED),
    Behaviour::site("robots-in-gzip", |asked| {
        with_robots(asked, || Reply::text("User-agent: *\nDisallow: /x\n").header("content-encoding: gzip"))
    })
    .gives(FORBIDDEN),
    Behaviour::site("robots-loop", |asked| with_robots(asked, || Reply::redirect(302, "/robots.txt")))
        .gives(ALLOWED)
        .retries(9),
    Behaviour::site("robots-redirects-home", |asked| with_robots(asked, || Reply::redirect(302, "/")))
        .gives(ALLOWED)
        .retries(1),
    Behaviour::site("robots-403", |asked| with_robots(asked, || Reply::status(403))).gives(ALLOWED),
    Behaviour::site("robots-429-at-first", |asked| match asked.before {
        0 | 1 => with_robots(asked, || Reply::status(429)),
        _ => with_rules(asked, b"User-agent: *\nDisallow: /x\n"),
    })
    .gives(FORBIDDEN)
    .retries(2),
    Behaviour::site("robots-500-for-ever", |asked| with_robots(asked, || Reply::status(500)))
        .set(&[("POLITENESS_GIVE_UP", "1s")])
        .ends(4, "unreachable")
        .gives(WAITS)
        .retries(20),
    Behaviour::site("robots-silent", |asked| {
        with_robots(asked, || Reply::Script(Box::new(|stream| io::copy(stream, &mut io::sink()).map(drop))))
    })
    .set(&[("POLITENESS_GIVE_UP", "1s"), ("FETCH_FIRST_BYTE_TIMEOUT", "200ms")])
    .ends(4, "unreachable")
    .gives(WAITS)
    .retries(20),
    Behaviour::site("robots-endless", |asked| {
        with_robots(asked, || {
            Reply::Script(Box::new(|stream| {
                stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /x\n")?;
                while stream.write_all(&[b'#'; 9000]).is_ok() {}
                Ok(())
            }))
        })
    })
    .gives(FORBIDDEN),
];
