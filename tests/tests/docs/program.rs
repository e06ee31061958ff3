//! The program as a reader of the documents runs it, and a site for it to crawl.

use std::{
    path::Path,
    process::{Command, Output},
};

use tokio::runtime::Runtime;
use webloom_practice::{PracticeServer, PracticeSite, Shape};
use webloom_tests::webloom::program;

/// A small practice site on loopback.
pub(crate) struct Site {
    pub(crate) url: String,
    _server: PracticeServer,
    _runtime: Runtime,
}

impl Site {
    pub(crate) fn serve() -> Self {
        let runtime = Runtime::new().unwrap();
        let shape = Shape { pages: 40, hub_links: 50, ..Shape::demo() };
        let server = runtime.block_on(PracticeServer::start(PracticeSite::new(shape))).unwrap();
        Self { url: server.url(), _server: server, _runtime: runtime }
    }
}

/// Runs a line of shell in `dir`, with `webloom` on the path and no pause between requests.
pub(crate) fn shell(line: &str, dir: &Path) -> Output {
    let old = std::env::var_os("PATH").unwrap_or_default();
    let path =
        std::env::join_paths([program().parent().unwrap().to_owned()].into_iter().chain(std::env::split_paths(&old)))
            .unwrap();
    let mut bash = Command::new("bash");
    bash.args(["-euo", "pipefail", "-c", line]).current_dir(dir).env("PATH", path);
    bash.env("WEBLOOM_POLITENESS_DELAY", "0").env("WEBLOOM_POLITENESS_PER_HOST", "8").output().unwrap()
}

/// The help of a subcommand; of the program for "".
pub(crate) fn help(subcommand: &str) -> String {
    let output = Command::new(program()).args(subcommand.split_whitespace()).arg("--help").output().unwrap();
    assert!(output.status.success(), "webloom {subcommand} --help");
    String::from_utf8(output.stdout).unwrap()
}
