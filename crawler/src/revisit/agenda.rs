//! [`Agenda`]: which page is next, in memory. (A store does the same with an index over class and last visit.)

use std::collections::VecDeque;

use super::{Census, Class, Plan};
use crate::time::Moment;

/// The pages of each class, longest unvisited first.
///
/// Invariant: pages are put in with ascending times, so each class stays sorted.
#[derive(Debug, Clone)]
pub struct Agenda {
    classes: Vec<VecDeque<Entry>>,
    /// The classes that have pages, in no order.
    occupied: Vec<Class>,
    census: Census,
    /// Visits that the pages longest unvisited are owed.
    owed: f64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    page: u32,
    visited: Moment,
}

impl Agenda {
    /// How many pages there are of each class.
    pub fn census(&self) -> &Census {
        &self.census
    }

    /// Puts in a page that was visited now.
    pub fn put(&mut self, page: u32, class: Class, now: Moment) {
        let queue = &mut self.classes[class.index()];
        if queue.is_empty() {
            self.occupied.push(class);
        }
        queue.push_back(Entry { page, visited: now });
        self.census.add(class);
    }

    /// Takes out a page of this class that was put in at this moment or within the second after it.
    pub fn withdraw(&mut self, page: u32, class: Class, visited: Moment) {
        let queue = &mut self.classes[class.index()];
        let from = queue.partition_point(|entry| entry.visited < visited);
        if let Some(place) = queue.range(from..).position(|entry| entry.page == page) {
            queue.remove(from + place);
            self.taken(class);
        }
    }

    /// Takes out the page to be visited now: the one that is the most overdue or the nearest to it, and for the exploring
    /// share the one longest unvisited. `None` when there is no page.
    pub fn next(&mut self, plan: &Plan, now: Moment) -> Option<u32> {
        self.owed += plan.explore();
        let class = if self.owed >= 1.0 {
            self.owed -= 1.0;
            self.greatest(|_, visited| now.since(visited).as_secs_f64())
        } else {
            self.greatest(|class, visited| plan.overdue(class, visited, now))
        }?;
        let entry = self.classes[class.index()].pop_front()?;
        self.taken(class);
        Some(entry.page)
    }

    /// The class whose page longest unvisited has the greatest of these.
    fn greatest(&self, of: impl Fn(Class, Moment) -> f64) -> Option<Class> {
        let heads = self.occupied.iter().filter_map(|class| Some((*class, self.classes[class.index()].front()?)));
        let rated = heads.map(|(class, head)| (class, of(class, head.visited)));
        rated.max_by(|(a, x), (b, y)| x.total_cmp(y).then(b.cmp(a))).map(|(class, _)| class)
    }

    fn taken(&mut self, class: Class) {
        self.census.remove(class);
        if self.classes[class.index()].is_empty() {
            self.occupied.retain(|occupied| *occupied != class);
        }
    }
}

impl Default for Agenda {
    fn default() -> Self {
        Self {
            classes: vec![VecDeque::new(); Class::COUNT],
            occupied: Vec::new(),
            census: Census::default(),
            owed: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revisit::{Bounds, Budget, Fixed, Multiplicative, RevisitPolicy};

    fn at(seconds: u64) -> Moment {
        Moment::from_millis(seconds * 1000)
    }

    #[test]
    fn the_longest_unvisited_of_a_class_is_first() {
        let mut agenda = Agenda::default();
        for page in 0..3 {
            agenda.put(page, Class(0), at(u64::from(page)));
        }
        agenda.withdraw(1, Class(0), at(1));
        agenda.withdraw(7, Class(0), at(0));
        assert_eq!(agenda.census().total(), 2);
        let plan = Fixed::default().plan(agenda.census(), Budget::per_day(9.0).unwrap());
        assert_eq!([(); 3].map(|()| agenda.next(&plan, at(9))), [Some(0), Some(2), None]);
        assert_eq!(agenda.census().total(), 0);
    }

    #[test]
    fn the_most_overdue_class_is_first_unless_a_visit_explores() {
        let mut agenda = Agenda::default();
        agenda.put(0, Class(200), at(0));
        agenda.put(1, Class(100), at(50));
        agenda.put(2, Class(100), at(60));
        let plan = Multiplicative::new(Bounds::default()).plan(agenda.census(), Budget::per_day(1.0).unwrap());
        assert_eq!(agenda.clone().next(&plan, at(1000)), Some(1));
        assert_eq!(agenda.next(&plan.exploring(1.0), at(1000)), Some(0));
    }
}
