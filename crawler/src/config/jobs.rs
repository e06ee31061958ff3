//! The file of `webloom watch --jobs`: several crawls, each with settings of its own, and what they share.
//!
//! Does not know: what the settings of a job mean ([`Layers`] do), and whether its directory can be used.

use std::{
    num::{NonZeroU32, NonZeroU64},
    path::PathBuf,
};

use serde_json::{Map, Value};

use super::{
    ConfigFault, ConfigFaults, Layers, Source,
    fault::nearest,
    rules::{Count, Rule, Size, Unless},
    schema,
};

/// Keys of the file, of what is shared, and of a job.
const TABLES: [&str; 2] = ["shared", "job"];
const SHARED: [&str; 3] = ["max_rate", "max_bandwidth", "concurrency"];
const JOB: [&str; 6] = ["dir", "starts", "profile", "config", "paused", "settings"];

/// The longest name of a job.
const LONGEST_NAME: usize = 64;

/// Several crawls.
///
/// ```
/// use webloom::internals::config::JobsFile;
/// let text = "[shared]\nmax_rate = 20\n[job.docs]\ndir = \"docs\"\nstarts = [\"https://docs.example.org/\"]\n";
/// let file = JobsFile::parse("jobs.toml", text)?;
/// assert_eq!((file.jobs[0].name.as_str(), file.shared.max_rate.map(|rate| rate.get())), ("docs", Some(20)));
/// # Ok::<(), webloom::internals::config::ConfigFaults>(())
/// ```
#[derive(Debug, Clone)]
pub struct JobsFile {
    /// What holds for all together.
    pub shared: SharedLimits,
    /// The crawls, by name.
    pub jobs: Vec<JobEntry>,
}

/// What all requests together may be; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SharedLimits {
    /// Requests a second.
    pub max_rate: Option<NonZeroU32>,
    /// Bytes of bodies a second, on average.
    pub max_bandwidth: Option<NonZeroU64>,
    /// Requests at once.
    pub concurrency: Option<NonZeroU32>,
}

/// A crawl of the file.
#[derive(Debug, Clone)]
pub struct JobEntry {
    /// Letters, digits, dots, dashes and underscores.
    pub name: String,
    /// File, line and job.
    pub place: String,
    /// Its crawl directory.
    pub dir: PathBuf,
    /// Start URLs, or `@FILE`.
    pub starts: Vec<String>,
    /// Its profile.
    pub profile: Option<String>,
    /// Its file of settings.
    pub config: Option<PathBuf>,
    /// Its own settings, as JSON.
    settings: String,
}

impl JobsFile {
    /// Reads a file's text under its name.
    ///
    /// # Errors
    /// All that is wrong with it, but for the settings of its jobs: [`Layers::job`] finds that.
    pub fn parse(name: &str, text: &str) -> Result<Self, ConfigFaults> {
        let mut reader = Reader { name, text, faults: Vec::new() };
        let tables = match toml::from_str::<Value>(text) {
            Ok(Value::Object(tables)) => tables,
            Ok(_) => Map::new(),
            Err(error) => {
                let line = error.span().map_or(1, |span| line_at(text, span.start));
                ConfigFaults::check(vec![ConfigFault::new(format!("{name}:{line}"), error.message())])?;
                Map::new()
            }
        };
        reader.check_keys(&[], &tables, &TABLES);
        let shared = reader.shared(tables.get("shared"));
        let jobs = reader.jobs(tables.get("job"));
        ConfigFaults::check(reader.faults)?;
        Ok(Self { shared, jobs })
    }
}

impl Layers {
    /// Adds the settings of a job: they win over its file.
    #[must_use]
    pub fn job(self, entry: &JobEntry) -> Self {
        self.document(&entry.settings, Source::Job(format!("{}.settings", entry.place)))
    }
}

/// Reads the tables, and notes what is wrong.
struct Reader<'a> {
    name: &'a str,
    text: &'a str,
    faults: Vec<ConfigFault>,
}

