//! The help of all commands: what `-h` shows of each, and examples.
//!
//! Owns: which flags people need most, the layout of `-h`, and the examples.
//!
//! Invariants: `-h` of each command fits a screen of 24 lines of 80 characters, with a line for each flag; that of the program has a line
//! for each command; `--help` has all flags in
//! full; each command has an example.
//!
//! Does not know: what a flag means (its own help says it).

use clap::{Arg, ArgAction, Command};

/// Characters of a line of `-h` at most.
const WIDTH: usize = 80;

/// The flags that `-h` shows, of commands that have too many for a screen.
const MOST_USED: [(&str, &[&str]); 7] = [
    ("crawl", &["dir", "again", "scope", "exclude", "max_pages", "max_depth", "delay", "user_agent", "auth", "config"]),
    ("watch", &["dir", "every", "cron", "adaptive", "jobs", "scope", "exclude", "max_pages", "delay", "user_agent"]),
    (
        "plan",
        &["scope", "include", "exclude", "max_pages", "max_time", "delay", "user_agent", "auth", "config", "json"],
    ),
    ("retry", &["outcome", "status", "older", "matching", "dry_run", "delay", "user_agent", "auth", "json", "quiet"]),
    ("demo", &["dir", "keep", "serve", "json", "quiet"]),
    (
        "pages",
        &[
            "outcome",
            "status",
            "change",
            "content_type",
            "matching",
            "sequence",
            "lost",
            "columns",
            "sort",
            "limit",
            "count",
            "format",
        ],
    ),
    ("config show", &["config", "profile"]),
];

