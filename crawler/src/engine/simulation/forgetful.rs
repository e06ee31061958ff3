//! A crawl that forgets its history as soon as it may is the same as one that keeps it.

use rusqlite::types::ValueRef;

use super::{
    Random,
    crawl::SimulatedCrawl,
    grow::WebPlan,
    settings::{self, Stage},
};
use crate::store::sqlite::Records;

/// What is known of each page now, and what the last sequence reported.
const KNOWN: [&str; 4] = [
    "SELECT url.id, url.url, state, url.reason, admitted_in, outcome, status, hex(digest), title, hex(links), sequence, via, depth
     FROM url LEFT JOIN visit ON visit.id = url.visit ORDER BY url.id",
    "SELECT url.id, visit.sequence, hex(digest), hex(links), same FROM url JOIN visit ON visit.id = url.copy ORDER BY url.id",
    "SELECT url, condition, doubt, flaps, calm, restless, volatile, orphaned, good, earlier FROM page_state ORDER BY url",
    "SELECT url, change, hex(before), hex(after), target, count FROM change WHERE sequence = (SELECT max(n) FROM sequence)
     ORDER BY url, change, id",
];

/// Crawls the web of a seed to the end, and keeps so much; what is known then, and how many visits are kept.
fn crawl(seed: u64, keep: &str) -> (Vec<String>, u64) {
    let mut random = Random::new(seed);
    let plan = WebPlan::new(&mut random);
    let web = plan.web(0, &mut random);
    let stages = settings::stages(&plan, &mut random);
    let stages = stages
        .iter()
        .map(|stage| stage.text.replace("keep_sequences = 10", "keep_sequences = 1"))
        .map(|text| Stage::new(&text.replace("[store]\n", &format!("[store]\nkeep = \"{keep}\"\n"))))
        .collect();
    let mut crawl = SimulatedCrawl::new(web, stages, random).with_plan(plan);
    // Which pages are due in between is a matter of milliseconds.
    crawl.between = None;
    crawl.go_on_to_the_end().unwrap_or_else(|problem| panic!("seed {seed} with {keep}: {problem}"));
    let records = Records::open(crawl.folder.path()).unwrap();
    let mut known = Vec::new();
    for query in KNOWN {
        let mut select = records.connection().prepare(query).unwrap();
        let columns = select.column_count();
        let mut rows = select.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let cell = |column| match row.get_ref(column).unwrap() {
                ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
                other => format!("{other:?}"),
            };
            let cells = (0..columns).map(cell);
            known.push(cells.collect::<Vec<_>>().join(" "));
        }
    }
    let visits = records.connection().query_row("SELECT count(*) FROM visit", [], |row| row.get(0)).unwrap();
    (known, visits)
}

#[test]
fn what_is_forgotten_changes_nothing_of_what_is_known() {
    let mut forgotten = 0;
    for seed in 0..if std::env::var("LONG").is_ok_and(|long| long == "1") { 400 } else { 40 } {
        let [(all, visits), (few, fewer)] = ["all", "1 sequence"].map(|keep| crawl(seed, keep));
        for (one, other) in all.iter().zip(&few) {
            assert_eq!(one, other, "seed {seed}");
        }
        assert_eq!(all.len(), few.len(), "seed {seed}");
        forgotten += visits - fewer;
    }
    println!("{forgotten} visits were forgotten");
    assert!(forgotten > 0);
}
