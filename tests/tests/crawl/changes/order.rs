//! The most important changes come first, and those that are nearly the same are one line for people.

use webloom_tests::webloom::Webloom;

use super::site::{Answer, Site, TEXT, links, own_text};

/// A page that links to others.
fn linking(path: &str, to: &[&str]) -> Answer {
    let own: Vec<_> = own_text(path).lines().map(|line| format!("<p>{line}</p>\n")).collect();
    Answer::Page(own.concat() + &links(to))
}

/// A further sequence, however much changes.
fn again(site: &Site) -> Vec<String> {
    site.run(Webloom::go_on(&site.dir()).args(["--again"]).env("WEBLOOM_CHANGE_MASS_SHARE", "1")).1
}

#[test]
fn classes_come_apart_and_important_pages_first() {
    let site = Site::of(["/rare", "/often", "/far", "/known", "/gone", "/soon/1"]);
    let hub: Vec<_> = (0..12).map(|number| format!("/hub/{number}")).collect();
    let all = ["/rare", "/often", "/known", "/gone"].map(str::to_owned).into_iter().chain(hub.iter().cloned());
    site.set("/", Answer::Page(links(all)));
    for path in &hub {
        site.set(path, linking(path, &["/known"]));
    }
    site.set("/rare", linking("/rare", &["/far"]));
    site.crawl(&TEXT);
    site.page("/often", "First it was something else\nthan it will be");
    assert_eq!(site.again(&[]), ["changed_text /often"]);
    for path in ["/often", "/far", "/known"] {
        site.page(path, &format!("Another text of {path} now\nthat is as long as before"));
    }
    site.set("/rare", Answer::Page(own_text("/far") + "<p>Now it says what another page said" + &links(["/far"])));
    site.status("/gone", 410);
    site.set("/new", Answer::Page(own_text("/new")));
    site.set(
        "/",
        Answer::Page(links(["/rare", "/often", "/known", "/gone", "/new"].map(str::to_owned).into_iter().chain(hub))),
    );
    again(&site);
    let listed: Vec<_> = site.lines(&["--since", "last"]).iter().map(|line| site.short(line)).collect();
    let expected = [
        "gone /gone",
        "changed_text /known",
        "changed_text /rare",
        "changed_text /often",
        "changed_text /far",
        "new /new",
        "changed /",
    ];
    assert_eq!(listed, expected);
}

#[test]
fn near_edits_are_one_line_of_a_table() {
    let shop: Vec<_> = (1..=12).map(|number| format!("/shop/{number}")).collect();
    let site = Site::of(&shop);
    let price = |path: &str, price: usize| site.page(path, &format!("{}\nPrice {price} EUR", own_text(path)));
    shop.iter().enumerate().for_each(|(number, path)| price(path, 100 + number));
    site.crawl(&TEXT);
    shop.iter().enumerate().skip(6).for_each(|(number, path)| price(path, 200 + 3 * number));
    site.page("/shop/1", &format!("{}\nPrice 100 USD", own_text("/shop/1")));
    let run = again(&site);
    assert_eq!(run.len(), 7, "each for programs");
    let table = site.changes(&["--since", "last"]).expect(0);
    let rows: Vec<_> = table.stdout.lines().skip(1).collect();
    assert_eq!(rows.len(), 2, "{}", table.stdout);
    assert!(rows.iter().any(|row| row.contains("/shop/7\t\t6\t")), "{}", table.stdout);
    assert!(table.stderr.contains("5 changes are nearly like another one"), "{}", table.stderr);
}

#[test]
fn other_markup_of_many_pages_is_one_line_of_a_table() {
    let paths: Vec<_> = (1..=12).map(|number| format!("/docs/{number}")).collect();
    let site = Site::of(&paths);
    for path in &paths {
        site.page(path, &own_text(path));
    }
    site.crawl(&TEXT);
    for path in &paths {
        let lines: Vec<_> = own_text(path).lines().map(|line| format!("<p class=new>{line}</p>\n")).collect();
        site.set(path, Answer::Page(lines.concat()));
    }
    assert_eq!(again(&site).len(), 12, "each for programs");
    let table = site.changes(&["--since", "last"]).expect(0);
    let rows: Vec<_> = table.stdout.lines().skip(1).collect();
    assert!(rows.len() == 1 && rows[0].contains("\tchanged\t") && rows[0].contains("\t12\t"), "{}", table.stdout);
}