/// Examples of each command, by the words after `webloom`.
const EXAMPLES: [(&str, &[&str]); 34] = [
    (
        "",
        &[
            // A second line would not fit the screen.
            "webloom crawl https://docs.example.org/   crawl a site; crawl -h has flags",
        ],
    ),
    (
        "crawl",
        &[
            "webloom crawl https://docs.example.org/ -d docs   crawl a site",
            "webloom crawl -d docs                             resume the crawl",
            "webloom crawl -d docs --again                     crawl the site again",
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
    (
        "plan",
        &["webloom plan https://docs.example.org/", "webloom plan https://docs.example.org/ --scope domain --json"],
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
    ("sitemap", &["webloom sitemap docs --findings", "webloom sitemap docs --format csv > sitemap.csv"]),
    (
        "why",
        &["webloom why docs https://docs.example.org/install", "webloom why docs https://docs.example.org/ --json"],
    ),
    ("retry", &["webloom retry docs --status 5xx --older 1d", "webloom retry docs --outcome abandoned --dry-run"]),
    ("changes", &["webloom changes docs --since last --diff", "webloom changes docs --change gone --format csv"]),
    (
        "get",
        &[
            "webloom get docs https://docs.example.org/install > install.html",
            "webloom get docs https://docs.example.org/ --sequence 3 --headers",
        ],
    ),
    ("forget", &["webloom forget docs '/people/jane($|/)'", "webloom forget docs --yes 'token='"]),
    ("export", &["webloom export docs -o pages", "webloom export docs --since last --chunks 400 -o update"]),
    ("search", &["webloom search docs install guide", "webloom search docs 'title:install \"on Debian\"' --json"]),
    ("serve", &["webloom serve docs", "webloom serve docs --listen 127.0.0.1:9000"]),
    ("mcp", &["webloom mcp docs"]),
    ("diff", &["webloom diff site staging", "webloom diff site staging --change removed --format csv"]),
    ("backup", &["webloom backup docs docs-2026-11-27.sqlite"]),
    ("healthcheck", &["webloom healthcheck docs"]),
    ("check", &["webloom check docs"]),
    ("simulate", &["webloom simulate --trace changes.jsonl --budget 100/day --chart fresh.svg"]),
    ("config", &["webloom config default > webloom.toml", "webloom config show --config webloom.toml"]),
    ("config default", &["webloom config default > webloom.toml"]),
    ("config show", &["webloom config show --config webloom.toml", "webloom config show --profile focused"]),
    ("explain", &["echo '{\"url\":\"HTTP://h:80/a/../b\"}' | webloom explain url"]),
    ("explain url", &["echo '{\"url\":\"HTTP://h:80/a/../b\"}' | webloom explain url"]),
    (
        "explain robots",
        &[
            "echo '{\"robots\":\"User-agent: *\\nDisallow: /a\",\"user_agent\":\"x\",\"url\":\"/a\"}' \\",
            "  | webloom explain robots",
        ],
    ),
    ("explain links", &["echo '{\"html\":\"<a href=b>\",\"base\":\"http://h/a\"}' | webloom explain links"]),
    (
        "explain fields",
        &[
            "echo '{\"html\":\"<h1>A</h1>\",\"base\":\"http://h/\",\"fields\":[\"title=h1\"]}' \\",
            "  | webloom explain fields",
        ],
    ),
    ("explain sitemap", &["echo '{\"body\":\"http://h/a\",\"url\":\"http://h/s.txt\"}' | webloom explain sitemap"]),
    ("completions", &["webloom completions bash > webloom.bash"]),
    ("man", &["webloom man man1"]),
];

/// The arguments of the program, with a short help and with examples.
pub(super) fn command(program: Command) -> Command {
    let version = Arg::new("version").short('V').long("version").action(ArgAction::Version);
    let version = version.help("Print the version").hide_short_help(true);
    with_help(program.disable_version_flag(true).arg(version), "")
}

/// A command and those below it with their help; `path` is the words after `webloom`.
fn with_help(command: Command, path: &str) -> Command {
    let names: Vec<_> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    let command = names.iter().fold(command, |command, name| {
        command.mut_subcommand(name, |below| with_help(below, format!("{path} {name}").trim_start()))
    });
    let help = Arg::new("help").short('h').long("help").action(ArgAction::Help).hide_short_help(true);
    let command =
        command.disable_help_flag(true).arg(help.help("Print this help; -h prints a short form").help_heading(None));
    let examples = examples(path);
    let short = if names.is_empty() {
        // What a flag takes is known only of a command that is built.
        let mut built = command.clone();
        built.build();
        format!("Options:\n{}\n\n{examples}", flags(&built, path).join("\n"))
    } else {
        examples.clone()
    };
    command.mut_args(|argument| argument.hide_short_help(true)).after_help(short).after_long_help(examples)
}

/// The flags of a command that people need most, one a line.
fn flags(command: &Command, path: &str) -> Vec<String> {
    let most_used = MOST_USED.iter().find(|(name, _)| *name == path).map(|(_, ids)| *ids);
    let all = || command.get_arguments().filter(|argument| argument.get_id() != "help");
    let options: Vec<_> = match most_used {
        Some(ids) => ids.iter().filter_map(|id| all().find(|argument| argument.get_id() == *id)).collect(),
        None => all().filter(|argument| !argument.is_positional()).collect(),
    };
    let shown: Vec<_> = all().filter(|argument| argument.is_positional()).chain(options).collect();
    let more = if most_used.is_some() { "Print this help; --help shows all flags" } else { "Print this help" };
    let rows = shown.iter().map(|argument| (name(argument), text(argument)));
    let rows: Vec<_> = rows.chain([("-h, --help".to_owned(), more.to_owned())]).collect();
    let wide = rows.iter().map(|row| row.0.len()).max().unwrap_or_default();
    rows.iter().map(|row| line(&row.0, wide, &row.1)).collect()
}

/// A flag as it is typed.
fn name(argument: &Arg) -> String {
    let long = argument.to_string();
    match argument.get_short() {
        Some(short) => format!("-{short}, {long}"),
        None if argument.is_positional() => long,
        None => format!("    {long}"),
    }
}

/// What a flag does, with its default.
fn text(argument: &Arg) -> String {
    let text = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let default = argument.get_default_values().first().filter(|_| !argument.is_hide_default_value_set());
    match default.and_then(|default| default.to_str()).filter(|_| argument.get_action().takes_values()) {
        Some(default) => format!("{text} [default: {default}]"),
        None => text,
    }
}

/// A line of `-h`; a default for which it has no room is left to `--help`.
fn line(name: &str, wide: usize, text: &str) -> String {
    let whole = format!("  {name:<wide$}  {text}");
    let short = whole.rsplit_once(" [default: ").map(|(short, _)| short.to_owned());
    short.filter(|_| whole.len() > WIDTH).unwrap_or(whole)
}

fn examples(path: &str) -> String {
    let lines = EXAMPLES.iter().filter(|(name, _)| *name == path).flat_map(|(_, lines)| *lines);
    let lines: Vec<_> = lines.map(|line| format!("  {line}")).collect();
    format!("Examples:\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::{super::program, *};

    /// Lines of a screen.
    const SCREEN: usize = 24;

    /// All commands with what follows `webloom`, and the program itself.
    fn all(command: &Command, path: &str) -> Vec<(String, Command)> {
        let below = command.get_subcommands().filter(|below| below.get_name() != "help");
        let below = below.flat_map(|below| all(below, format!("{path} {}", below.get_name()).trim_start()));
        [(path.to_owned(), command.clone())].into_iter().chain(below).collect()
    }

    fn at_width(columns: usize) -> Vec<(String, Command)> {
        let mut program = program().term_width(columns).max_term_width(110);
        program.build();
        all(&program, "").into_iter().map(|(path, command)| (path, command.term_width(columns))).collect()
    }

    #[test]
    fn the_short_help_of_every_command_fits_a_screen_and_has_an_example() {
        for columns in [WIDTH, 110] {
            let commands = at_width(columns);
            assert_eq!(commands.len(), EXAMPLES.len());
            for (path, mut command) in commands {
                let short = command.render_help().to_string();
                let most = if path.is_empty() { 2 * SCREEN } else { SCREEN };
                assert!(short.lines().count() <= most, "webloom {path} -h at {columns} columns:\n{short}");
                let mut lines = short.lines().filter(|line| !line.starts_with("Usage: "));
                assert!(lines.all(|line| line.chars().count() <= WIDTH), "{short}");
                let (_, examples) = short.split_once("Examples:\n  ").unwrap_or_else(|| panic!("{short}"));
                assert!(examples.contains(format!("webloom {path}").trim_end()), "{short}");
            }
        }
    }

    #[test]
    fn the_long_help_has_every_flag_and_the_examples() {
        for (path, mut command) in at_width(WIDTH) {
            let long = command.render_long_help().to_string();
            assert!(!long.starts_with('\n') && long.contains("Examples:\n  "), "{long}");
            for flag in command.get_arguments().filter_map(Arg::get_long) {
                assert!(long.contains(&format!("--{flag}")), "webloom {path} --help names no --{flag}");
            }
        }
    }

    #[test]
    fn a_crawl_and_a_watch_show_ten_flags_and_three_examples() {
        for (path, mut command) in at_width(WIDTH).into_iter().filter(|(path, _)| path == "crawl" || path == "watch") {
            let short = command.render_help().to_string();
            let flags = short.lines().filter(|line| line.trim_start().starts_with('-')).count();
            assert_eq!(flags, 10 + 1, "webloom {path} -h, with -h itself:\n{short}");
            assert_eq!(short.split_once("Examples:\n").unwrap().1.lines().count(), 3, "{short}");
            assert!(short.contains("--help shows all flags"), "{short}");
        }
    }
}
