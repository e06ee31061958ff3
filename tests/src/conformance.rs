//! Judging a conformance set: every deviation is listed with the clause it rests on, and a listed case that passes is a fault too.

use std::collections::BTreeMap;

/// One conformance set while it is being judged.
#[derive(Debug)]
pub struct ConformanceSet {
    name: &'static str,
    listed: BTreeMap<String, String>,
    total: usize,
    deviating: usize,
    faults: Vec<String>,
}

impl ConformanceSet {
    /// A set named `name`; `deviations` holds one `case id<TAB>clause` a line, `#` comments.
    ///
    /// # Panics
    /// When a line of the list has no clause.
    pub fn new(name: &'static str, deviations: &str) -> Self {
        let listed = deviations
            .lines()
            .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
            .map(|line| {
                let (id, clause) = line.split_once('\t').expect("a deviation is `case id<TAB>clause`");
                assert!(!clause.trim().is_empty(), "{name}: no clause given for {id}");
                (id.to_owned(), clause.to_owned())
            })
            .collect();
        Self { name, listed, total: 0, deviating: 0, faults: Vec::new() }
    }

    /// Records one case: `Ok` passed, `Err` says how it differs.
    pub fn case(&mut self, id: &str, outcome: Result<(), String>) {
        self.total += 1;
        let listed = self.listed.remove(id).is_some();
        match outcome {
            Ok(()) if listed => self.faults.push(format!("{id}: listed as a deviation, but passes")),
            Ok(()) => {}
            Err(_) if listed => self.deviating += 1,
            Err(difference) => self.faults.push(format!("{id}: {difference}")),
        }
    }

    /// Ends the set: prints its count, and fails on any unlisted difference, on a stale list, or when more than `max_deviating` (a share) is listed.
    ///
    /// # Panics
    /// When the set does not conform.
    pub fn finish(mut self, max_deviating: f64) {
        let stale = std::mem::take(&mut self.listed);
        self.faults.extend(stale.into_keys().map(|id| format!("{id}: listed, but no such case")));
        println!(
            "{}: {} cases, {} listed deviations, {} faults",
            self.name,
            self.total,
            self.deviating,
            self.faults.len()
        );
        let shown: Vec<_> = self.faults.iter().take(20).map(String::as_str).collect();
        assert!(self.faults.is_empty(), "{}: {} faults\n{}", self.name, self.faults.len(), shown.join("\n"));
        assert!(self.total > 0, "{}: no case was run", self.name);
        let share = self.deviating as f64 / self.total as f64;
        assert!(share <= max_deviating, "{}: {share:.4} of the cases deviate, {max_deviating} may", self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listed_difference_is_accepted() {
        let mut set = ConformanceSet::new("toy", "# why\nb\tclause 1\n");
        set.case("a", Ok(()));
        set.case("b", Err("differs".into()));
        set.finish(0.5);
    }

    #[test]
    #[should_panic(expected = "but passes")]
    fn a_listed_case_that_passes_is_a_fault() {
        let mut set = ConformanceSet::new("toy", "a\tclause");
        set.case("a", Ok(()));
        set.finish(1.0);
    }

    #[test]
    #[should_panic(expected = "differs")]
    fn an_unlisted_difference_is_a_fault() {
        let mut set = ConformanceSet::new("toy", "");
        set.case("a", Err("differs".into()));
        set.finish(1.0);
    }

    #[test]
    #[should_panic(expected = "no such case")]
    fn a_stale_list_is_a_fault() {
        let mut set = ConformanceSet::new("toy", "gone\tclause");
        set.case("a", Ok(()));
        set.finish(1.0);
    }
}
