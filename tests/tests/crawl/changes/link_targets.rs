//! A link that leads elsewhere is a change of the page, if it does not do so by itself.

use webloom_tests::webloom::Webloom;

use super::{
    NOTHING,
    site::{Answer, Site, TEXT, TOKEN, own_text},
};

#[test]
fn what_images_say_is_compared_where_that_is_asked_for() {
    let image = |alt: &str, source: &str| {
        let own = own_text("/docs/1");
        Answer::Page(format!("<p>{own}<p><img alt='{alt}' src='{source}?built=1'>"))
    };
    for (images, expected) in [
        ("off", ["changed /docs/1", "changed /docs/1"]),
        ("alt", ["changed_text /docs/1", "changed /docs/1"]),
        ("source", ["changed_text /docs/1", "changed_text /docs/1"]),
    ] {
        let site = Site::of(["/docs/1", "/docs/2"]);
        let again = |images: &str| {
            let run = Webloom::go_on(&site.dir()).args(["--again"]).args(TEXT);
            site.run(run.env("WEBLOOM_CHANGE_IMAGES", images)).1
        };
        site.set("/docs/1", image("a map", "/old.png"));
        let first = Webloom::crawl(&site.dir(), &site.server.url("/")).args(TEXT);
        first.env("WEBLOOM_CHANGE_IMAGES", images).run().expect(0);
        site.set("/docs/1", image("a plan", "/old.png"));
        assert_eq!(again(images), [expected[0]], "{images}");
        site.set("/docs/1", image("a plan", "/new.png"));
        assert_eq!(again(images), [expected[1]], "{images}");
        // Texts that say other things are not compared.
        assert_eq!(again("off"), NOTHING, "{images}");
    }
}

/// A page with a link.
fn linking(path: &str, text: &str, target: &str, more: &str) -> Answer {
    let own: Vec<_> = own_text(path).lines().map(|line| format!("<p>{line}</p>\n")).collect();
    Answer::Page(format!("{}<p><a href=\"{target}\">{text}</a></p>{more}", own.concat()))
}

#[test]
fn a_link_that_leads_elsewhere_is_reported_and_shown() {
    let other_bytes = format!("<form><input name=token type=hidden value={TOKEN}></form>");
    for more in ["", &other_bytes] {
        let site = Site::of(["/docs/1", "/docs/2", "/docs/3", "/docs/4"]);
        for path in ["/docs/3", "/docs/4"] {
            site.set(path, linking(path, "The guide", "/docs/1", more));
        }
        site.crawl(&TEXT);
        assert_eq!(site.again(&[]), NOTHING);
        site.set("/docs/3", linking("/docs/3", "The guide", "/docs/2", more));
        assert_eq!(site.again(&[]), ["changed_text /docs/3"], "{more}");
        let line = site.lines(&["--diff"]).remove(0);
        let diff = line["diff"].as_str().expect("a diff");
        let [before, after] = ["1", "2"].map(|page| site.server.url(&format!("/docs/{page}")));
        assert!(diff.ends_with(&format!("-[The guide]({before})\n+[The guide]({after})\n")), "{diff}");
        assert_eq!(site.again(&[]), NOTHING);
    }
}

#[test]
fn a_link_that_many_pages_have_is_a_site_wide_edit() {
    let paths: Vec<_> = (1..=12).map(|number| format!("/docs/{number}")).collect();
    let site = Site::of(&paths);
    let set = |target: &str| paths.iter().for_each(|path| site.set(path, linking(path, "Imprint", target, "")));
    set("/docs/1");
    site.crawl(&TEXT);
    set("/docs/2");
    assert_eq!(site.again(&[]), ["site_wide x12"]);
    assert!(site.lines(&["--diff"])[0]["diff"].as_str().is_some_and(|diff| diff.contains("+[Imprint](")));
}

#[test]
fn a_link_with_a_session_is_noise() {
    let site = Site::of(["/docs/1", "/docs/2"]);
    let set = |target: &str| {
        let page = format!("<p>{}<p><a href='{target}'>Your cart</a>", own_text("/docs/1"));
        site.set("/docs/1", Answer::Page(page));
    };
    set(&format!("http://shop.invalid/{TOKEN}/cart?sid={TOKEN}"));
    site.crawl(&TEXT);
    for _ in 0..3 {
        assert_eq!(site.again(&[]), NOTHING);
    }
    set("http://shop.invalid/basket");
    assert_eq!([site.again(&[]), site.again(&[])], [NOTHING, NOTHING]);
    assert_eq!(site.again(&[]), ["changed_text /docs/1"], "it stays");
    let line = site.lines(&["--diff"]).remove(0);
    assert!(
        line["diff"].as_str().is_some_and(|diff| diff.ends_with("+[Your cart](http://shop.invalid/basket)\n")),
        "{line}"
    );
}

#[test]
fn a_page_that_asks_not_to_follow_its_links_has_the_links_that_it_had() {
    let site = Site::of(["/docs/1", "/docs/2"]);
    site.set("/docs/1", linking("/docs/1", "The guide", "/docs/2", ""));
    site.crawl(&TEXT);
    site.set("/docs/1", linking("/docs/1", "The guide", "/docs/2", "<meta name=robots content=nofollow>"));
    assert_eq!(site.again(&[]), ["changed /docs/1"]);
}
