//! The program as a reader of the documents runs it, and a site for it to crawl.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::OnceLock,
};

use tokio::runtime::Runtime;
use webloom::practice::{PracticeServer, PracticeSite, Shape};

use crate::text::root;

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

/// The folder that holds `webloom`, built when first asked for: cargo builds another package's binary for a test only
/// when told to. All members are named, so that no dependency is built twice.
pub(crate) fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.args(["build", "--quiet", "--locked", "--workspace", "--bins"]).current_dir(root());
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        assert!(cargo.status().unwrap().success(), "webloom does not build");
        let test = std::env::current_exe().unwrap();
        test.ancestors().nth(2).unwrap().to_owned()
    })
}

/// Runs a line of shell in `dir`, with `webloom` on the path and no pause between requests.
pub(crate) fn shell(line: &str, dir: &Path) -> Output {
    let old = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([folder().to_owned()].into_iter().chain(std::env::split_paths(&old))).unwrap();
    let mut bash = Command::new("bash");
    bash.args(["-euo", "pipefail", "-c", line]).current_dir(dir).env("PATH", path);
    bash.env("WEBLOOM_POLITENESS_DELAY", "0").env("WEBLOOM_POLITENESS_PER_HOST", "8").output().unwrap()
}

/// The help of a subcommand; of the program for "".
pub(crate) fn help(subcommand: &str) -> String {
    let output =
        Command::new(folder().join("webloom")).args(subcommand.split_whitespace()).arg("--help").output().unwrap();
    assert!(output.status.success(), "webloom {subcommand} --help");
    String::from_utf8(output.stdout).unwrap()
}
