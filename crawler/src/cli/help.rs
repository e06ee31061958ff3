//! The help of all commands: examples, and which flags the short form shows.
//!
//! Invariants: `-h` of a command fits a screen and names those flags that most people need; `--help` has all of them; each command
//! has an example.

use clap::{Command, CommandFactory};

use super::Cli;

/// The flags that `-h` of a crawl shows.
const MOST_USED: [&str; 12] = [
    "dir",
    "again",
    "max_pages",
    "max_depth",
    "max_time",
    "delay",
    "scope",
    "exclude",
    "auth",
    "user_agent",
    "json",
    "help",
];

/// Those that `-h` of `watch` shows besides.
const OF_A_WATCH: [&str; 4] = ["every", "cron", "jobs", "adaptive"];

/// Examples of each command, by the words after `webloom`.
const EXAMPLES: [(&str, &[&str]); 13] = [
    (
        "crawl",
        &[
            "webloom crawl https://docs.example.org/ -d docs      crawl a site",
            "webloom crawl -d docs                                resume it",
            "webloom crawl -d docs --again                        ask for every page once more",
        ],
    ),
    (
        "watch",
        &[
            "webloom watch https://docs.example.org/ -d docs --every 6h",
            "webloom watch -d docs --cron '0 3 * * *' --tz Europe/Berlin",
            "webloom watch --jobs jobs.toml",
        ],
    ),
    ("demo", &["webloom demo", "webloom demo --keep --serve"]),
    ("status", &["webloom status docs", "webloom status docs --json"]),
    (
        "pages",
        &[
            "webloom pages docs --outcome broken",
            "webloom pages docs --columns bytes,url --sort=-bytes --limit 10",
            "webloom pages docs --match '/install' --format csv",
        ],
    ),
    (
        "links",
        &["webloom links docs --broken --format csv", "webloom links docs --to https://docs.example.org/install"],
    ),
    ("changes", &["webloom changes docs --since 1 --diff"]),
    ("check", &["webloom check docs"]),
    ("simulate", &["webloom simulate --trace changes.jsonl --policy optimal --budget 100/day"]),
    ("config", &["webloom config default > webloom.toml", "webloom config show --config webloom.toml"]),
    ("explain", &["echo '{\"url\":\"HTTP://h:80/a/../b\"}' | webloom explain url"]),
    ("completions", &["webloom completions bash > webloom.bash"]),
    ("man", &["webloom man man1"]),
];

/// The program's arguments, with what the short help leaves out and with examples.
pub(super) fn command() -> Command {
    EXAMPLES.into_iter().fold(Cli::command(), |program, (name, examples)| {
        program.mut_subcommand(name, |command| short(command).after_help(shown(examples)))
    })
}

/// Has `-h` show what most people need.
fn short(command: Command) -> Command {
    let shown: &[&[&str]] = match command.get_name() {
        "crawl" => &[&MOST_USED],
        "watch" => &[&MOST_USED, &OF_A_WATCH],
        _ => return command,
    };
    let command = command.mut_args(|argument| {
        let is_shown = argument.is_positional() || shown.iter().any(|ids| ids.contains(&argument.get_id().as_str()));
        if is_shown { argument } else { argument.hide_short_help(true) }
    });
    command.before_help("The flags that most people need; --help shows all of them.").before_long_help("")
}

fn shown(examples: &[&str]) -> String {
    let lines: Vec<_> = examples.iter().map(|line| format!("  {line}")).collect();
    format!("Examples:\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_an_example_and_a_crawl_fits_a_screen() {
        let mut program = command();
        program.build();
        for command in program.get_subcommands_mut().filter(|command| command.get_name() != "help") {
            let (name, short) = (command.get_name().to_owned(), command.render_help().to_string());
            assert!(short.contains("Examples:\n  ") && short.contains(&format!("webloom {name}")), "{short}");
            if ["crawl", "watch"].contains(&&*name) {
                assert!(short.lines().count() < 60, "{short}");
                let long = command.render_long_help().to_string();
                assert!(long.contains("--hash-seed") && !short.contains("--hash-seed"), "{short}");
            }
        }
    }
}
