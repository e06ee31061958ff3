//! Figures: curves over a logarithmic or plain axis, as SVG.
//!
//! Owns how they look. It does not know what is measured.

use std::{fs, ops::Range, path::Path};

use anyhow::{Context, Result, anyhow};
use plotters::{
    coord::ranged1d::{AsRangedCoord, ValueFormatter},
    prelude::*,
};

/// One curve.
pub(crate) struct Curve {
    /// What it shows, for the legend; curves of one name have one colour and one entry there.
    pub(crate) name: String,
    /// In order of x. What cannot be drawn (zero on a logarithmic axis) is left out.
    pub(crate) points: Vec<(f64, f64)>,
    /// How it is drawn.
    pub(crate) stroke: Stroke,
}

/// How a curve is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stroke {
    /// A line with a dot at each point: what was measured.
    Measured,
    /// A thin line: what a formula says.
    Theory,
    /// Crosses alone: what was published.
    Published,
}

/// Which way an axis counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    Linear,
    Logarithmic,
}

/// A figure of one panel.
pub(crate) struct Figure {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) curves: Vec<Curve>,
}

/// An axis: its name with the unit, and which way it counts.
pub(crate) struct Axis {
    pub(crate) name: String,
    pub(crate) scale: Scale,
    /// Whether an even axis begins at zero, however far that is from the values.
    from_zero: bool,
}

const SIZE: (u32, u32) = (1_060, 520);

/// Colours that the colour-blind tell apart (Okabe and Ito 2008).
const COLOURS: [RGBColor; 9] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(90, 90, 90),
    RGBColor(148, 103, 189),
    RGBColor(0, 0, 0),
];

impl Axis {
    /// An axis that counts evenly from zero.
    pub(crate) fn linear(name: &str) -> Self {
        Self { name: name.to_owned(), scale: Scale::Linear, from_zero: true }
    }

    /// An axis that counts evenly from the least value on, for sizes of which none is near zero.
    pub(crate) fn close(name: &str) -> Self {
        Self { from_zero: false, ..Self::linear(name) }
    }

    /// An axis that counts in powers.
    pub(crate) fn logarithmic(name: &str) -> Self {
        Self { scale: Scale::Logarithmic, ..Self::linear(name) }
    }

    fn shows(&self, value: f64) -> bool {
        value.is_finite() && (self.scale == Scale::Linear || value > 0.0)
    }

    /// From the least to the greatest value, with some air.
    fn range(&self, values: impl Iterator<Item = f64>) -> Range<f64> {
        let (low, high) = values
            .filter(|value| self.shows(*value))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        match self.scale {
            _ if low > high => 1.0..2.0,
            Scale::Logarithmic => low / 1.3..high * 1.3,
            Scale::Linear if !self.from_zero => {
                let air = 0.04 * (high - low).max(f64::MIN_POSITIVE);
                low - air..high + air
            }
            Scale::Linear => low.min(0.0)..high.max(low + f64::MIN_POSITIVE) * 1.04,
        }
    }
}

impl Figure {
    /// Writes the figure into a folder, which is made if need be, as `name.svg`.
    pub(crate) fn write(&self, folder: &Path, name: &str) -> Result<()> {
        let path = folder.join(format!("{name}.svg"));
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        fs::write(&path, self.svg()?).with_context(|| format!("cannot write {}", path.display()))
    }

    fn svg(&self) -> Result<String> {
        let mut text = String::new();
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let (x, y) = (self.x.range(points().map(|point| point.0)), self.y.range(points().map(|point| point.1)));
        let canvas = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        let drawn = match (self.x.scale, self.y.scale) {
            (Scale::Linear, Scale::Linear) => self.draw(&canvas, x, y),
            (Scale::Linear, Scale::Logarithmic) => self.draw(&canvas, x, y.log_scale()),
            (Scale::Logarithmic, Scale::Linear) => self.draw(&canvas, x.log_scale(), y),
            (Scale::Logarithmic, Scale::Logarithmic) => self.draw(&canvas, x.log_scale(), y.log_scale()),
        };
        drawn.and_then(|()| Ok(canvas.present()?)).map_err(|error| anyhow!("cannot draw {}: {error}", self.title))?;
        drop(canvas);
        Ok(text)
    }

