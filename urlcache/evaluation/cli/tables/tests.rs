//! The tables against themselves, without a measurement.

use super::{departures::Cause, *};

#[test]
fn a_list_of_names_chooses_tables_and_figures() {
    let all = printed::all().unwrap();
    let ids = |only: &[&str]| {
        let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
        let chosen = chosen(&all, &only).map(|tables| tables.into_iter().map(|table| table.id).collect::<Vec<_>>());
        chosen.map_err(|error| error.to_string())
    };
    assert_eq!(ids(&["5.9", " A.1"]).unwrap(), ["5.9", "figure A.1", "A.1"]);
    assert_eq!(ids(&["figure A.1"]).unwrap(), ["figure A.1"]);
    assert_eq!(ids(&["5.1"]).unwrap(), ["5.1", "figure 5.1"]);
    assert_eq!(ids(&[]).unwrap().len(), all.len());
    let error = ids(&["5.22"]).unwrap_err();
    assert!(error.contains("\"5.22\"") && error.contains("figure A.6") && error.contains("5.21"), "{error}");
}

/// The variance of the counts of single runs is that of theory, whatever part of it comes from the share of bits set.
#[test]
fn runs_vary_as_theory_says() {
    const RUNS: u64 = 3_000;
    let urls = Urls::generated(1_000);
    for (probes, tenths, filters) in [(1, 20, 1), (3, 20, 1), (3, 10, 1), (2, 10, 2)] {
        let setting = measure::Setting { families: Vec::new(), probes, tenths, filters, visits: 1 };
        let wanted =
            measure::Wanted { chain: setting.chain(true), length: setting.together(), filling: true, full: true };
        let filling = theory::Filling { keys: 1e3, bits: setting.bits(1_000) as f64, probes, together: filters };
        let runs = (0..RUNS).flat_map(|seed| {
            let effort = Effort { runs: 1, seed: HashSeed::new(seed), threads: 1 };
            measure(std::slice::from_ref(&wanted), &urls, effort, |_| ())
        });
        let (mut full, mut all) = (Vec::new(), Vec::new());
        let mut last = Vec::new();
        for run in runs {
            full.push(run.full[filters as usize - 1] as f64 / 1e3);
            all.push(run.filling.iter().sum::<u64>() as f64 / 1e3);
            last.push(run.filling[9] as f64 / 1e2);
        }
        let cases = [
            ("full", full, filling.full(), filling.full_variance()),
            ("filling", all, filling.mean(&(0.0..1e3)), filling.mean_variance(&(0.0..1e3))),
            ("last tenth", last, filling.mean(&(9e2..1e3)), filling.mean_variance(&(9e2..1e3))),
        ];
        for (what, rates, mean, variance) in cases {
            let runs = RUNS as f64;
            let average = rates.iter().sum::<f64>() / runs;
            let spread = rates.iter().map(|rate| (rate - average).powi(2)).sum::<f64>() / (runs - 1.0);
            let deviation = (average - mean) / (variance / runs).sqrt();
            // The standard error of the ratio is some 0.026.
            let name = format!("{what}, {probes} HF, {tenths} tenths, {filters} filters");
            assert!(
                deviation.abs() < 4.0 && (spread / variance - 1.0).abs() < 0.11,
                "{name}: {deviation} {spread} {variance}"
            );
        }
    }
}

/// What the thesis printed, against theory, without a measurement of ours.
fn judged() -> Vec<(String, table::Cell)> {
    let all = printed::all().unwrap();
    let wanted = rates::wanted(&all);
    let counted = Counted::new(&wanted, vec![measure::Counts::default(); wanted.len()], 1_000, 1);
    let tables = all.iter().filter(|printed| printed.has_rates()).map(|printed| counted.table(printed));
    tables.flat_map(|table| table.cells.into_iter().map(move |cell| (table.id.clone(), cell))).collect()
}

#[test]
fn every_departure_of_the_thesis_has_a_cause_and_every_cause_a_departure() {
    for (id, cell) in judged().iter().filter(|(_, cell)| cell.thesis.is_some()) {
        let name = format!("{id}, {}, {}: {:?} {:?}", cell.row, cell.column, cell.departure, cell.reason);
        let beyond = cell.thesis_deviation_se.unwrap().abs();
        match cell.departure {
            Some(Cause::Scatter | Cause::Misprint) => assert!(beyond > 3.0, "{name}: only {beyond}"),
            Some(Cause::LuckyHit) => assert!((1.0..3.0).contains(&beyond), "{name}: {beyond}"),
            _ => assert!(beyond <= 3.0, "{name}: {beyond} is not explained"),
        }
    }
}

#[test]
fn of_the_cells_of_strategies_seven_are_off_and_no_other_by_more_than_two_per_cent_of_many_hits() {
    let is_off =
        |cell: &table::Cell| matches!(cell.departure, Some(Cause::Scatter | Cause::Misprint | Cause::LuckyHit));
    let strategies = |id: &str| ["5.9", "5.16", "5.17", "5.18", "5.19", "5.20", "5.21"].contains(&id);
    let all = judged();
    let cells: Vec<_> = all.iter().filter(|(id, _)| strategies(id)).collect();
    assert_eq!((cells.len(), cells.iter().filter(|(_, cell)| is_off(cell)).count()), (240, 7));
}

/// The note on table 5.10 says how much the Java objects around the bits take.
#[test]
fn every_printed_memory_but_the_misprint_is_that_of_the_bits_and_a_little() {
    let all = printed::all().unwrap();
    let mut cells = 0;
    for table in all.iter().filter(|table| ["5.10", "5.11", "5.12"].contains(&table.id.as_str())) {
        for entry in table.entries().filter(|entry| departures::misprint(&table.id, *entry).is_none()) {
            let setting = table.setting(entry);
            let bytes = setting.bits(departures::KEYS) as f64 / 8.0 * f64::from(setting.filters);
            let around = entry.value() - bytes / 1_024.0;
            assert!((36.5..42.5).contains(&around), "{}, {}, {}: {around}", table.id, entry.row, entry.column);
            cells += 1;
        }
    }
    assert_eq!(cells, 3 * 48 - 1);
}
