//! The documents' figures 3 to 5 redrawn: false positives, query time and insertion time by the number of URLs.

use std::path::Path;

use anyhow::Result;

use super::{
    clock::Time,
    contest::{Answer, Outcome},
    method::{Memory, Method, Spec},
    report::Round,
    site::Kind,
};
use crate::figure::{Axis, Curve, Figure, Stroke};

/// Writes all figures into a folder.
pub(super) fn write(folder: &Path, rounds: &[Round]) -> Result<()> {
    let Some(first) = rounds.first() else { return Ok(()) };
    let mut memories: Vec<Memory> = Vec::new();
    for outcome in first.outcomes.iter().filter(|outcome| outcome.spec.shape.is_some()) {
        if !memories.contains(&outcome.spec.memory) {
            memories.push(outcome.spec.memory);
        }
    }
    for memory in memories {
        for kind in Kind::ALL.into_iter().filter(|kind| first.outcomes.iter().any(|o| o.answer(*kind).is_some())) {
            let name = format!("false-positives-{}-{}", memory.name(), kind.name()).replace(' ', "-");
            false_positives(rounds, memory, kind).write(folder, &name)?;
        }
    }
    // A list that is kept sorted is searched like one that was sorted once, and which of the two it is shows in the other figure.
    let query = |outcome: &Outcome| mean(outcome.hit, outcome.miss).filter(|_| outcome.spec.method != Method::Sorted);
    times(rounds, "Figure 4: time of a query, members and others in equal parts", query).write(folder, "query-time")?;
    let insert = |outcome: &Outcome| Some(outcome.insert?.median).filter(|_| outcome.spec.method != Method::Linear);
    times(rounds, "Figure 5: time of an insertion", insert).write(folder, "insertion-time")
}

fn mean(hit: Option<Time>, miss: Option<Time>) -> Option<f64> {
    Some(f64::midpoint(hit?.median, miss?.median))
}

fn false_positives(rounds: &[Round], memory: Memory, kind: Kind) -> Figure {
    let of_memory = |spec: &Spec| spec.memory == memory;
    let rate = |outcome: &Outcome| outcome.answer(kind).map(Answer::rate);
    let of = match memory {
        Memory::Documents => "the documents' memory".to_owned(),
        Memory::Exact | Memory::Equal(_) => {
            format!("{} bits a URL for each", memory.name().replace("equal ", "about "))
        }
    };
    Figure {
        title: format!("Figure 3: false positives, {} URLs, {of}", kind.name()),
        x: Axis::logarithmic("URLs in the set"),
        y: Axis::logarithmic("share of the questions taken for members"),
        curves: curves(rounds, of_memory, rate),
    }
}

fn times(rounds: &[Round], title: &str, of: impl Fn(&Outcome) -> Option<f64>) -> Figure {
    let shown = |spec: &Spec| matches!(spec.memory, Memory::Documents | Memory::Exact);
    Figure {
        title: title.to_owned(),
        x: Axis::logarithmic("URLs in the set"),
        y: Axis::logarithmic("nanoseconds a URL"),
        curves: curves(rounds, shown, of),
    }
}

/// The curves of each outcome that is shown and has a value, by its place among the outcomes.
fn curves(rounds: &[Round], shown: impl Fn(&Spec) -> bool, of: impl Fn(&Outcome) -> Option<f64>) -> Vec<Curve> {
    let places = rounds.iter().map(|round| round.outcomes.len()).min().unwrap_or(0);
    let some = |place: usize| -> Vec<Curve> {
        let Some(Round { outcomes, .. }) = rounds.first() else { return Vec::new() };
        let spec = &outcomes[place].spec;
        let all = |of: &dyn Fn(&Round, &Outcome) -> Option<f64>| -> Vec<(f64, f64)> {
            let point = |round: &Round| Some((round.extent.urls as f64, of(round, &round.outcomes[place])?));
            rounds.iter().filter_map(point).collect()
        };
        let name = label(spec, rounds, place);
        let measured = all(&|_, outcome| of(outcome));
        if !shown(spec) || measured.is_empty() {
            return Vec::new();
        }
        // Nothing was found: a logarithmic axis has no place for it, but for what was to be expected.
        let computed = || all(&|round, outcome| Some(outcome.spec.shape.as_ref()?.stated_rate(round.extent.urls)));
        let found = measured.iter().filter(|point| point.1 > 0.0).count();
        let whole = matches!(spec.method, Method::Bloom | Method::Multilayer);
        let curve = |name: String, points, stroke| Curve { name, points, stroke };
        if found == 0 {
            return vec![curve(format!("{name}: 0 counted, computed"), computed(), Stroke::Theory)];
        }
        if found == measured.len() || !whole {
            return vec![curve(name, measured, Stroke::Measured)];
        }
        let name = format!("{name}; thin: computed");
        vec![curve(name.clone(), measured, Stroke::Measured), curve(name, computed(), Stroke::Theory)]
    };
    (0..places).flat_map(some).collect()
}

/// What a curve shows, with its bits a URL in the largest set.
fn label(spec: &Spec, rounds: &[Round], place: usize) -> String {
    let name = match spec.method {
        Method::SegmentSet => "documents' Bloom",
        Method::Bloom => "Bloom of whole URLs",
        Method::MultilayerPlain => "documents' multi-layer",
        Method::Multilayer => "multi-layer, corrected",
        method @ (Method::Linear | Method::Binary | Method::Sorted | Method::HashSet) => method.name(),
    };
    match rounds.last() {
        Some(last) if spec.shape.is_some() => {
            format!("{name}, {:.0} bits", last.outcomes[place].bits as f64 / last.extent.urls as f64)
        }
        _ => name.to_owned(),
    }
}
