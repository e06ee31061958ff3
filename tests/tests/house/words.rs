//! Words: the vocabulary keeps one word per idea, and these are not of it.

use std::fs;

use crate::{
    assert_none,
    source::{files, root},
};

/// Each word, all its forms, and what to say instead.
const INSTEAD: &[(&[&str], &str)] = &[
    (&["law", "laws"], "invariant"),
    (&["door", "doors"], "admission"),
    (&["knock", "knocks", "knocked"], "request"),
    (&["errand", "errands"], "work item"),
    (&["nook", "nooks"], "place"),
    (&["keeper", "keepers"], "store"),
    (&["verdict", "verdicts"], "answer of the cache, decision, or result"),
    (&["told"], "reported, said, known, given or asked"),
    (&["heed", "heeds", "heeded", "heeding"], "observe, obey or use"),
    (&["ailing"], "unhealthy"),
    (&["forgo", "forgoes", "forgoing", "forgone"], "drop"),
    (&["besides"], "extra, also or beside"),
    (&["sidelined"], "excluded"),
    (&["caution", "cautions"], "penalty"),
    (&["stands"], "is, means, or the state of"),
];

/// Where a word may be.
struct Exception {
    word: &'static str,
    /// Files whose path begins like this.
    below: &'static str,
    /// Lines that contain this.
    line: &'static str,
    reason: &'static str,
}

const EXCEPTIONS: &[Exception] = &[
    Exception {
        word: "law",
        below: "crawler/src/revisit/class.rs",
        line: "power law",
        reason: "what the literature calls a distribution of this form",
    },
    Exception {
        word: "law",
        below: "urlcache/evaluation/",
        line: "",
        reason: "what statistics calls a distribution: Zipf's, Poisson's, that of the tails; and a word in URLs that are made up",
    },
    Exception {
        word: "verdict",
        below: "crawler/src/observe/summary/",
        line: "",
        reason: "the verdict of a whole crawl keeps its name",
    },
    Exception {
        word: "told",
        below: "crawler/src/observe/summary/",
        line: "\"told\"",
        reason: "a key of the summary as JSON, which users read",
    },
    Exception {
        word: "ailing",
        below: "crawler/src/observe/summary/",
        line: "\"ailing_hosts\"",
        reason: "a key of the summary as JSON, which users read",
    },
    Exception {
        word: "ailing",
        below: "crawler/src/store/sqlite/",
        line: "ailing_since",
        reason: "a column of the database, which stored crawls have",
    },
    Exception {
        word: "ailing",
        below: "tests/tests/crawl/escapes.rs",
        line: "ailing_since",
        reason: "a column of the database, which stored crawls have",
    },
];

/// Folders that no rule holds for, and why.
const LEFT_OUT: &[(&str, &str)] = &[("tests/tests/house/words.rs", "it lists the words")];

#[test]
fn the_vocabulary_is_kept() {
    let paths = files(&["crawler", "urlcache", "tests"]);
    let is_left_out = |path: &str| LEFT_OUT.iter().any(|(folder, _)| path.starts_with(folder));
    let mut found = Vec::new();
    for path in paths.iter().filter(|path| !is_left_out(path)) {
        found.extend(faults(path, &fs::read_to_string(root().join(path)).unwrap()));
    }
    assert_none("words", &found);
}

/// Every use of a word that is not of the vocabulary, with its place.
fn faults(path: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        for word in words(line) {
            let instead = INSTEAD.iter().find(|(forms, _)| forms.contains(&&*word));
            if let Some((_, instead)) = instead.filter(|_| !is_allowed(path, line, &word)) {
                faults.push(format!("{path}:{number}: `{word}`: say {instead}"));
            }
        }
    }
    faults
}

fn is_allowed(path: &str, line: &str, word: &str) -> bool {
    EXCEPTIONS.iter().any(|exception| {
        let Exception { word: allowed, below, line: part, reason } = exception;
        assert!(!reason.is_empty(), "an exception has a reason");
        word == *allowed && path.starts_with(below) && line.contains(part)
    })
}

/// The words of a line in lower case; an identifier is as many as it is made from.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut last = ' ';
    for letter in line.chars() {
        // A word of an identifier in camel case begins with a capital.
        let begins = !letter.is_ascii_alphabetic() || (letter.is_ascii_uppercase() && last.is_ascii_lowercase());
        if begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_ascii_alphabetic()) {
            word.push(letter.to_ascii_lowercase());
        }
        last = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn an_identifier_is_the_words_that_it_is_made_from() {
    assert_eq!(words("fn was_told(x: AilingHost)"), ["fn", "was", "told", "x", "ailing", "host"]);
    assert_eq!(words("// It's forgotten, MAX_LAW."), ["it", "s", "forgotten", "max", "law"]);
}

#[test]
fn a_word_that_is_not_of_the_vocabulary_is_a_fault() {
    let found =
        faults("crawler/src/a.rs", "fn a() {}\n/// What stands there.\nstruct AilingHosts;\nlet was_told = 1;\n");
    let places = [":2: `stands`: ", ":3: `ailing`: ", ":4: `told`: "];
    assert_eq!(found.len(), places.len(), "{found:?}");
    assert!(found.iter().zip(places).all(|(fault, place)| fault.starts_with(&format!("crawler/src/a.rs{place}"))));
}

#[test]
fn other_words_and_exceptions_are_none() {
    let count = |path: &str, text: &str| faults(path, text).len();
    assert_eq!(count("a.rs", "forgotten trailing_half standing foretold understands"), 0);
    assert_eq!(count("crawler/src/observe/summary/mod.rs", "mod verdict; \"told\": 1, \"ailing_hosts\": 2"), 0);
    assert_eq!(count("crawler/src/observe/summary/mod.rs", "let told = 1;"), 1);
    assert_eq!(count("crawler/src/store/sqlite/a.rs", "SELECT ailing_since"), 0);
    assert_eq!(count("crawler/src/store/a.rs", "ailing_since"), 1);
}
