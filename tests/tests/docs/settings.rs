//! Settings and flags: the README names all there are, and none that is not.

use std::collections::BTreeSet;

use webloom::config::reference;

use crate::{
    program::help,
    text::{flags, read},
};

/// Flags of `crawl` that are no setting.
const NO_KEY: &[&str] = &[
    "add",
    "again",
    "config",
    "dir",
    "help",
    "json",
    "no-progress",
    "profile",
    "quiet",
    "revisit",
    "verbose",
    "auth",
    "color",
];

/// Flags of `watch` besides; it has no `--again`.
const OF_WATCH: &[&str] = &["jobs", "runs"];

/// Flags in the README that belong to other programs.
const FOREIGN: &[&str] = &["brief", "locked", "max-lost", "path", "release", "rm", "urls"];

pub(crate) const SUBCOMMANDS: &[&str] = &[
    "crawl",
    "watch",
    "demo",
    "status",
    "pages",
    "links",
    "changes",
    "check",
    "simulate",
    "config default",
    "config show",
    "explain url",
    "explain robots",
    "explain links",
    "completions",
    "man",
];

#[test]
fn the_table_is_the_reference() {
    let rows = reference().into_iter().map(|row| {
        let flag = row.flag.map(|flag| format!("`--{flag}`")).unwrap_or_default();
        let cells = [format!("`{}`", row.key), flag, format!("`{}`", row.variable), format!("`{}`", row.default)];
        format!("| {} |\n", cells.join(" | "))
    });
    let table = format!("| key | flag | variable | default |\n| --- | --- | --- | --- |\n{}", rows.collect::<String>());
    let readme = read("README.md");
    let (_, rest) = readme.split_once("a test compares -->\n").unwrap();
    let (there, _) = rest.split_once("<!-- end of settings -->").unwrap();
    assert_eq!(there, table, "put this table into README.md:\n{table}");
}

#[test]
fn crawl_has_exactly_the_flags_of_the_reference() {
    let of_watch = |key: &str| key.starts_with("schedule.") || key.starts_with("revisit.");
    let settings = reference().into_iter().filter(|row| !of_watch(row.key)).filter_map(|row| row.flag);
    let expected: BTreeSet<_> = settings.chain(NO_KEY.iter().copied()).map(str::to_owned).collect();
    assert_eq!(flags_of("crawl"), expected);
}

#[test]
fn watch_has_those_of_the_schedule_too() {
    let settings = reference().into_iter().filter_map(|row| row.flag);
    let others = NO_KEY.iter().filter(|flag| **flag != "again").chain(OF_WATCH).copied();
    assert_eq!(flags_of("watch"), settings.chain(others).map(str::to_owned).collect());
}

#[test]
fn the_readme_names_every_flag_and_no_other() {
    let documented: BTreeSet<_> =
        flags(&read("README.md")).into_iter().filter(|flag| !FOREIGN.contains(&&**flag)).collect();
    let mut there: BTreeSet<_> = SUBCOMMANDS.iter().flat_map(|subcommand| flags_of(subcommand)).collect();
    there.remove("help");
    // The README uses the short form.
    assert!(there.remove("dir") && read("README.md").contains(" -d docs"));
    assert_eq!(documented, there);
}

#[test]
fn every_subcommand_is_shown() {
    let readme = read("README.md");
    for subcommand in SUBCOMMANDS {
        assert!(
            readme.contains(&format!("webloom {subcommand}")) || readme.contains(&format!("-- {subcommand}\n")),
            "{subcommand}"
        );
    }
    let commands = help("").split("Commands:").nth(1).unwrap().split("Options:").next().unwrap().to_owned();
    let names = commands.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: BTreeSet<_> = names
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect();
    assert_eq!(names, SUBCOMMANDS.iter().map(|name| name.split(' ').next().unwrap().to_owned()).collect());
}

#[test]
fn the_profiles_are_those_that_are_shipped() {
    let profiles = std::fs::read_dir(crate::text::root().join("config")).unwrap();
    let names = profiles.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: BTreeSet<_> = names.filter(|name| name != "default.toml").collect();
    assert_eq!(names, ["focused.toml", "revisit.toml"].map(str::to_owned).into());
    assert!(read("README.md").contains("There are two profiles: `focused`"));
    assert!(read("README.md").contains("and `revisit`, which `watch` takes"));
}

/// The flags that the help of a subcommand lists: those at the beginning of a line.
fn flags_of(subcommand: &str) -> BTreeSet<String> {
    let help = help(subcommand);
    let listed = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    listed
        .filter_map(|line| {
            flags(line).into_iter().find(|flag| line.split("  ").next().unwrap().contains(&format!("--{flag}")))
        })
        .collect()
}
