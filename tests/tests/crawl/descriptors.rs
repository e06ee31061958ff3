//! Few file descriptors: there are fewer requests at once, and no host is blamed.

use webloom_tests::{
    server::Server,
    webloom::{Webloom, assert_clean},
};

use crate::{Folder, assert_asked_once, assert_counts, star};

fn hosts(number: u8) -> Vec<Server> {
    (1..=number).map(|host| Server::start(&format!("127.0.1.{host}"), star(2)).expect("a free port")).collect()
}

/// Crawls all of these with what the shell sets up before; stderr.
fn complete(servers: &[Server], shell: &str) -> String {
    let folder = Folder::new();
    let starts = servers[1..].iter().map(|server| server.url("/"));
    let run = Webloom::crawl(&folder.crawl(), &servers[0].url("/")).args(starts).within(shell).run().expect(0);
    let summary = run.json();
    assert_counts(&summary);
    assert_clean(&folder.crawl());
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"drained".into(), &(3 * servers.len()).into()));
    assert_eq!(
        (&summary["requests"]["errors"], &summary["urls"]["abandoned"]),
        (&serde_json::json!({}), &serde_json::json!({}))
    );
    for server in servers {
        assert_asked_once(server, &["/", "/1", "/2"]);
    }
    run.stderr
}

#[test]
fn a_hundred_hosts_with_sixty_four() {
    let stderr = complete(&hosts(100), "ulimit -n 64");
    assert!(stderr.contains("ulimit -n") && !stderr.contains("this machine can make no request"), "{stderr}");
}

#[test]
fn those_that_others_took_are_waited_for() {
    // More are taken than the program can know of: some connections must fail for want of one.
    let taken = (20..60).map(|number| format!(" {number}</dev/null")).collect::<Vec<_>>().concat();
    let stderr = complete(&hosts(40), &format!("ulimit -n 64; exec{taken}"));
    assert!(stderr.contains("this machine can make no request"), "{stderr}");
}

#[test]
fn too_few_are_refused_before_anything_is_made() {
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), "http://127.0.0.1:1/").within("ulimit -n 20").run().expect(2);
    assert!(run.stderr.contains("ulimit -n") && run.stderr.lines().count() == 1, "{}", run.stderr);
}
