//! The policies on a site of known rates: pages that change by chance, independently, at a rate that never changes.

use super::{
    Bounds, Budget, Fixed, Multiplicative, Optimal, PageState, RevisitPolicy, SectionPath,
    chance::Chance,
    replay::{TraceChange, TraceEvent, replay, states},
};
use crate::time::Moment;

const PAGES: u32 = 5000;
const DAYS: f64 = 200.0;
const DAY: f64 = 86_400.0;

struct Site {
    events: Vec<TraceEvent>,
    sections: Vec<SectionPath>,
    /// Changes a second.
    rates: Vec<f64>,
}

impl Site {
    /// A fifth of the pages in each of five folders; mean times between changes from half a day to `spread` times that,
    /// their logarithms equally spread.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "milliseconds of 200 days")]
    fn new(seed: u64, spread: f64) -> Self {
        let mut chance = Chance::new(seed);
        let mut site = Self { events: Vec::new(), sections: Vec::new(), rates: Vec::new() };
        for page in 0..PAGES {
            let rate = 2.0 / DAY * spread.powf(-chance.share());
            site.sections.push(SectionPath::of(&format!("/{}/{page}", page % 5)));
            site.rates.push(rate);
            let mut seconds = 0.0;
            let mut what = TraceChange::New;
            while seconds < DAYS * DAY {
                site.events.push(TraceEvent { at: Moment::from_millis((seconds * 1000.0) as u64), page, change: what });
                seconds -= chance.share().ln() / rate;
                what = TraceChange::Changed;
            }
        }
        site.events.sort_by_key(|event| event.at);
        site
    }

    fn freshness(&self, policy: &mut dyn RevisitPolicy, budget: Budget) -> f64 {
        replay(&self.events, &self.sections, policy, budget).freshness.expect("its pages exist")
    }
}

/// 200 rounds, a day each, with fewer visits than pages, as many, and more.
#[test]
fn optimal_is_fresher_than_the_others() {
    let site = Site::new(1, 1000.0);
    for (visits, margin) in [(500.0, 0.01), (1000.0, 0.02), (5000.0, 0.015)] {
        let budget = Budget::per_day(visits).unwrap();
        let optimal = site.freshness(&mut Optimal::new(Bounds::default(), Optimal::EXPLORE), budget);
        let fixed = site.freshness(&mut Fixed::default(), budget);
        let multiplicative = site.freshness(&mut Multiplicative::default(), budget);
        println!("{visits} a day: fixed {fixed:.4}, multiplicative {multiplicative:.4}, optimal {optimal:.4}");
        assert!(optimal > fixed.max(multiplicative) + margin, "{visits}");
    }
}

#[test]
fn rates_are_estimated_within_15_percent() {
    let site = Site::new(2, 40.0);
    let mut policy = Optimal::new(Bounds::default(), Optimal::EXPLORE);
    let pages = states(&site.events, &site.sections, &mut policy, Budget::per_day(5000.0).unwrap());
    for estimate in [|page: &PageState| page.rate().expect("it was visited"), |page: &PageState| page.rate_in(1e-6)] {
        let known = pages.iter().zip(&site.rates).filter(|(page, _)| page.visits >= 20.0);
        let mut errors: Vec<_> = known.map(|(page, rate)| (estimate(page) / rate - 1.0).abs()).collect();
        errors.sort_by(f64::total_cmp);
        let median = errors[errors.len() / 2];
        println!("median error {median:.3} of {} pages", errors.len());
        assert!(errors.len() > 4000 && median < 0.15, "{median} of {}", errors.len());
    }
}

#[test]
fn a_million_pages_are_planned_at_once() {
    let classes = (0..1_000_000_u32).map(|page| super::Class(page.to_le_bytes()[0]));
    let began = std::time::Instant::now();
    let census = classes.collect();
    let plan = Optimal::new(Bounds::default(), 0.05).plan(&census, Budget::per_day(1e5).unwrap());
    println!("counted and planned in {:?}", began.elapsed());
    assert!(plan.visits_per_second(&census) > 0.0);
}
