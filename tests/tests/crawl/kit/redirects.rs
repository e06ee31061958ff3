//! Redirects of every form, and what keeps a page behind them.

use webloom_tests::server::Reply;

use super::{
    behaviour::{Behaviour, usual},
    origin, page_with, raw,
};

/// A redirect by 302.
fn to(target: &str) -> Reply {
    Reply::redirect(302, target)
}

pub(super) const REDIRECTS: &[Behaviour] = &[
    Behaviour::site("redirect-statuses", |asked| match asked.target.as_str() {
        "/x" => Reply::links(["/301", "/302", "/303", "/307", "/308"]),
        "/301" | "/302" | "/303" | "/307" | "/308" => {
            Reply::redirect(asked.target[1..].parse().expect("a status"), "/there")
        }
        _ => usual(asked),
    })
    .gives(&[
        "/301 redirected 301 to:/there",
        "/302 redirected 302 to:/there",
        "/303 redirected 303 to:/there",
        "/307 redirected 307 to:/there",
        "/308 redirected 308 to:/there",
        "/x stored 200",
        "/there stored 200",
    ]),
    Behaviour::page("redirect-absolute", |asked| to(&format!("{}/there", origin(asked))))
        .gives(&["/x redirected 302 to:/there", "/there stored 200"]),
    Behaviour::page("redirect-upper-case", |asked| to(&format!("{}/there", origin(asked).to_uppercase())))
        .gives(&["/x redirected 302 to:/there", "/there stored 200"]),
    Behaviour::page("redirect-without-scheme", |asked| to(&format!("{}/there", &origin(asked)[5..])))
        .gives(&["/x redirected 302 to:/there", "/there stored 200"]),
    Behaviour::page("redirect-without-slash", |_| to("there"))
        .gives(&["/x redirected 302 to:/there", "/there stored 200"]),
    Behaviour::page("redirect-dots", |_| to("../.././a/../there"))
        .gives(&["/x redirected 302 to:/there", "/there stored 200"]),
    Behaviour::page("redirect-backslash", |_| to("\\there"))
        .gives(&["/x redirected 302 to:/there", "/there stored 200"]),
    Behaviour::page("redirect-fragment", |_| to("/there#part"))
        .gives(&["/x redirected 302 to:/there", "/there stored 200"]),
    Behaviour::page("redirect-query", |_| to("?page=2"))
        .gives(&["/x redirected 302 to:/x?page=2", "/x?page=2 broken 404"]),
    Behaviour::site("redirect-spaces", |asked| match asked.target.as_str() {
        "/x" => to("   /a b  "),
        "/a%20b" => Reply::html("there"),
        _ => usual(asked),
    })
    .gives(&["/x redirected 302 to:/a%20b", "/a%20b stored 200"]),
    Behaviour::site("redirect-utf8", |asked| match asked.target.as_str() {
        "/x" => to("/\u{e4}"),
        "/%C3%A4" => Reply::html("there"),
        _ => usual(asked),
    })
    .gives(&["/x redirected 302 to:/%C3%A4", "/%C3%A4 stored 200"]),
    Behaviour::site("redirect-latin1", |asked| match asked.target.as_str() {
        "/x" => Reply::Raw(
            b"HTTP/1.1 302 Found\r\nlocation: /\xe4\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".to_vec(),
        ),
        "/%E4" => Reply::html("there"),
        _ => usual(asked),
    })
    .gives(&["/x redirected 302 to:/%E4", "/%E4 stored 200"]),
    Behaviour::page("redirect-empty", |_| to("")).gives(&["/x broken 302 redirect_to_itself"]).retries(1),
    Behaviour::page("redirect-nowhere", |_| Reply::status(302)).gives(&["/x broken 302 redirect_without_target"]),
    Behaviour::page("redirect-two-targets", |_| to("/there").header("location: /elsewhere"))
        .gives(&["/x redirected 302 to:/there", "/there stored 200"]),
    Behaviour::page("redirect-to-itself", |_| to("/x")).gives(&["/x broken 302 redirect_to_itself"]).retries(1),
    Behaviour::page("redirect-with-cookie", |asked| match asked.before {
        0 => to("/x").header("set-cookie: seen=1"),
        _ => Reply::html("there"),
    })
    .gives(&["/x stored 200"])
    .retries(1),
    Behaviour::site("redirect-slash-and-back", |asked| match asked.target.as_str() {
        "/x" => to("/x/"),
        "/x/" => to("/x"),
        _ => usual(asked),
    })
    .gives(&["/x redirected 302 to:/x/", "/x/ redirected 302 to:/x"]),
    Behaviour::site("redirect-loop-of-three", |asked| match asked.target.as_str() {
        "/x" => to("/y"),
        "/y" => to("/z"),
        "/z" => to("/x"),
        _ => usual(asked),
    })
    .gives(&["/x redirected 302 to:/y", "/y redirected 302 to:/z", "/z redirected 302 to:/x"]),
    Behaviour::site("redirect-chain", |asked| match asked.target.trim_start_matches("/x").parse::<u32>() {
        Ok(hop) => to(&format!("/x{}", hop + 1)),
        Err(_) if asked.target == "/x" => to("/x1"),
        Err(_) => usual(asked),
    })
    .set(&[("FETCH_MAX_REDIRECTS", "2")])
    .gives(&["/x2 redirected 302 to:/x3", "/x1 redirected 302 to:/x2", "/x redirected 302 to:/x1"]),
    Behaviour::site("redirect-counter", |asked| match asked.target.strip_prefix("/x") {
        Some(rest) => to(&format!("/x?n={}", rest.len())),
        None => usual(asked),
    })
    .gives(&["/x redirected 302 to:/x?n=0", "/x?n=0 redirected 302 to:/x?n=4", "/x?n=4 broken 302 redirect_to_itself"])
    .retries(1),
    Behaviour::page("redirect-to-https", |_| to("https://127.0.0.1:9/"))
        .gives(&["/x redirected 302 to:https://127.0.0.1:9/"]),
    Behaviour::page("redirect-to-mail", |_| to("mailto:someone@site.test"))
        .gives(&["/x broken 302 redirect_without_target"]),
    Behaviour::page("redirect-to-script", |_| to("javascript:location='/there'"))
        .gives(&["/x broken 302 redirect_without_target"]),
    Behaviour::page("redirect-to-private", |_| to("http://127.0.0.99:9/secret"))
        .args(&["--scope", "any"])
        .gives(&["/x redirected 302 to:http://127.0.0.99:9/secret", "http://127.0.0.99:9/secret abandoned - address"]),
    Behaviour::page("redirect-to-private-in-disguise", |_| to("http://0x7f.99:9/secret"))
        .args(&["--scope", "any"])
        .gives(&["/x redirected 302 to:http://127.0.0.99:9/secret", "http://127.0.0.99:9/secret abandoned - address"]),
    Behaviour::page("redirect-with-password", |asked| {
        to(&format!("{}/there", origin(asked).replace("//", "//me:secret@")))
    })
    .gives(&["/x redirected 302 to:/there", "/there stored 200"]),
    Behaviour::page("redirect-with-page", |_| {
        raw(
            "HTTP/1.1 302 Found\r\nlocation: /there\r\ncontent-type: text/html\r\ncontent-length: 17",
            "<a href=/hidden>x",
        )
    })
    .gives(&["/x redirected 302 to:/there", "/there stored 200"]),
    Behaviour::page("redirect-with-cut-page", |_| {
        raw("HTTP/1.1 302 Found\r\nlocation: /there\r\ncontent-type: text/html\r\ncontent-length: 5000", "moved")
    })
    .gives(&["/x redirected 302 cut:disconnect to:/there", "/there stored 200"]),
    Behaviour::page("redirect-too-long", |_| to("/a-page-with-a-very-long-name-that-is-longer-than-a-url-may-be-here"))
        .set(&[("SCOPE_MAX_URL_LENGTH", "64")])
        .gives(&["/x redirected 302 to:/a-page-with-a-very-long-name-that-is-long"]),
    Behaviour::page("redirect-by-300", |_| Reply::redirect(300, "/there"))
        .gives(&["/x broken 300 redirect_without_target"]),
    Behaviour::page("not-modified-unasked", |_| Reply::status(304)).gives(&["/x broken 304 not_modified_unasked"]),
    Behaviour::page("redirect-after-error", |_| Reply::redirect(404, "/there")).gives(&["/x broken 404"]),
    Behaviour::page("location-of-a-page", |_| Reply::html("x").header("location: /there")).gives(&["/x stored 200"]),
    Behaviour::page("refresh-header", |_| Reply::html("x").header("refresh: 0; url=/there")).gives(&["/x stored 200"]),
    Behaviour::site("refresh-loop", |asked| match asked.target.as_str() {
        "/x" => Reply::html("<meta http-equiv=refresh content='0;url=/y'>"),
        "/y" => Reply::html("<meta http-equiv=refresh content='0;url=/x'>"),
        _ => usual(asked),
    })
    .gives(&["/x stored 200", "/y stored 200"]),
    Behaviour::page("refresh-to-itself", |_| Reply::html("<meta http-equiv=refresh content=0>"))
        .gives(&["/x stored 200"]),
    Behaviour::site("cookie-wall", |asked| match asked.target.as_str() {
        "/x" if asked.headers.iter().any(|line| line.starts_with("cookie: ")) => Reply::html("inside"),
        "/x" => to("/login"),
        "/login" => to("/x").header("set-cookie: seen=1"),
        _ => usual(asked),
    })
    .gives(&["/x redirected 302 to:/login", "/login redirected 302 to:/x"]),
    Behaviour::site("login-wall", |asked| match asked.target.as_str() {
        "/x" | "/members" => to("/login?from=x"),
        "/login?from=x" => page_with("content-type: text/html", "<form action=/enter><a href=/members>"),
        _ => usual(asked),
    })
    .gives(&[
        "/x redirected 302 to:/login?from=x",
        "/login?from=x stored 200",
        "/members redirected 302 to:/login?from=x",
    ]),
    Behaviour::site("everything-goes-home", |asked| match asked.target.as_str() {
        "/" | "/good" | "/robots.txt" => usual(asked),
        _ => to("/"),
    })
    .gives(&["/x redirected 302 to:/"]),
];
