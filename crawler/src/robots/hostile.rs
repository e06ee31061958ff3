//! Expensive files: none of the largest size costs more than the bound, with room for a slow machine and an unoptimised
//! build. A reader or a matcher that repeats its work takes minutes here.

use std::time::{Duration, Instant};

use super::{MAX_BYTES, ProductToken, Robots};

/// A file of the largest size, of lines made from a counter.
fn largest(line: impl Fn(usize) -> String) -> String {
    let mut file = "user-agent: *\n".to_owned();
    for line in (0..).map(line) {
        if file.len() + line.len() > MAX_BYTES {
            break;
        }
        file.push_str(&line);
    }
    file
}

/// Five letters of sixteen: different for each of a million numbers.
fn word(number: usize) -> String {
    (0..5).map(|place| char::from(b'a' + u8::try_from(number >> (4 * place) & 15).unwrap())).collect()
}

#[test]
fn no_file_is_dear_to_read_or_to_ask() {
    let agent = ProductToken::new("x").unwrap();
    let stars = "*a".repeat(20);
    let files = [
        ("stars", largest(|number| format!("allow:/{}{stars}*{number}z\n", word(number)))),
        ("leading stars", largest(|number| format!("allow:{stars}*{number}$\n"))),
        ("one line", format!("user-agent: *\ndisallow: /{}", "*a".repeat(MAX_BYTES / 2 - 20))),
        ("words", largest(|number| format!("allow:*{}qq\n", word(number)))),
        ("prefixes", largest(|number| format!("allow:/{number}\n"))),
        ("agents", largest(|number| format!("user-agent:{number}\n"))),
        ("sitemaps", largest(|number| format!("sitemap:{number}\n"))),
        ("empty lines", "\r".repeat(MAX_BYTES)),
        ("colons", ":".repeat(MAX_BYTES)),
        ("escapes", format!("user-agent: *\ndisallow: /{}", "%2a".repeat(MAX_BYTES / 3 - 10))),
    ];
    let paths = [format!("/{}b", "a".repeat(2_000)), (0..333).map(|number| word(number * 2_477) + "q").collect()];
    for (name, file) in &files {
        let begun = Instant::now();
        let robots = Robots::parse(file.as_bytes(), &agent);
        let read = begun.elapsed();
        for path in &paths {
            robots.decide(path);
        }
        let asked = begun.elapsed().saturating_sub(read);
        println!("{name}: read in {read:?}, two paths judged in {asked:?}");
        assert!(read + asked < Duration::from_secs(2), "{name}: {read:?} + {asked:?}");
    }
}