impl Reader<'_> {
    /// File and line of a key, by the names above it.
    fn place(&self, path: &[&str]) -> String {
        let line = line_of(self.text, path).map_or_else(String::new, |line| format!(":{line}"));
        format!("{}{line}: {}", self.name, path.join("."))
    }

    fn fault(&mut self, path: &[&str], problem: impl Into<String>) {
        let place = self.place(path);
        self.faults.push(ConfigFault::new(place, problem));
    }

    fn check_keys(&mut self, path: &[&str], table: &Map<String, Value>, known: &[&str]) {
        for key in table.keys().filter(|key| !known.contains(&key.as_str())) {
            let near = nearest(key, known.iter().map(|key| (*key).to_owned()));
            let hint =
                near.map_or_else(|| format!("there are {}", known.join(", ")), |near| format!("did you mean {near}?"));
            self.fault(&[path, &[key]].concat(), format!("unknown key, {hint}"));
        }
    }

    fn shared(&mut self, table: Option<&Value>) -> SharedLimits {
        let empty = Map::new();
        let table = match table {
            None => &empty,
            Some(Value::Object(table)) => table,
            Some(_) => {
                self.fault(&["shared"], "give a table");
                &empty
            }
        };
        self.check_keys(&["shared"], table, &SHARED);
        let number = |most| Unless {
            word: "unlimited",
            rule: Count(NonZeroU32::MIN..=NonZeroU32::new(most).unwrap_or(NonZeroU32::MAX)),
        };
        let size = Unless { word: "unlimited", rule: Size(1..=1 << 40) };
        SharedLimits {
            max_rate: self.limit(table, "max_rate", &number(1_000_000)),
            max_bandwidth: self.limit(table, "max_bandwidth", &size).and_then(NonZeroU64::new),
            concurrency: self.limit(table, "concurrency", &number(4096)),
        }
    }

    fn limit<T, R: Rule<Value = Option<T>>>(&mut self, table: &Map<String, Value>, key: &str, rule: &R) -> Option<T> {
        let given = table.get(key)?;
        let checked = schema::read(given.clone()).ok_or_else(|| rule.refusal()).and_then(|raw| rule.check(&raw));
        match checked {
            Ok(checked) => checked.value,
            Err(reason) => {
                self.fault(&["shared", key], format!("{given} is not allowed: {reason}"));
                None
            }
        }
    }

    fn jobs(&mut self, table: Option<&Value>) -> Vec<JobEntry> {
        let Some(Value::Object(jobs)) = table else {
            self.fault(&["job"], "there are no jobs: give each as [job.NAME] with dir and starts");
            return Vec::new();
        };
        jobs.iter().filter_map(|(name, job)| self.job(name, job)).collect()
    }

    fn job(&mut self, name: &str, job: &Value) -> Option<JobEntry> {
        let path = ["job", name];
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_plain) {
            self.fault(
                &path,
                format!("a name consists of letters, digits, dots, dashes and underscores, at most {LONGEST_NAME}"),
            );
        }
        let Value::Object(job) = job else {
            self.fault(&path, "give a table: [job.NAME]");
            return None;
        };
        self.check_keys(&path, job, &JOB);
        let dir = self.text(name, job, "dir").filter(|dir| !dir.is_empty());
        if dir.is_none() {
            self.fault(&path, "it has no directory: give dir");
        }
        let entry = JobEntry {
            name: name.to_owned(),
            place: self.place(&path),
            dir: dir.unwrap_or_default().into(),
            starts: self.starts(name, job),
            profile: self.text(name, job, "profile"),
            config: self.text(name, job, "config").map(PathBuf::from),
            settings: self.settings(name, job),
        };
        Some(entry)
    }

    fn text(&mut self, name: &str, job: &Map<String, Value>, key: &str) -> Option<String> {
        let given = job.get(key)?;
        if !given.is_string() {
            self.fault(&["job", name, key], "give a string");
        }
        given.as_str().map(str::to_owned)
    }

    fn starts(&mut self, name: &str, job: &Map<String, Value>) -> Vec<String> {
        let Some(given) = job.get("starts") else { return Vec::new() };
        serde_json::from_value(given.clone()).unwrap_or_else(|_| {
            self.fault(&["job", name, "starts"], "give a list of strings");
            Vec::new()
        })
    }

    /// The settings as JSON, with the pause among them.
    fn settings(&mut self, name: &str, job: &Map<String, Value>) -> String {
        let mut settings = match job.get("settings") {
            None => Map::new(),
            Some(Value::Object(settings)) => settings.clone(),
            Some(_) => {
                self.fault(&["job", name, "settings"], "give tables, such as [job.NAME.settings.schedule]");
                Map::new()
            }
        };
        match job.get("paused") {
            None | Some(Value::Bool(false)) => {}
            Some(Value::Bool(true)) => {
                let schedule = settings.entry("schedule").or_insert_with(|| Value::Object(Map::new()));
                if let Value::Object(schedule) = schedule {
                    schedule.insert("pause".to_owned(), "on".into());
                }
            }
            Some(_) => self.fault(&["job", name, "paused"], "give true or false"),
        }
        Value::Object(settings).to_string()
    }
}

