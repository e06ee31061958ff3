//! Two crawls that are compared by path.

use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::Webloom,
};

use crate::{Folder, serve};

fn site(is_staging: bool) -> Server {
    let either = move |one: &str, other: &str| if is_staging { other.to_owned() } else { one.to_owned() };
    serve(move |asked: &Asked| match asked.target.as_str() {
        "/" => Reply::links([
            "/same",
            "/text",
            "/title",
            "/bytes",
            "/moved",
            "/stays",
            "/a?b=c",
            &either("/old", "/new"),
            "/error",
        ]),
        "/text" => Reply::html(either("<p>one", "<p>other")),
        "/title" => Reply::html(either("<title>one</title>", "<title>other</title>")),
        "/bytes" => Reply::html(either("<p>x", "<p class=y>x")),
        "/moved" => Reply::redirect(301, either("/same", "/text")),
        "/stays" => Reply::redirect(301, "/same"),
        "/same" | "/a?b=c" | "/old" | "/new" => Reply::html("<p>the same"),
        _ => Reply::status(404),
    })
}

#[test]
fn each_path_that_differs_is_named_once() {
    let folder = Folder::new();
    let (sites, dirs) = ([site(false), site(true)], [folder.crawl(), folder.crawl().with_extension("staging")]);
    for (site, dir) in sites.iter().zip(&dirs) {
        Webloom::crawl(dir, &site.url("/")).args(["--text", "on"]).run().expect(0);
    }
    let diff = |flags: &[&str]| Webloom::new(["diff", "--format", "jsonl"]).args(&dirs).args(flags).run().expect(0);
    let lines = diff(&[]).json_lines();
    let named: Vec<_> =
        lines.iter().map(|line| [&line["path"], &line["change"]].map(|value| value.as_str().unwrap_or(""))).collect();
    let expected = [
        ["/", "changed"],
        ["/bytes", "changed"],
        ["/moved", "redirected"],
        ["/new", "added"],
        ["/old", "removed"],
        ["/text", "changed_text"],
        ["/title", "changed_text"],
    ];
    assert_eq!(named, expected);
    assert_eq!((&lines[2]["before"], &lines[2]["after"]), (&"/same".into(), &"/text".into()));
    assert!(lines[3]["before"].is_null() && lines[3]["after"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(diff(&["--change", "removed"]).json_lines().len(), 1);
    assert_eq!(diff(&["--match", "^/t"]).json_lines().len(), 2);
    let none = Webloom::new(["diff"]).args([&dirs[0], &dirs[0]]).run().expect(0);
    assert!(
        none.stdout.lines().count() <= 1 && none.stderr.contains("no path differs"),
        "{}{}",
        none.stdout,
        none.stderr
    );
    Webloom::new(["diff"]).args([&dirs[0], &folder.crawl().with_extension("none")]).run().expect(2);
}
