//! Tables of false positives: thesis, theory, and what we counted.
//!
//! Owns which settings a table needs and how its cells are made of their counts. It does not know how runs are made, nor how
//! tables are shown.

use std::{collections::HashMap, ops::Range};

use super::{
    departures::{self, departure},
    measure::{Chain, Counts, Setting, TENTHS, Wanted, tenth},
    printed::{Entry, Printed, Quantity},
    score::Score,
    table::{Cell, Table},
    theory::{Best, Filling},
};

/// What was counted, and how often.
pub(crate) struct Counted {
    counts: HashMap<Chain, Counts>,
    keys: usize,
    runs: u32,
}

/// Every chain of these tables, once, as long as any of them wants it.
pub(crate) fn wanted(tables: &[Printed]) -> Vec<Wanted> {
    let mut all: Vec<Wanted> = Vec::new();
    for table in tables.iter().filter(|table| table.has_rates()) {
        let (filling, full) = (table.quantity == Quantity::Filling, table.quantity == Quantity::Full);
        for setting in table.entries().map(|entry| table.setting(entry)) {
            let (chain, length) = (setting.chain(filling), setting.together());
            if let Some(known) = all.iter_mut().find(|wanted| wanted.chain == chain) {
                known.length = known.length.max(length);
                known.filling |= filling;
                known.full |= full;
            } else {
                all.push(Wanted { chain, length, filling, full });
            }
        }
    }
    all
}

impl Counted {
    /// The counts of these chains, in their order.
    pub(crate) fn new(wanted: &[Wanted], counts: Vec<Counts>, keys: usize, runs: u32) -> Self {
        let counts = wanted.iter().map(|wanted| wanted.chain.clone()).zip(counts).collect();
        Self { counts, keys, runs }
    }

    /// A table with all its cells.
    pub(crate) fn table(&self, printed: &Printed) -> Table {
        let mut table = Table::new(printed, "per cent");
        let mut scores = Vec::new();
        for entry in printed.entries() {
            let setting = printed.setting(entry);
            let whole = Column::whole(printed, &setting, self);
            if printed.is_figure() {
                let parts = (0..TENTHS).map(|number| Column::tenth(number, &setting, self));
                // A tenth is scored as if it were independent of the others of its run: they share what the number of set
                // bits varies, a few hundredths of their variance.
                for part in parts {
                    table.cells.push(part.cell(entry.row, &part.label));
                    scores.push(part.score);
                }
            } else {
                scores.push(whole.score);
            }
            let label = if printed.is_figure() { "all" } else { entry.column };
            table.cells.push(whole.against(printed, entry, &setting, label));
        }
        if let Some(fit) = Score::fit(&scores) {
            table.fit(fit);
        }
        table.scatter = scatter(&table.cells);
        table
    }
}

/// The root mean square of the thesis' deviations, of cells with many hits; 1 for independent runs.
fn scatter(cells: &[Cell]) -> Option<f64> {
    let many =
        cells.iter().filter(|cell| cell.theory.is_some_and(|theory| theory / 100.0 * departures::TRIALS > 5_000.0));
    let squares: Vec<f64> = many.filter_map(|cell| cell.thesis_deviation_se).map(|se| se * se).collect();
    (!squares.is_empty()).then(|| (squares.iter().sum::<f64>() / squares.len() as f64).sqrt())
}

/// What was counted of a setting over a range of URLs.
struct Column {
    label: String,
    score: Score,
    best: Option<Best>,
}

impl Column {
    /// Over all URLs.
    fn whole(printed: &Printed, setting: &Setting, counted: &Counted) -> Self {
        let keys = counted.keys as f64;
        let filling = filling(setting, counted.keys);
        let (rate, variance) = expected(printed.quantity, &filling, &(0.0..keys));
        let hits = match printed.quantity {
            Quantity::Filling => counted.of(setting, true).filling.iter().sum(),
            _ => counted.of(setting, false).full[setting.together() as usize - 1],
        };
        let best = match printed.quantity {
            Quantity::Filling => filling.best_mean(setting.filters, setting.visits),
            _ => filling.best_full(setting.filters, setting.visits),
        };
        Self { label: String::new(), score: counted.score(hits, keys, rate, variance), best: Some(best) }
    }

    /// Over a tenth of those that are added.
    fn tenth(number: usize, setting: &Setting, counted: &Counted) -> Self {
        let range = tenth(counted.keys, number) as f64..tenth(counted.keys, number + 1) as f64;
        let (rate, variance) = expected(Quantity::Filling, &filling(setting, counted.keys), &range);
        let hits = counted.of(setting, true).filling[number];
        let label = format!("{}-{} %", number * 10, number * 10 + 10);
        Self { label, score: counted.score(hits, range.end - range.start, rate, variance), best: None }
    }

    fn cell(&self, row: &str, column: &str) -> Cell {
        let (score, interval) = (self.score, self.score.interval());
        let percent = |share: f64| Some(share * 100.0);
        Cell {
            theory: percent(score.rate),
            ours: percent(score.hits / score.trials),
            deviation_se: Some(score.deviation()),
            low: percent(interval.low),
            high: percent(interval.high),
            hits: Some(count(score.hits)),
            trials: Some(count(score.trials)),
            best_k: self.best.map(|best| best.probes),
            best: self.best.and_then(|best| percent(best.rate)),
            ..Cell::new(row, column)
        }
    }

    /// The cell beside the printed one. What the thesis printed is held against the theory of its own million URLs.
    fn against(&self, printed: &Printed, entry: Entry<'_>, setting: &Setting, label: &str) -> Cell {
        let filling = filling(setting, departures::KEYS);
        let (rate, variance) = expected(printed.quantity, &filling, &(0.0..departures::KEYS as f64));
        let hits = (entry.value() / 100.0 * departures::TRIALS).round();
        let error = (variance / departures::RUNS).sqrt();
        let (deviation, found) = departure(&printed.id, entry, Score { hits, trials: departures::TRIALS, rate, error });
        let mut cell = self.cell(entry.row, label);
        cell.thesis = Some(entry.value());
        cell.thesis_deviation_se = Some(deviation);
        cell.departure = found.as_ref().map(|found| found.cause);
        cell.reason = found.map(|found| found.reason);
        cell
    }
}

impl Counted {
    fn of(&self, setting: &Setting, filling: bool) -> Counts {
        self.counts.get(&setting.chain(filling)).copied().unwrap_or_default()
    }

    /// Of so many URLs a run, whose measured rate has this variance in one run.
    fn score(&self, hits: u64, urls: f64, rate: f64, variance: f64) -> Score {
        let runs = f64::from(self.runs);
        Score { hits: hits as f64, trials: urls * runs, rate, error: (variance / runs).sqrt() }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number above zero")]
fn count(number: f64) -> u64 {
    number.round() as u64
}

fn filling(setting: &Setting, keys: usize) -> Filling {
    let bits = setting.bits(keys) as f64;
    Filling { keys: keys as f64, bits, probes: setting.probes, together: setting.together() }
}

/// The expected rate over the keys of a range, and its variance in one run.
fn expected(quantity: Quantity, filling: &Filling, range: &Range<f64>) -> (f64, f64) {
    match quantity {
        Quantity::Filling => (filling.mean(range), filling.mean_variance(range)),
        _ => (filling.full(), filling.full_variance()),
    }
}