    fn draw<X, Y>(&self, canvas: &Canvas<'_>, x: X, y: Y) -> Result<(), Box<dyn std::error::Error>>
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
        Y::CoordDescType: ValueFormatter<f64>,
    {
        canvas.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(canvas)
            .margin(14)
            .margin_right(self.legend_width())
            .caption(&self.title, ("sans-serif", 19))
            .x_label_area_size(46)
            .y_label_area_size(74)
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .x_desc(&self.x.name)
            .y_desc(&self.y.name)
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.12))
            .axis_style(BLACK.mix(0.6))
            .label_style(("sans-serif", 13))
            .x_label_formatter(&|value| number(*value))
            .y_label_formatter(&|value| number(*value))
            .draw()?;
        let mut names: Vec<&str> = Vec::new();
        for curve in &self.curves {
            let known = names.iter().position(|name| *name == curve.name);
            let place = known.unwrap_or(names.len());
            let shown = || curve.points.iter().copied().filter(|point| self.x.shows(point.0) && self.y.shows(point.1));
            let style = curve.style(place);
            match curve.stroke {
                Stroke::Published => chart.draw_series(shown().map(|point| Cross::new(point, 5, style)))?,
                Stroke::Measured | Stroke::Theory => chart.draw_series(LineSeries::new(shown(), style))?,
            };
            if curve.stroke == Stroke::Measured {
                chart.draw_series(shown().map(|point| dot(point, place, style)))?;
            }
            if known.is_none() {
                names.push(&curve.name);
                self.legend(canvas, place, curve)?;
            }
        }
        Ok(())
    }

    /// A line of the legend, to the right of the panel, where it hides no curve.
    fn legend(&self, canvas: &Canvas<'_>, place: usize, curve: &Curve) -> Result<(), Box<dyn std::error::Error>> {
        let left = SIZE.0.cast_signed() - self.legend_width() + 12;
        let middle = 60 + 24 * i32::try_from(place)?;
        let style = curve.style(place);
        match curve.stroke {
            Stroke::Published => canvas.draw(&Cross::new((left + 9, middle), 5, style))?,
            Stroke::Theory => canvas.draw(&PathElement::new([(left, middle), (left + 18, middle)], style))?,
            Stroke::Measured => {
                canvas.draw(&PathElement::new([(left, middle), (left + 18, middle)], style))?;
                canvas.draw(&dot((left + 9, middle), place, style))?;
            }
        }
        Ok(canvas.draw(&Text::new(curve.name.clone(), (left + 26, middle - 5), ("sans-serif", 13)))?)
    }

    /// Pixels that the longest name takes.
    fn legend_width(&self) -> i32 {
        let longest = self.curves.iter().map(|curve| curve.name.chars().count()).max().unwrap_or(0);
        i32::try_from(longest).unwrap_or(0).min(50) * 6 + 54
    }
}

impl Curve {
    /// The colour of its place in the legend, and its width.
    fn style(&self, place: usize) -> ShapeStyle {
        let width = if self.stroke == Stroke::Theory { 1 } else { 2 };
        COLOURS[place % COLOURS.len()].stroke_width(width)
    }
}

/// What marks a point: a ring on every second curve, so that a curve shows which another one covers.
fn dot<C>(point: C, place: usize, style: ShapeStyle) -> Circle<C, i32> {
    if place % 2 == 1 { Circle::new(point, 6, style) } else { Circle::new(point, 3, style.filled()) }
}

type Canvas<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// A number of an axis, short: 2,000 is `2k`, 0.0001 is `1e-4`.
fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        "0".to_owned()
    } else if size >= 1e6 {
        format!("{}M", rounded(value / 1e6))
    } else if size >= 1e4 {
        format!("{}k", rounded(value / 1e3))
    } else if size < 9.99e-3 {
        format!("{value:.0e}")
    } else {
        rounded(value)
    }
}

/// Three decimals at most, and none that say nothing.
fn rounded(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(y: Axis) -> Figure {
        let curve = |name: &str, stroke| Curve {
            name: name.to_owned(),
            points: vec![(1.0, 0.0), (2.0, 1e-3), (3.0, 1e-2)],
            stroke,
        };
        let curves = vec![
            curve("counted", Stroke::Measured),
            curve("formula", Stroke::Theory),
            curve("printed", Stroke::Published),
        ];
        Figure { title: "Rates".to_owned(), x: Axis::linear("URLs"), y, curves }
    }

    #[test]
    fn a_figure_names_its_axes_and_curves() {
        for y in [Axis::linear("rate"), Axis::logarithmic("rate")] {
            let svg = figure(y).svg().unwrap();
            for word in ["<svg", "Rates", "URLs", "rate", "counted", "formula", "printed", "</svg>"] {
                assert!(svg.contains(word), "{word}");
            }
        }
    }

    #[test]
    fn curves_of_one_name_have_one_entry() {
        let mut twice = figure(Axis::linear("rate"));
        for curve in &mut twice.curves {
            curve.name = "same".to_owned();
        }
        assert_eq!(twice.svg().unwrap().matches("\nsame\n").count(), 1);
    }

    #[test]
    fn a_figure_of_nothing_is_drawn_too() {
        let nothing = Figure { curves: Vec::new(), ..figure(Axis::logarithmic("rate")) };
        assert!(nothing.svg().unwrap().contains("Rates"));
    }

    #[test]
    fn numbers_of_an_axis_are_short() {
        let shown = [0.0, 1e-4, 0.01, 0.25, 300.0, 20_000.0, 2.5e6].map(number);
        assert_eq!(shown, ["0", "1e-4", "0.01", "0.25", "300", "20k", "2.5M"]);
    }
}
