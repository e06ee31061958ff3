//! Archives, as other programs see them.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use rusqlite::{Connection, OpenFlags};

/// The WARC files of a crawl directory, in their order.
///
/// # Panics
/// When there is no archive.
pub fn files(dir: &Path) -> Vec<PathBuf> {
    files_in(&dir.join("archive"))
}

/// The same of any folder.
///
/// # Panics
/// When there is no such folder.
pub fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("there is a folder");
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    let mut files: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "gz" || end == "zst")).collect();
    files.sort();
    files
}

/// `warcio check` finds nothing wrong with an archive, and each stored page of each sequence has one record in it.
///
/// # Panics
/// When that is not so.
pub fn assert_sound(dir: &Path) {
    assert_valid(&files(dir));
    assert_has_all_pages(dir);
}

/// `warcio check` finds nothing wrong with these files.
///
/// # Panics
/// When that is not so.
pub fn assert_valid(files: &[PathBuf]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/python");
    if folder.join("warcio").exists() {
        let check =
            Command::new("python3").env("PYTHONPATH", folder).args(["-m", "warcio.cli", "check"]).args(files).output();
        let output = check.expect("python3 starts");
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "{said}");
    } else {
        println!("warcio is not here");
    }
}

fn assert_has_all_pages(dir: &Path) {
    let database = Connection::open_with_flags(dir.join("webloom.sqlite"), OpenFlags::SQLITE_OPEN_READ_ONLY);
    let unlike = "SELECT count(*) FROM visit LEFT JOIN archive_record AS record ON record.visit = visit.id
        WHERE outcome = 'stored' AND (record.url IS NOT visit.url OR record.status IS NOT visit.status)";
    let unlike: u64 =
        database.and_then(|database| database.query_row(unlike, [], |row| row.get(0))).expect("it can be read");
    assert_eq!(unlike, 0, "stored pages without a record");
}
