//! How fresh the copies were in each sequence, as a chart.

use std::fmt::Write;

use crate::store::SequenceLosses;

/// The plot's left, top, right and bottom, in units of the drawing.
const PLOT: [f64; 4] = [50.0, 10.0, 590.0, 150.0];

/// A chart of sequences, the last one first; a sentence where there is too little to draw.
pub(super) fn figure(sequences: &[SequenceLosses]) -> String {
    let measured = |one: &SequenceLosses| Some((one.sequence, one.measured.as_ref()?.freshness()?));
    let mut points: Vec<_> = sequences.iter().filter_map(measured).collect();
    points.reverse();
    let [(first, _), .., (last, now)] = points[..] else {
        return "<p>Not measured yet: it takes three sequences.</p>".to_owned();
    };
    let [left, top, right, bottom] = PLOT;
    let label = format!(
        "Share of the time in which copies were as their pages, from sequence {first} to {last}; {:.0} % at last",
        now * 100.0
    );
    let mut svg = format!("<figure><svg viewBox=\"0 0 600 175\" role=\"img\" aria-label=\"{label}\">");
    for share in [0.0, 0.5, 1.0] {
        let y = bottom - share * (bottom - top);
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{left} {y}H{right}\"/><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{:.0} %</text>",
            left - 5.0,
            y + 4.0,
            share * 100.0
        );
    }
    let span = f64::from((last - first).max(1));
    let place = |(sequence, share): &(u32, f64)| {
        format!(
            "{:.1},{:.1}",
            left + f64::from(sequence - first) / span * (right - left),
            bottom - share * (bottom - top)
        )
    };
    let line = points.iter().map(place).collect::<Vec<_>>().join(" ");
    let _ = write!(
        svg,
        "<polyline class=\"line\" points=\"{line}\"/><text x=\"{left}\" y=\"170\">sequence {first}</text>\
         <text x=\"{right}\" y=\"170\" text-anchor=\"end\">sequence {last}</text></svg>"
    );
    let _ = write!(svg, "<figcaption>{label}.</figcaption></figure>");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revisit::Span;

    fn sequence(number: u32, fresh: f64) -> SequenceLosses {
        let measured = Some(Span { seconds: 100.0, fresh, age: 0.0 });
        SequenceLosses {
            sequence: number,
            measured,
            began_at: 0,
            end: None,
            expected: 0.0,
            audited: 0,
            swept: None,
            recovered: 0,
        }
    }

    #[test]
    fn two_sequences_make_a_line() {
        let none = SequenceLosses { measured: None, ..sequence(3, 0.0) };
        assert!(figure(&[sequence(2, 50.0), none.clone()]).starts_with("<p>Not measured yet"));
        let drawn = figure(&[sequence(4, 75.0), none, sequence(2, 100.0)]);
        assert!(drawn.contains("points=\"50.0,10.0 590.0,45.0\"") && drawn.contains("75 % at last"), "{drawn}");
    }
}
