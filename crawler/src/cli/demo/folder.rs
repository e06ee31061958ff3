//! [`Folder`]: where the crawls of the demo are, and whether they stay afterwards.
//!
//! Invariants: a folder that the user named is never removed; a folder with anything else in it is not used, but for that of an earlier
//! demo, which `--serve` takes up.
//!
//! Does not know: what the chapters put there.

use std::{
    fs, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use webloom_practice::PracticeServer;

use crate::cli::CommandFailure;

/// What tells of the site that the crawls are of.
const SITE: &str = "site.json";

/// How often a folder is removed, where a process that was just stopped still writes to it.
const ATTEMPTS: u32 = 20;

/// Time between two of these.
const PAUSE: Duration = Duration::from_millis(50);

/// Where the crawls of the demo lie.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    stays: bool,
    site: Option<KeptSite>,
}

/// The practice site of a demo that was kept.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct KeptSite {
    pub(super) address: SocketAddr,
    pub(super) version: u32,
}

impl Folder {
    /// A folder of the demo's own, or the one that was named; the latter holds nothing, or, if its site is to be served, an
    /// earlier demo.
    pub(super) fn prepare(given: Option<&Path>, keep: bool, serve: bool) -> Result<Self, CommandFailure> {
        let Some(path) = given else { return Self::own(keep) };
        let path = path.to_owned();
        let site = fs::read(path.join(SITE)).ok().and_then(|json| serde_json::from_slice(&json).ok());
        if serve && site.is_some() {
            return Ok(Self { path, stays: true, site });
        }
        fs::create_dir_all(&path).map_err(CommandFailure::system("cannot make the folder of the demo"))?;
        let mut entries = fs::read_dir(&path).map_err(CommandFailure::system("cannot read the folder of the demo"))?;
        if entries.next().is_none() {
            return Ok(Self { path, stays: true, site: None });
        }
        let shown = path.display();
        Err(CommandFailure::Usage(match site {
            Some(_) => {
                format!("{shown} holds an earlier demo: --serve serves its site again; a tour needs a new folder")
            }
            None => format!("{shown} is not empty: the demo needs a new folder"),
        }))
    }

    fn own(keep: bool) -> Result<Self, CommandFailure> {
        let name = format!("webloom-demo-{}", std::process::id());
        let mut path = std::env::temp_dir().join(&name);
        for turn in 1.. {
            match fs::create_dir(&path) {
                Ok(()) => break,
                // An earlier process of this number kept it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    path = std::env::temp_dir().join(format!("{name}-{turn}"));
                }
                Err(error) => return Err(CommandFailure::system("cannot make a folder for the demo")(error)),
            }
        }
        Ok(Self { path, stays: keep, site: None })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is there after the demo.
    pub(super) fn stays(&self) -> bool {
        self.stays
    }

    /// The site of an earlier demo that is to be served.
    pub(super) fn site(&self) -> Option<KeptSite> {
        self.site
    }

    /// Notes the site of this demo, if the folder stays.
    pub(super) fn keep_site(&self, server: &PracticeServer) -> Result<(), CommandFailure> {
        let kept = KeptSite { address: server.address(), version: server.site().version() };
        let json = serde_json::to_vec(&kept).expect("an address and a number are JSON");
        if !self.stays {
            return Ok(());
        }
        fs::write(self.path.join(SITE), json).map_err(CommandFailure::system("cannot keep the site of the demo"))
    }

    /// Removes it, unless it stays.
    pub(super) fn leave(self) -> Result<(), CommandFailure> {
        if self.stays {
            return Ok(());
        }
        for _ in 1..ATTEMPTS {
            if fs::remove_dir_all(&self.path).is_ok() {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
        fs::remove_dir_all(&self.path).map_err(CommandFailure::system("cannot remove the folder of the demo"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_folder_must_be_new_and_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new");
        let folder = Folder::prepare(Some(&path), false, false).unwrap();
        assert!(folder.stays() && folder.site().is_none());
        folder.leave().unwrap();
        assert!(path.exists());
        fs::write(path.join("mine"), "").unwrap();
        let refused = Folder::prepare(Some(&path), true, true).unwrap_err();
        assert!(refused.to_string().ends_with("is not empty: the demo needs a new folder"), "{refused}");
    }

    #[test]
    fn an_earlier_demo_can_be_served_and_not_toured() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(SITE), r#"{"address":"127.0.0.1:4711","version":2}"#).unwrap();
        let served = Folder::prepare(Some(dir.path()), false, true).unwrap();
        assert_eq!(served.site().map(|site| site.version), Some(2));
        let refused = Folder::prepare(Some(dir.path()), false, false).unwrap_err();
        assert!(refused.to_string().contains("holds an earlier demo"), "{refused}");
    }

    #[test]
    fn a_folder_of_its_own_goes_unless_it_is_kept() {
        for keep in [false, true] {
            let folder = Folder::prepare(None, keep, false).unwrap();
            let path = folder.path().to_owned();
            folder.leave().unwrap();
            assert_eq!(path.exists(), keep);
        }
        for entry in fs::read_dir(std::env::temp_dir()).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap_or_default();
            if name.starts_with(&format!("webloom-demo-{}", std::process::id())) {
                fs::remove_dir(entry.path()).unwrap();
            }
        }
    }
}
