//! Reads and checks the whole file of the jobs: the settings of each job, and that no two share a directory.

use std::{
    collections::HashMap,
    num::NonZeroU64,
    path::{Component, Path, PathBuf},
};

use super::super::{
    CommandFailure,
    among::Among,
    directory::CrawlDirectory,
    watch::{flags::WatchFlags, site::Given},
};
use crate::{
    config::{JobEntry, JobsFile, LogSettings},
    politeness::GateLimits,
    store::Revisit,
};

/// What was asked for, beside the file.
pub(in crate::cli) struct AskedJobs {
    pub(in crate::cli) file: PathBuf,
    /// What holds for all jobs.
    pub(in crate::cli) flags: WatchFlags,
    pub(in crate::cli) revisit: Revisit,
    /// How many sequences each may have.
    pub(in crate::cli) most: Option<NonZeroU64>,
}

/// The jobs of a file.
pub(super) struct Jobs {
    pub(super) limits: GateLimits,
    pub(super) log: LogSettings,
    pub(super) list: Vec<CrawlJob>,
}

/// A job to be run.
pub(super) struct CrawlJob {
    pub(super) name: String,
    /// Where its crawl is, the same for all ways to write it.
    pub(super) dir: PathBuf,
    pub(super) given: Given,
}

/// What is wrong with a file of jobs.
pub(super) struct JobsFault {
    pub(super) failure: CommandFailure,
    /// The jobs that are wrong; all of them where there is none.
    names: Vec<String>,
}

impl JobsFault {
    /// Whether it is one of this job.
    pub(super) fn is_of(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|faulty| faulty == name)
    }
}

impl<E: Into<CommandFailure>> From<E> for JobsFault {
    fn from(error: E) -> Self {
        Self { failure: error.into(), names: Vec::new() }
    }
}

impl Jobs {
    /// Reads the file. Everything that is wrong is named.
    pub(super) fn read(asked: &AskedJobs) -> Result<Self, JobsFault> {
        let shown = asked.file.display().to_string();
        let text = std::fs::read_to_string(&asked.file)
            .map_err(|error| CommandFailure::Usage(format!("{shown}: cannot read the jobs: {error}")))?;
        let file = JobsFile::parse(&shown, &text)?;
        let (mut jobs, mut faults) = (Vec::new(), Vec::new());
        let mut names = Vec::new();
        for entry in file.jobs {
            match job(&entry, asked) {
                Ok(job) => jobs.push(job),
                Err(failure) => {
                    faults.push(named(&entry.place, &failure));
                    names.push(entry.name);
                }
            }
        }
        faults.extend(shared_directories(&jobs).into_iter().map(|fault| format!("{shown}: {fault}")));
        if !faults.is_empty() {
            return Err(JobsFault { failure: CommandFailure::Usage(faults.join("\n")), names });
        }
        let log = asked.flags.layers(None, None).resolve()?.settings.log;
        let shared = file.shared;
        let limits = GateLimits {
            max_rate: shared.max_rate,
            max_bandwidth: shared.max_bandwidth,
            concurrency: shared.concurrency,
        };
        Ok(Self { limits, log, list: jobs })
    }
}

/// A failure with the job that it is of; what names its own place has it already.
fn named(place: &str, failure: &CommandFailure) -> String {
    let text = failure.to_string();
    let lines =
        text.lines().map(|line| if line.starts_with(place) { line.to_owned() } else { format!("{place}: {line}") });
    lines.collect::<Vec<_>>().join("\n")
}

fn job(entry: &JobEntry, asked: &AskedJobs) -> Result<CrawlJob, CommandFailure> {
    let layers = asked.flags.layers(entry.profile.as_deref(), entry.config.as_ref()).job(entry);
    let given = Given {
        dir: Some(entry.dir.clone()),
        starts: entry.starts.clone(),
        added: Vec::new(),
        layers,
        auth: None,
        output: asked.flags.output.clone(),
        revisit: asked.revisit,
        most: asked.most,
    };
    if entry.starts.iter().any(|start| start == "-") {
        return Err(CommandFailure::Usage("starts: a list on stdin cannot be read again; give @FILE".to_owned()));
    }
    if entry.starts.is_empty() && !CrawlDirectory::exists(&entry.dir) {
        return Err(CommandFailure::Usage(format!("{} holds no crawl: give starts", entry.dir.display())));
    }
    given.plan(&Among::default())?;
    Ok(CrawlJob { name: entry.name.clone(), dir: canonical(&entry.dir), given })
}

/// Jobs that would write one directory.
fn shared_directories(jobs: &[CrawlJob]) -> Vec<String> {
    let mut owners: HashMap<&Path, &str> = HashMap::new();
    let mut faults = Vec::new();
    for job in jobs {
        if let Some(other) = owners.insert(&job.dir, &job.name) {
            let dir = job.dir.display();
            faults.push(format!(
                "job.{}.dir: {dir} is also the directory of job.{other}: give each job its own",
                job.name
            ));
        }
    }
    faults
}

/// The same path for all ways to write it, also where it, or folders above it, are not there yet.
fn canonical(dir: &Path) -> PathBuf {
    let whole = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let mut there = PathBuf::new();
    for part in whole.components() {
        if part == Component::ParentDir {
            there.pop();
            continue;
        }
        there.push(part);
        if let Ok(real) = there.canonicalize() {
            there = real;
        }
    }
    there
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_one_however_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| canonical(&folder.path().join(path));
        std::fs::create_dir(folder.path().join("a")).unwrap();
        std::os::unix::fs::symlink("a", folder.path().join("link")).unwrap();
        for path in ["a/new", "a/./new/", "link/new", "link/../a/new", "other/../a/new"] {
            assert_eq!(at(path), at("a/new"), "{path}");
        }
        assert_ne!(at("a"), at("b"));
    }
}
