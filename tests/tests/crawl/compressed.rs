//! Archives whose records are compressed in different ways.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::Command,
};

use flate2::read::MultiGzDecoder;
use webloom_tests::{
    archive::{files, files_in},
    server::{Asked, Reply, Server},
    webloom::{Webloom, assert_clean},
};

use crate::{Folder, serve};

fn site() -> Server {
    serve(|asked: &Asked| match asked.target.as_str() {
        "/" => Reply::links(["/long", "/secret", "/asked"]),
        "/long" => Reply::html(format!("<title>Long</title><p>{}", "many words of a page ".repeat(20_000))),
        "/secret" => Reply::html("<title>Hidden</title><p>confidential"),
        "/asked" if asked.headers.iter().any(|line| line.to_ascii_lowercase().starts_with("if-none-match")) => {
            Reply::status(304).header("ETag: \"1\"")
        }
        "/asked" => Reply::html("<p>asked").header("ETag: \"1\""),
        _ => Reply::status(404),
    })
}

fn crawl(dir: &Path, start: &str, compression: &str, flags: &[&str]) {
    let run = Webloom::crawl(dir, start).args(flags).env("WEBLOOM_ARCHIVE_COMPRESSION", compression).run();
    drop(run.expect(0));
    assert_clean(dir);
}

