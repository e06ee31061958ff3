//! Settings, flags and commands: the documents name all there are, and none that is not.

use std::collections::BTreeSet;

use webloom::internals::config::reference;

use crate::{
    program::help,
    text::{flags, read, rows, section, user_documents},
};

/// Flags of `crawl` that are no setting.
const NO_KEY: &[&str] = &[
    "add",
    "again",
    "config",
    "dir",
    "dry-run",
    "help",
    "json",
    "listen",
    "no-progress",
    "profile",
    "quiet",
    "revisit",
    "verbose",
    "auth",
    "color",
];

/// Further flags of `watch`; it has no `--again`.
const OF_WATCH: &[&str] = &["jobs", "runs"];

/// Flags in the documents that belong to other programs.
const FOREIGN: &[&str] = &[
    "brief",
    "cap-drop",
    "example",
    "locked",
    "max-lost",
    "name",
    "open",
    "path",
    "platform",
    "read-only",
    "release",
    "rm",
    "urls",
    "user",
];

/// All subcommands, in the order of the README's table.
pub(crate) const SUBCOMMANDS: &[&str] = &[
    "crawl",
    "watch",
    "plan",
    "demo",
    "status",
    "pages",
    "links",
    "sitemap",
    "why",
    "retry",
    "changes",
    "get",
    "export",
    "forget",
    "search",
    "serve",
    "mcp",
    "diff",
    "backup",
    "healthcheck",
    "check",
    "simulate",
    "config default",
    "config show",
    "explain url",
    "explain robots",
    "explain links",
    "explain sitemap",
    "explain fields",
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
    let page = read("docs/settings.md");
    let (_, rest) = page.split_once("a test compares -->\n").unwrap();
    let (there, _) = rest.split_once("<!-- end of settings -->").unwrap();
    assert_eq!(there, table, "put this table into docs/settings.md:\n{table}");
}

#[test]
fn the_short_table_agrees_with_the_reference() {
    let readme = read("README.md");
    let rows = rows(section(&readme, "## Settings that people change most"));
    assert!((10..=14).contains(&rows.len()), "{rows:?}");
    let reference = reference();
    for row in rows {
        let key = row[0].trim_matches('`');
        let setting = reference.iter().find(|setting| setting.key == key).unwrap_or_else(|| panic!("no setting {key}"));
        let flag = format!("`--{}`", setting.flag.unwrap_or_else(|| panic!("{key} has no flag")));
        assert_eq!(row[1..3], [flag, format!("`{}`", setting.default)], "{key}");
    }
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
    let others = NO_KEY.iter().filter(|flag| !["again", "dry-run"].contains(*flag)).chain(OF_WATCH).copied();
    assert_eq!(flags_of("watch"), settings.chain(others).map(str::to_owned).collect());
}

#[test]
fn the_documents_name_every_flag_and_no_other() {
    // The evaluation is about the program `urlcache`; its package checks those flags.
    let others = user_documents().into_iter().filter(|path| path != "docs/evaluation.md");
    let text: String = others.map(|path| read(&path)).collect();
    let documented: BTreeSet<_> = flags(&text).into_iter().filter(|flag| !FOREIGN.contains(&&**flag)).collect();
    let mut there: BTreeSet<_> = SUBCOMMANDS.iter().flat_map(|subcommand| flags_of(subcommand)).collect();
    there.insert("help".to_owned());
    let others = help("crawl");
    let others = others.split("Also: ").skip(1).filter_map(|rest| rest.split('.').next());
    there.extend(others.flat_map(flags));
    // The documents use the short form.
    assert!(there.remove("dir") && read("README.md").contains(" -d docs"));
    assert_eq!(documented, there);
}

#[test]
fn the_table_of_commands_has_every_subcommand_and_no_other() {
    let readme = read("README.md");
    let rows = rows(section(&readme, "## Commands"));
    let in_table = rows.iter().flat_map(|row| row[0].split('`').skip(1).step_by(2));
    let in_table: Vec<_> = in_table.map(|command| command.strip_prefix("webloom ").unwrap()).collect();
    assert_eq!(in_table, SUBCOMMANDS);
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
    assert_eq!(names, ["broad.toml", "container.toml", "focused.toml", "revisit.toml"].map(str::to_owned).into());
    let page = read("docs/settings.md");
    let listed = section(&page, "## Profiles").lines().filter_map(|line| line.strip_prefix("- `")?.split('`').next());
    let listed: BTreeSet<_> = listed.map(|name| format!("{name}.toml")).collect();
    assert_eq!(listed, names);
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