/// The line of a key, or of the nearest one above it that is written.
fn line_of(text: &str, path: &[&str]) -> Option<usize> {
    let table = toml::de::DeTable::parse(text).ok()?;
    let mut table = table.get_ref();
    let mut line = None;
    for name in path {
        let Some((key, value)) = table.iter().find(|(key, _)| key.get_ref() == name) else { break };
        line = Some(line_at(text, key.span().start));
        match value.get_ref() {
            toml::de::DeValue::Table(below) => table = below,
            _ => break,
        }
    }
    line
}

fn line_at(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> String {
        JobsFile::parse("j.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn every_fault_has_its_line() {
        let text = "\
            [shared]\nmax_rat = 1\nmax_bandwidth = \"fast\"\n\n[job.a]\ndir = \"a\"\nstart = []\n\n[job.\"b c\"]\n\
            paused = \"yes\"\nstarts = \"http://h/\"\n[jobs]\n";
        let expected = "\
            j.toml:12: jobs: unknown key, did you mean job?\n\
            j.toml:2: shared.max_rat: unknown key, did you mean max_rate?\n\
            j.toml:3: shared.max_bandwidth: \"fast\" is not allowed: give a size from 1B to 1TiB, or \"unlimited\"\n\
            j.toml:7: job.a.start: unknown key, did you mean starts?\n\
            j.toml:9: job.b c: a name consists of letters, digits, dots, dashes and underscores, at most 64\n\
            j.toml:9: job.b c: it has no directory: give dir\n\
            j.toml:11: job.b c.starts: give a list of strings\n\
            j.toml:10: job.b c.paused: give true or false";
        assert_eq!(faults(text), expected);
        assert_eq!(faults(""), "j.toml: job: there are no jobs: give each as [job.NAME] with dir and starts");
        assert!(
            faults("[job.a]\ndir = \"a\"\n[job.a]\n").starts_with("j.toml:3: "),
            "{}",
            faults("[job.a]\n[job.a]\n")
        );
        assert!(faults("[job.a]\ndir = \n").starts_with("j.toml:2: "));
    }

    #[test]
    fn the_settings_of_a_job_are_checked_like_all_others() {
        let text = "[job.a]\ndir = \"a\"\npaused = true\n\n[job.a.settings.politeness]\ndelay = \"9s\"\ndellay = 1\n";
        let layers = |text: &str| {
            let file = JobsFile::parse("j.toml", text).unwrap();
            Layers::new().file_text("f", "[politeness]\ndelay = 1\nper_host = 2").job(&file.jobs[0])
        };
        let wrong = layers(text).resolve().unwrap_err().to_string();
        assert_eq!(wrong, "j.toml:1: job.a.settings.politeness.dellay: unknown key, did you mean politeness.delay?");
        let settings = layers(&text.replace("dellay = 1\n", "")).resolve().unwrap().settings;
        assert_eq!((settings.politeness.delay.as_secs(), settings.politeness.per_host.get()), (9, 2));
        assert_eq!(settings.schedule.pause.as_str(), "on");
    }
}
