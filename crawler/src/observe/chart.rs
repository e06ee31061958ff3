//! Charts, as SVG text.

use std::fmt::Write;

use crate::revisit::Point;

/// The plot's left, top, right and bottom, in pixels.
const PLOT: [f64; 4] = [50.0, 20.0, 780.0, 270.0];

/// Freshness over time: a curve from 0 to 1, with the half of the time marked from which it is judged.
///
/// ```
/// use webloom::internals::{observe::chart, revisit::Point, time::Moment};
/// let points = [0, 1, 2].map(|hour| Point { until: Moment::from_millis(hour * 3_600_000), freshness: 0.5 });
/// assert!(chart::curve(&points).starts_with("<svg "));
/// ```
pub fn curve(points: &[Point]) -> String {
    let [left, top, right, bottom] = PLOT;
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 310\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"800\" height=\"310\" fill=\"white\"/>\n",
    );
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let y = bottom - share * (bottom - top);
        let _ = writeln!(
            svg,
            "<path d=\"M{left} {y}H{right}\" stroke=\"#ccc\"/><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{share}</text>",
            left - 6.0,
            y + 4.0,
        );
    }
    let half = f64::midpoint(left, right);
    let _ = writeln!(svg, "<path d=\"M{half} {top}V{bottom}\" stroke=\"#888\" stroke-dasharray=\"4\"/>");
    let _ = writeln!(svg, "<polyline fill=\"none\" stroke=\"#06c\" points=\"{}\"/>", line(points));
    for (point, anchor, x) in [(points.first(), "start", left), (points.last(), "end", right)] {
        let day = point.map_or_else(String::new, |point| day(point.until.millis()));
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"290\" text-anchor=\"{anchor}\">{day}</text>");
    }
    let _ = writeln!(
        svg,
        "<text x=\"{half}\" y=\"290\" text-anchor=\"middle\">freshness (measured from here)</text>\n</svg>"
    );
    svg
}

fn line(points: &[Point]) -> String {
    let [left, top, right, bottom] = PLOT;
    let [first, last] = [points.first(), points.last()].map(|point| point.map_or(0, |point| point.until.millis()));
    let span = last.saturating_sub(first).max(1) as f64;
    let place = |point: &Point| {
        let x = left + (point.until.millis().saturating_sub(first)) as f64 / span * (right - left);
        format!("{x:.1},{:.1}", bottom - point.freshness * (bottom - top))
    };
    points.iter().map(place).collect::<Vec<_>>().join(" ")
}

/// The date in UTC.
fn day(millis: u64) -> String {
    let moment = i64::try_from(millis).ok().and_then(|millis| jiff::Timestamp::from_millisecond(millis).ok());
    moment.map_or_else(String::new, |moment| moment.strftime("%Y-%m-%d").to_string())
}
