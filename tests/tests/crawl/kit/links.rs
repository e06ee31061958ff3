//! Addresses as pages write them: odd bases, odd characters, and what looks like an address and is none.

use webloom_tests::server::Reply;

use super::{
    behaviour::{Behaviour, usual},
    origin,
};

/// A page, and what is found behind it.
const READ: &[&str] = &["/x stored 200", "/there stored 200"];
/// A page behind which nothing is found that belongs to the crawl.
const NONE: &[&str] = &["/x stored 200"];

pub(super) const LINKS: &[Behaviour] = &[
    Behaviour::page("base-elsewhere", |_| Reply::html("<base href=http://elsewhere.test/><a href=there>")).gives(NONE),
    Behaviour::page("base-empty", |_| Reply::html("<base href=''><a href=there>")).gives(READ),
    Behaviour::page("base-late", |_| Reply::html("<a href=there><base href=/a/>"))
        .gives(&["/x stored 200", "/a/there broken 404"]),
    Behaviour::page("base-script", |_| Reply::html("<base href='javascript:x'><a href=there>")).gives(READ),
    Behaviour::page("base-data", |_| Reply::html("<base href='data:text/html,x'><a href=there>")).gives(READ),
    Behaviour::page("base-twice", |_| Reply::html("<base href=/a/><base href=/b/><a href=there>"))
        .gives(&["/x stored 200", "/a/there broken 404"]),
    Behaviour::page("base-without-href", |_| Reply::html("<base target=x><base href=/a/><a href=there>"))
        .gives(&["/x stored 200", "/a/there broken 404"]),
    Behaviour::page("base-impossible", |_| Reply::html("<base href='http://[/'><a href=there>")).gives(READ),
    Behaviour::page("base-in-a-script", |_| Reply::html("<script>'<base href=/a/>'</script><a href=there>")).gives(READ),
    Behaviour::page("link-tabs-and-lines", |_| Reply::html("<a href=' \n/th\ter\r\ne\n '>")).gives(READ),
    Behaviour::page("link-backslashes", |_| Reply::html("<a href='\\there'><a href='\\\\elsewhere.test\\x'>")).gives(READ),
    Behaviour::page("link-scheme-alone", |_| Reply::html("<a href='http:there'>")).gives(READ),
    Behaviour::page("link-one-slash", |_| Reply::html("<a href='http:/there'>")).gives(READ),
    Behaviour::page("link-three-slashes", |_| Reply::html("<a href='///elsewhere.test/x'>")).gives(NONE),
    Behaviour::page("link-with-password", |asked| {
        Reply::html(format!("<a href={}/there>", origin(asked).replace("//", "//me:secret@")))
    })
    .gives(READ),
    Behaviour::page("link-host-in-disguise", |asked| {
        Reply::html(format!("<a href={}@elsewhere.test/>", origin(asked)))
    })
    .gives(NONE),
    Behaviour::page("link-port-0", |_| Reply::html("<a href=http://127.0.0.99:0/>")).args(&["--scope", "any"])
        .gives(&["/x stored 200", "http://127.0.0.99:0/ abandoned - address"]),
    Behaviour::page("link-port-beyond-bounds", |_| Reply::html("<a href=http://127.0.0.1:99999/>")).gives(NONE),
    Behaviour::page("link-too-long", |_| Reply::links([format!("/{}", "u".repeat(3000))])).gives(NONE),
    Behaviour::page("link-of-a-megabyte", |_| Reply::links([format!("/{}", "u".repeat(1 << 20)), "/there".to_owned()])).gives(READ),
    Behaviour::page("link-name-in-letters", |_| Reply::html("<a href='http://b\u{fc}cher.test/'>")).gives(NONE),
    Behaviour::page("link-address-in-numbers", |asked| {
        Reply::html(format!("<a href={}/there>", origin(asked).replace("127.0.0.1", "0x7f000001")))
    })
    .gives(READ),
    Behaviour::page("link-broken-brackets", |_| Reply::html("<a href='http://[::1/'><a href='http://a b/'><a href=/there>")).gives(READ),
    Behaviour::page("link-fragments", |_| Reply::html("<a href='#a'><a href='#'><a href=''><a href='/x#b'>")).gives(NONE),
    Behaviour::page("link-other-schemes", |_| {
        Reply::html(
            "<a href='mailto:a@b.test'><a href='tel:1'><a href='javascript:x()'><a href='data:text/html,x'>
             <a href='ftp://127.0.0.1/'><a href='file:///etc/passwd'><a href='blob:x'><a href='view-source:http://127.0.0.1/'>",
        )
    })
    .gives(NONE),
    Behaviour::page("link-entities", |_| Reply::html("<a href='&#x2f;th&#101;re'><a href='&sol;there'>")).gives(READ),
    Behaviour::site("link-ampersands", |asked| match asked.target.as_str() {
        "/x" => Reply::html("<a href='/y?a=1&copy=2&amp;b=3'>"),
        "/y?a=1&copy=2&b=3" => Reply::html("there"),
        _ => usual(asked),
    })
    .gives(&["/x stored 200", "/y?a=1&copy=2&b=3 stored 200"]),
    Behaviour::site("link-percent", |asked| match asked.target.as_str() {
        "/x" => Reply::html("<a href='/100%'><a href='/%zz'><a href='/%00'><a href='/%2e%2e/there'>"),
        "/100%" | "/%zz" | "/%00" => Reply::html("there"),
        _ => usual(asked),
    })
    .gives(&["/x stored 200", "/100% stored 200", "/%zz stored 200", "/%00 stored 200", "/there stored 200"]),
    Behaviour::site("link-spellings", |asked| match asked.target.as_str() {
        "/x" => Reply::html("<a href='/%7Ea'><a href='/~a'><a href='/%7ea'><a href='/~a?'>"),
        "/%7Ea" | "/~a" => Reply::html("there"),
        _ => usual(asked),
    })
    .gives(&["/x stored 200", "/%7Ea stored 200"]),
    Behaviour::site("link-spaces", |asked| match asked.target.as_str() {
        "/x" => Reply::html("<a href='/a b'><a href='/a%20b'>"),
        "/a%20b" => Reply::html("there"),
        _ => usual(asked),
    })
    .gives(&["/x stored 200", "/a%20b stored 200"]),
    Behaviour::site("link-emoji", |asked| match asked.target.as_str() {
        "/x" => Reply::html("<a href='/\u{1f577}'>"),
        "/%F0%9F%95%B7" => Reply::html("there"),
        _ => usual(asked),
    })
    .gives(&["/x stored 200", "/%F0%9F%95%B7 stored 200"]),
    Behaviour::page("link-to-a-secret", |_| Reply::html("<a href=http://127.0.0.98:9/latest/meta-data>"))
        .args(&["--scope", "any"])
        .gives(&["/x stored 200", "http://127.0.0.98:9/latest/meta-data abandoned - address"]),
    Behaviour::page("link-header-broken", |_| Reply::html("<a href=/there>").header("link: </hidden;;rel=\"next, </y"))
        .gives(READ),
];
