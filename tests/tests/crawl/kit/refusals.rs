//! Refusals: pages that are not given, and hosts that have had enough.

use std::time::{Duration, SystemTime};

use webloom_tests::server::{Asked, Reply};

use super::behaviour::{Behaviour, usual};

/// An answer for the first times, and then a page.
fn at_first(times: usize, asked: &Asked, reply: Reply) -> Reply {
    if asked.before < times { reply } else { Reply::html("back") }
}

fn in_two_seconds() -> String {
    httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(2))
}

pub(super) const REFUSALS: &[Behaviour] = &[
    Behaviour::site("client-errors", |asked| match asked.target.as_str() {
        "/x" => Reply::links(["/401", "/402", "/403", "/405", "/410", "/418", "/451"]),
        target => target[1..].parse().map_or_else(|_| usual(asked), Reply::status),
    })
    .gives(&[
        "/401 broken 401",
        "/402 broken 402",
        "/403 broken 403",
        "/405 broken 405",
        "/410 broken 410",
        "/418 broken 418",
        "/451 broken 451",
        "/x stored 200",
    ]),
    Behaviour::site("refuses-everything", |asked| match asked.target.as_str() {
        "/robots.txt" => Reply::text(""),
        _ => Reply::status(403),
    })
    .ends(1, "failed")
    .gives(&["/ broken 403", "/good"])
    .retries(0),
    Behaviour::page("error-page-with-links", |_| {
        Reply::Whole(404, vec!["content-type: text/html".into()], b"<a href=/hidden>x</a>".to_vec())
    })
    .gives(&["/x broken 404"]),
    Behaviour::page("soft-404", |_| Reply::html("<title>404 Not found</title>"))
        .gives(&["/x stored 200 title:404 Not found"]),
    Behaviour::site("one-page-for-all", |asked| match asked.target.as_str() {
        "/robots.txt" | "/" => usual(asked),
        _ => Reply::html("<title>good</title><a href=/>home</a><a href=more>more</a>"),
    })
    .gives(&["/x stored 200", "/more stored 200"]),
    Behaviour::page("password-asked", |_| Reply::status(401).header("www-authenticate: Basic realm=\"x\""))
        .gives(&["/x broken 401"]),
    Behaviour::page("slow-down-none", |asked| at_first(3, asked, Reply::status(429)))
        .gives(&["/x stored 200"])
        .retries(6),
    Behaviour::page("slow-down-seconds", |asked| at_first(1, asked, Reply::status(429).header("retry-after: 1")))
        .gives(&["/x stored 200"])
        .retries(1),
    Behaviour::page("slow-down-date", |asked| {
        at_first(1, asked, Reply::status(429).header(format!("retry-after: {}", in_two_seconds())))
    })
    .gives(&["/x stored 200"])
    .retries(1),
    Behaviour::page("slow-down-past-date", |asked| {
        at_first(1, asked, Reply::status(429).header("retry-after: Sun, 06 Nov 1994 08:49:37 GMT"))
    })
    .gives(&["/x stored 200"])
    .retries(1),
    Behaviour::page("slow-down-nonsense", |asked| {
        at_first(1, asked, Reply::status(429).header("retry-after: soon, -1"))
    })
    .gives(&["/x stored 200"])
    .retries(1),
    Behaviour::page("slow-down-absurd", |_| Reply::status(429).header("retry-after: 99999999999999999999"))
        .ends(4, "unreachable")
        .gives(&["/x queued - 429", "/good queued -"]),
    Behaviour::page("slow-down-for-a-day", |_| Reply::status(429).header("retry-after: 86400"))
        .ends(4, "unreachable")
        .gives(&["/x queued - 429", "/good queued -"]),
    Behaviour::page("slow-down-for-ever", |_| Reply::status(429)).gives(&["/x broken 429"]).retries(12),
    Behaviour::page("storm-of-503", |asked| at_first(4, asked, Reply::status(503)))
        .gives(&["/x stored 200"])
        .retries(7),
    Behaviour::site("storm-beside-the-start", |asked| match asked.target.as_str() {
        "/robots.txt" | "/" => usual(asked),
        _ => Reply::status(503),
    })
    .gives(&["/x broken 503", "/good broken 503"])
    // On a machine that is busy the start page is asked for once more now and then.
    .retries(32),
    Behaviour::site("storm-over-everything", |asked| match asked.target.as_str() {
        "/robots.txt" => usual(asked),
        _ => Reply::status(503),
    })
    .set(&[("POLITENESS_GIVE_UP", "1s")])
    .ends(4, "unreachable")
    .gives(&["/ queued - 503", "/good"])
    .retries(20),
    Behaviour::page("error-500-for-ever", |_| Reply::status(500)).gives(&["/x broken 500"]).retries(8),
    Behaviour::page("error-500-once", |asked| at_first(1, asked, Reply::status(500)))
        .gives(&["/x stored 200"])
        .retries(2),
    Behaviour::page("error-501", |_| Reply::status(501)).gives(&["/x broken 501"]),
    Behaviour::page("error-502-page", |asked| {
        at_first(2, asked, Reply::Whole(502, vec!["content-type: text/html".into()], b"<a href=/hidden>x</a>".to_vec()))
    })
    .gives(&["/x stored 200"])
    .retries(5),
    Behaviour::page("error-522", |asked| at_first(1, asked, Reply::status(522))).gives(&["/x stored 200"]).retries(2),
    Behaviour::page("error-408", |asked| at_first(1, asked, Reply::status(408))).gives(&["/x stored 200"]).retries(1),
    Behaviour::page("error-425", |asked| at_first(1, asked, Reply::status(425))).gives(&["/x stored 200"]).retries(1),
    Behaviour::site("every-second-request-fails", |asked| match (asked.target.as_str(), asked.before % 2) {
        ("/" | "/robots.txt", _) | (_, 1) => usual(asked),
        _ => Reply::status(500),
    })
    .gives(&["/x broken 404"])
    .retries(6),
    Behaviour::page("status-999", |_| Reply::status(999)).gives(&["/x broken 999"]),
    Behaviour::page("status-600", |_| Reply::status(600)).gives(&["/x broken 600"]),
    Behaviour::page("status-1000", |_| Reply::Raw(b"HTTP/1.1 1000 Over\r\n\r\n".to_vec()))
        .gives(&["/x failed - protocol"]),
    Behaviour::page("status-000", |_| Reply::Raw(b"HTTP/1.1 000 None\r\n\r\n".to_vec()))
        .gives(&["/x failed - protocol"]),
    Behaviour::page("no-content", |_| Reply::Raw(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n".to_vec()))
        .gives(&["/x stored 204"]),
    Behaviour::page("no-content-with-page", |_| {
        Reply::Raw(
            b"HTTP/1.1 204 No Content\r\nconnection: close\r\ncontent-type: text/html\r\ncontent-length: 16\r\n\r\n<a href=/there>x"
                .to_vec(),
        )
    })
    .gives(&["/x stored 204"]),
    Behaviour::page("reset-content-with-page", |_| {
        Reply::Whole(205, vec!["content-type: text/html".into()], b"<a href=/there>x".to_vec())
    })
    .gives(&["/x stored 205", "/there stored 200"]),
    Behaviour::page("part-unasked", |_| {
        let headers = vec!["content-type: text/html".into(), "content-range: bytes 0-15/900".into()];
        Reply::Whole(206, headers, b"<a href=/there>x".to_vec())
    })
    .gives(&["/x stored 206", "/there stored 200"]),
];
