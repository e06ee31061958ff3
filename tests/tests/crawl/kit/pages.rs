//! Pages that trap, hide or flood, and pages that no end of tags closes.

use webloom_tests::server::{Asked, Reply};

use super::behaviour::{Behaviour, usual};

/// A page, and what is found behind it.
const READ: &[&str] = &["/x stored 200", "/there stored 200"];

/// The number behind a prefix.
fn number(asked: &Asked, prefix: &str) -> Option<u32> {
    asked.target.strip_prefix(prefix)?.parse().ok()
}

pub(super) const PAGES: &[Behaviour] = &[
    Behaviour::page("nested-100000", |_| Reply::html("<div>".repeat(100_000) + "<a href=/there>")).gives(READ),
    Behaviour::page("links-20000", |_| {
        Reply::links((0..20_000).map(|link| format!("http://elsewhere.test/{link}")).chain(["/there".to_owned()]))
    })
    .gives(READ),
    Behaviour::page("same-link-100000", |_| Reply::links((0..100_000).map(|_| "/there"))).gives(READ),
    Behaviour::page("links-too-many", |_| Reply::links(["/there", "http://a.test/", "/hidden"]))
        .set(&[("EXTRACT_MAX_LINKS", "2")])
        .gives(&["/x stored 200 cut:links", "/there stored 200"]),
    Behaviour::page("attribute-of-a-megabyte", |_| Reply::html(format!("<a title={} href=/there>", "x".repeat(1 << 20))))
        .gives(READ),
    Behaviour::page("attributes-10000", |_| {
        let attributes: Vec<_> = (0..10_000).map(|number| format!(" a{number}=x")).collect();
        Reply::html(format!("<a{} href=/there>", attributes.concat()))
    })
    .gives(READ),
    Behaviour::page("angles-only", |_| Reply::html("<".repeat(1_000_000))).gives(&["/x stored 200"]),
    Behaviour::page("tag-never-closed", |_| Reply::html("<a href=/there>x</a><a href=/hidden")).gives(READ),
    Behaviour::page("quote-never-closed", |_| Reply::html("<a href=/there>x</a><a href=\"/hidden>y</a>")).gives(READ),
    Behaviour::page("comment-never-closed", |_| Reply::html("<a href=/there>x</a><!-- <a href=/hidden>")).gives(READ),
    Behaviour::page("comment-odd", |_| Reply::html("<!--><a href=/there><!---><!-- --!><a href=/good>")).gives(READ),
    Behaviour::page("links-in-scripts", |_| {
        Reply::html("<script>'<a href=/hidden>'</script><style><a href=/hidden></style><textarea><a href=/hidden></textarea><a href=/there>")
    })
    .gives(READ),
    Behaviour::page("script-never-closed", |_| Reply::html("<a href=/there><script><a href=/hidden>")).gives(READ),
    Behaviour::page("links-without-scripts", |_| Reply::html("<noscript><a href=/there></noscript>")).gives(READ),
    Behaviour::page("links-in-templates", |_| Reply::html("<template><a href=/there></template>")).gives(READ),
    Behaviour::page("links-after-the-end", |_| Reply::html("<html><body></body></html><a href=/there>")).gives(READ),
    Behaviour::page("tags-in-tangles", |_| Reply::html("<b><table><a><i></b><tr><a href=/there></table></a></i>")).gives(READ),
    Behaviour::page("attribute-twice", |_| Reply::html("<a href=/there href=/hidden>")).gives(READ),
    Behaviour::page("capitals-and-slashes", |_| Reply::html("<A/HREF=/there/><P/>")).gives(&["/x stored 200", "/there/ broken 404"]),
    Behaviour::page("asks-not-to-follow", |_| Reply::html("<meta name=robots content='noindex,NoFollow'><a href=/hidden>"))
        .gives(&["/x stored 200"]),
    Behaviour::page("asks-not-to-follow-late", |_| Reply::html("<a href=/hidden><meta name=robots content=none>"))
        .gives(&["/x stored 200"]),
    Behaviour::page("asks-not-to-follow-by-header", |_| Reply::html("<a href=/hidden>").header("x-robots-tag: nofollow"))
        .gives(&["/x stored 200"]),
    Behaviour::page("asks-another-crawler", |_| Reply::html("<a href=/there>").header("x-robots-tag: otherbot: nofollow"))
        .gives(READ),
    Behaviour::site("calendar", |asked| match (asked.target.as_str(), number(asked, "/month/")) {
        ("/x", _) => Reply::links(["/month/0"]),
        (_, Some(month)) => Reply::links([format!("/month/{}", month + 1)]),
        _ => usual(asked),
    })
    .args(&["--max-depth", "4"])
    .ends(0, "budget")
    .gives(&[
        "/month/2 stored 200",
        "/month/3 queued -",
        "/month/1 stored 200",
        "/month/0 stored 200",
        "/x stored 200",
    ]),
    Behaviour::site("sessions-in-paths", |asked| match asked.target.as_str() {
        "/" | "/good" | "/robots.txt" => usual(asked),
        target => Reply::links([format!("/x/s{}", target.len()), format!("{target}/s{}", target.len())]),
    })
    .args(&["--max-pages", "20"])
    .ends(0, "budget")
    .gives(&["/x stored 200"])
    .strays(60),
    Behaviour::site("sessions-in-queries", |asked| match asked.target.strip_prefix("/x") {
        Some(_) => Reply::links([format!("/x?sid={}", asked.target.len() + asked.before)]),
        None => usual(asked),
    })
    .args(&["--strip-query", "sid"])
    .gives(&["/x stored 200"]),
    Behaviour::site("path-that-grows", |asked| match asked.target.as_str() {
        "/" | "/good" | "/robots.txt" => usual(asked),
        _ => Reply::links(["more/x"]),
    })
    .set(&[("SCOPE_MAX_URL_LENGTH", "100")])
    .gives(&["/x stored 200", "/more/x stored 200", "/more/more/x stored 200"])
    .strays(20),
    Behaviour::site("path-of-dots", |asked| match asked.target.strip_prefix("/x") {
        Some(_) => Reply::links(["./././x", "y/../x", "/./x", "/../../x?"]),
        None => usual(asked),
    })
    .gives(&["/x stored 200"]),
    Behaviour::site("query-that-grows", |asked| match asked.target.strip_prefix("/x") {
        Some(_) => Reply::links([format!("{}&more", asked.target.replace("/x", "/x?"))]),
        None => usual(asked),
    })
    .args(&["--max-depth", "6"])
    .ends(0, "budget")
    .gives(&["/x stored 200"])
    .strays(7),
    Behaviour::site("every-combination", |asked| match asked.target.strip_prefix("/x") {
        Some(query) => Reply::links(["a", "b", "c"].map(|name| format!("/x?{name}&{}", query.trim_start_matches('?')))),
        None => usual(asked),
    })
    .args(&["--max-pages", "30"])
    .ends(0, "budget")
    .gives(&["/x stored 200"])
    .strays(140),
];
