//! Completions and manual pages: made for every command, and in a form that their readers take.

use std::{
    collections::BTreeSet,
    fs,
    process::{Command, Output},
};

use webloom_tests::webloom::program;

use crate::{program::help, settings::SUBCOMMANDS};

fn webloom(arguments: &[&str]) -> Output {
    Command::new(program()).args(arguments).output().unwrap()
}

#[test]
fn each_shell_gets_completions_of_all_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = webloom(&["completions", shell]);
        assert!(output.status.success(), "{shell}");
        let script = String::from_utf8(output.stdout).unwrap();
        for command in SUBCOMMANDS.iter().filter_map(|command| command.split(' ').next()) {
            assert!(script.contains(command), "{shell}: {command}");
        }
        assert!(script.contains("max-lost-urls"), "{shell}: flags");
    }
    let other = webloom(&["completions", "tcsh"]);
    assert_eq!(other.status.code(), Some(2), "a shell for which there are none");
}

#[test]
fn the_completions_of_bash_complete() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("webloom.bash");
    fs::write(&script, webloom(&["completions", "bash"]).stdout).unwrap();
    let line =
        "source \"$0\"; COMP_WORDS=(webloom cra) COMP_CWORD=1; _webloom webloom cra webloom; echo \"${COMPREPLY[@]}\"";
    let output = Command::new("bash").args(["--norc", "-c", line]).arg(&script).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "crawl\n", "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn every_command_has_a_manual_page() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("man1");
    let output = webloom(&["man", folder.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let pages = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let pages: BTreeSet<_> = pages.collect();
    let of = |command: &str| format!("webloom-{}.1", command.replace(' ', "-"));
    let commands = SUBCOMMANDS.iter().flat_map(|command| [*command, command.split(' ').next().unwrap()]);
    let expected: BTreeSet<_> = commands.map(of).chain(["webloom.1".to_owned()]).collect();
    assert_eq!(pages, expected);
    for page in &pages {
        let text = fs::read_to_string(folder.join(page)).unwrap();
        assert!(text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"), "{page}");
        assert!(!text.contains("help(1)") && !text.contains("\\-help(1)"), "{page} names a page that is not there");
    }
    assert!(fs::read_to_string(folder.join("webloom-crawl.1")).unwrap().contains("max\\-lost\\-urls"));
    assert!(help("man").contains("DIR"));
}

#[test]
fn the_pages_are_right_for_those_who_show_them() {
    let dir = tempfile::tempdir().unwrap();
    assert!(webloom(&["man", dir.path().to_str().unwrap()]).status.success());
    if Command::new("groff").arg("--version").output().is_err() {
        webloom_tests::skip::skip("no groff");
        return;
    }
    for entry in fs::read_dir(dir.path()).unwrap() {
        let page = entry.unwrap().path();
        let output = Command::new("groff").args(["-man", "-Kutf8", "-Tutf8", "-ww", "-z"]).arg(&page).output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && complaint.is_empty(), "{}: {complaint}", page.display());
    }
}