/// The text of a file by the library of its form.
fn text(file: &PathBuf) -> String {
    let (mut text, bytes) = (Vec::new(), fs::read(file).expect("it opens"));
    if file.extension().is_some_and(|end| end == "zst") {
        zstd::Decoder::new(&bytes[..]).expect("it begins").read_to_end(&mut text).expect("it is zstd");
    } else {
        MultiGzDecoder::new(&bytes[..]).read_to_end(&mut text).expect("it is gzip");
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn get(dir: &Path, url: &str, flags: &[&str]) -> String {
    let output = Command::new(webloom_tests::webloom::program()).arg("get").arg(dir).arg(url).args(flags).output();
    String::from_utf8_lossy(&output.expect("it starts").stdout).into_owned()
}

#[test]
fn an_archive_may_have_files_of_both_forms() {
    let (server, folder) = (site(), Folder::new());
    let (dir, start) = (folder.crawl(), server.url("/"));
    crawl(&dir, &start, "zstd", &["--archive", "warc"]);
    crawl(&dir, &start, "gzip", &["--again"]);
    crawl(&dir, &start, "zstd", &["--again"]);
    let ends = |files: &[PathBuf]| -> Vec<_> {
        files.iter().filter_map(|file| file.extension()?.to_str().map(str::to_owned)).collect()
    };
    let kept = files_in(&dir.join("archive"));
    assert_eq!(ends(&kept), ["zst", "gz", "zst"]);
    for file in &kept {
        let records = text(file).matches("WARC/1.1\r\nWARC-Type: ").count();
        // The file's own, and three of each of the four pages.
        assert_eq!(records, 13, "{}", file.display());
    }
    for flags in [&[][..], &["--sequence", "0"], &["--sequence", "1"], &["--sequence", "2"]] {
        assert!(get(&dir, &server.url("/long"), flags).ends_with("many words of a page "), "{flags:?}");
        assert_eq!(get(&dir, &server.url("/asked"), flags), "<p>asked", "{flags:?}");
    }
    let out = dir.with_extension("out");
    let export =
        |form: &str, out: &Path| Webloom::new(["export"]).args([&dir]).args(["--format", form, "-o"]).args([out]).run();
    drop(export("warc", &out).expect(0));
    assert_eq!(ends(&files_in(&out)), ["zst", "gz", "zst"]);
    assert!(export("wacz", &dir.with_extension("wacz")).expect(2).stderr.contains("zstd"));
    drop(Webloom::new(["forget"]).args([&dir]).args(["/secret$", "--yes"]).run().expect(0));
    assert_clean(&dir);
    let left = files(&dir);
    assert_eq!(ends(&left), ["zst", "gz", "zst"]);
    assert!(left.iter().all(|file| !text(file).contains("confidential") && text(file).contains("/long")));
    assert_eq!(get(&dir, &server.url("/asked"), &["--sequence", "2"]), "<p>asked");
}

#[test]
fn damage_is_found_whatever_the_form() {
    for form in ["gzip", "zstd"] {
        let (server, folder) = (site(), Folder::new());
        let dir = folder.crawl();
        crawl(&dir, &server.url("/"), form, &["--archive", "warc"]);
        let archive = &files(&dir)[0];
        let whole = fs::read(archive).unwrap();
        let index = fs::read_to_string(dir.join("archive/index.cdxj")).unwrap();
        // In the middle of a record: of the first bytes of a gzip member nobody reads all.
        for line in index.lines() {
            let line: serde_json::Value = serde_json::from_str(&line[line.find('{').unwrap()..]).unwrap();
            let number = |name: &str| line[name].as_str().unwrap().parse::<usize>().unwrap();
            let place = number("offset") + number("length") / 2;
            let mut bytes = whole.clone();
            bytes[place] ^= 0x10;
            fs::write(archive, &bytes).unwrap();
            assert!(Webloom::new(["check"]).args([&dir]).run().code == Some(1), "{form} {place}");
            let out = dir.with_extension(format!("{form}-{place}"));
            let export = Webloom::new(["export"]).args([&dir]).args(["--format", "warc", "-o"]).args([&out]).run();
            assert!(export.code == Some(2) && export.stderr.contains("archive"), "{form} {place}: {}", export.stderr);
        }
        fs::write(archive, &whole).unwrap();
        assert_clean(&dir);
    }
}

#[test]
fn an_export_goes_on_where_a_kill_has_left_it() {
    let (server, folder) = (site(), Folder::new());
    let dir = folder.crawl();
    crawl(&dir, &server.url("/"), "gzip", &["--archive", "warc"]);
    let [mirror, warcs, wacz] = ["mirror", "warcs", "wacz"].map(|end| dir.with_extension(end));
    let export =
        |form: &str, out: &Path| Webloom::new(["export"]).args([&dir]).args(["--format", form, "-o"]).args([out]).run();
    drop(export("mirror", &mirror).expect(0));
    let list = mirror.join(".webloom.jsonl");
    let whole = fs::read_to_string(&list).unwrap();
    // The list has its mark before anything is written, and a line before each file: what a kill has left is known and goes.
    let (mark, left) = (whole.lines().next().unwrap(), mirror.join("left.html"));
    for begun in [String::new(), format!("{mark}\n"), format!("{mark}\n{{\"file\":\"left.html\"}}\n")] {
        fs::write(&list, &begun).unwrap();
        fs::write(&left, "left").unwrap();
        drop(export("mirror", &mirror).expect(0));
        assert_eq!(fs::read_to_string(&list).unwrap(), whole);
        assert_eq!(left.exists(), !begun.contains("left"), "{begun}");
    }
    fs::write(&list, "{\"crawl\":\"another\"}\n").unwrap();
    drop(export("mirror", &mirror).expect(2));
    drop(export("warc", &warcs).expect(0));
    let index = fs::read_to_string(warcs.join("index.cdxj")).unwrap();
    fs::rename(warcs.join("index.cdxj"), warcs.join("index.cdxj.new")).unwrap();
    drop(export("warc", &warcs).expect(0));
    assert_eq!(fs::read_to_string(warcs.join("index.cdxj")).unwrap(), index);
    let parts = wacz.with_added_extension("parts");
    fs::create_dir(&parts).unwrap();
    fs::copy(&files_in(&warcs)[0], parts.join("webloom-1-00001.warc.gz")).unwrap();
    drop(export("wacz", &wacz).expect(0));
    assert!(wacz.exists() && !parts.exists());
}
