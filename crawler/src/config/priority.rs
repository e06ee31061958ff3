//! `[[priority]]`: the priorities of a file as an array of tables, each with `match` and `weight`.

use super::{
    RawValue, schema,
    settings::{PriorityFault, as_entry, priority},
    tables::{ArrayOfTables, text},
};
use crate::order::Priority;

/// The tables.
pub(super) const TABLES: ArrayOfTables<Priority> = ArrayOfTables {
    name: "priority",
    keys: &["match", "weight"],
    holds: "match and weight",
    entry: |others, keys| {
        let regex = text(keys, "match").ok_or(("match", "give a regular expression".to_owned()))?;
        let weight = keys.get("weight").cloned().and_then(schema::read);
        priority(others, regex, weight.as_ref().and_then(RawValue::as_number)).map_err(|fault| {
            let key = if fault == PriorityFault::Weight { "weight" } else { "match" };
            (key, fault.to_string())
        })
    },
    written: as_entry,
};

#[cfg(test)]
mod tests {
    use crate::config::{ConfigFault, Layers};

    fn resolve(file: &str) -> Result<Vec<String>, Vec<String>> {
        let layers = Layers::new().file_text("f", &format!("frontier.order = \"best\"\n{file}"));
        let shown = |fault: &ConfigFault| fault.to_string();
        let rules = layers
            .resolve()
            .map_err(|faults| faults.faults().iter().map(shown).collect::<Vec<_>>())?
            .settings
            .frontier
            .priority;
        Ok(rules.iter().map(super::as_entry).collect())
    }

    #[test]
    fn tables_are_rules_in_their_order() {
        let file = "[[priority]]\nmatch = \"b\"\nweight = 10\n[[priority]]\nweight = 0.25\nmatch = 'a=\\d'";
        assert_eq!(resolve(file), Ok(vec!["b=10".to_owned(), "a=\\d=0.25".to_owned()]));
        assert_eq!(resolve("priority = []"), Ok(vec![]));
    }

    #[test]
    fn each_fault_names_its_entry() {
        let weight = "give a weight between 0.001 and 1000";
        for (tables, faults) in [
            ("match = '('\nweight = 1", vec!["match: unclosed group; give a regular expression".to_owned()]),
            ("weight = 1", vec!["match: give a regular expression".to_owned()]),
            ("match = 7\nweight = 1", vec!["match: give a regular expression".to_owned()]),
            ("match = 'b'", vec![format!("weight: {weight}")]),
            ("match = 'b'\nweight = -1", vec![format!("weight: {weight}")]),
            ("match = 'b'\nweight = nan", vec![format!("weight: {weight}")]),
            ("match = 'b'\nweight = inf", vec![format!("weight: {weight}")]),
            ("match = 'b'\nweight = 99999999999", vec![format!("weight: {weight}")]),
            ("match = 'b'\nweight = [1]", vec![format!("weight: {weight}")]),
            ("match = 'a'\nweight = 2", vec!["match: entry 1 has the same pattern and comes first".to_owned()]),
            (
                "match = 'b'\nwieght = 2\ncolour = 3",
                vec![
                    "colour: unknown key, see `webloom config default` for all of them".to_owned(),
                    "wieght: unknown key, see `webloom config default` for all of them".to_owned(),
                ],
            ),
        ] {
            let file = format!("[[priority]]\nmatch = 'a'\nweight = 1\n[[priority]]\n{tables}");
            let expected: Vec<_> = faults.iter().map(|fault| format!("f: [[priority]] entry 2: {fault}")).collect();
            assert_eq!(resolve(&file), Err(expected), "{tables}");
        }
    }

    #[test]
    fn other_forms_are_refused() {
        let one = "f: priority: write [[priority]] with match and weight, once for each pattern".to_owned();
        assert_eq!(resolve("[priority]\nmatch = 'a'\nweight = 1"), Err(vec![one]));
        let text = "f: [[priority]] entry 1: give a table with match and weight".to_owned();
        assert_eq!(resolve("priority = ['a=1']"), Err(vec![text]));
        let both = "f: frontier.priority: give this list once: as [[priority]] or here".to_owned();
        assert_eq!(resolve("frontier.priority = ['a=1']\n[[priority]]\nmatch = 'a'\nweight = 1"), Err(vec![both]));
        let near = "f: priorty: unknown key, did you mean priority?".to_owned();
        assert_eq!(resolve("[[priorty]]\nmatch = 'a'\nweight = 1"), Err(vec![near]));
    }
}
