//! `[[section]]`: the sections of a file as an array of tables, each with `match` and the limits that it has.

use super::{
    RawValue, schema,
    settings::{SECTION_LIMITS, section, written_section},
    tables::{ArrayOfTables, text},
};
use crate::sections::UrlSection;

/// The tables.
pub(super) const TABLES: ArrayOfTables<UrlSection> = ArrayOfTables {
    name: "section",
    keys: &["match", "max_depth", "max_pages", "delay"],
    holds: "match and one of max_depth, max_pages and delay",
    entry: |others, keys| {
        let regex = text(keys, "match").ok_or(("match", "give a regular expression".to_owned()))?;
        let given = |limit: &&&str| keys.contains_key(**limit);
        let value = |limit: &&'static str| {
            let value = keys.get(*limit).cloned().and_then(schema::read).unwrap_or(RawValue::List(Vec::new()));
            (*limit, value)
        };
        let limits = SECTION_LIMITS.iter().filter(given).map(value).collect::<Vec<_>>();
        section(others, regex, &limits)
    },
    written: written_section,
};

#[cfg(test)]
mod tests {
    use crate::config::{ConfigFault, Layers};

    fn resolve(file: &str) -> Result<String, Vec<String>> {
        let shown = |fault: &ConfigFault| fault.to_string();
        let resolved = Layers::new().file_text("f", file).resolve();
        let resolved = resolved.map_err(|faults| faults.faults().iter().map(shown).collect::<Vec<_>>())?;
        Ok(resolved.effective.scope.sections.unwrap().to_string())
    }

    #[test]
    fn tables_are_sections_in_their_order() {
        let file = "[[section]]\nmatch = '/a/'\ndelay = 5\nmax_pages = 10\n[[section]]\nmax_depth = 'unlimited'\nmatch = 'b => c'";
        let list = "[\"/a/ => max_pages=10 delay=5s\", \"b => c => max_depth=unlimited\"]";
        assert_eq!(resolve(file).as_deref(), Ok(list));
        assert_eq!(resolve(&format!("[scope]\nsections = {list}")).as_deref(), Ok(list));
        let unlimited = "[\"a => max_pages=unlimited\"]";
        assert_eq!(resolve("[[section]]\nmatch = 'a'\nmax_pages = 'none'").as_deref(), Ok(unlimited));
        assert_eq!(resolve(&format!("[scope]\nsections = {unlimited}")).as_deref(), Ok(unlimited));
        assert_eq!(resolve("section = []").as_deref(), Ok("[]"));
    }

    #[test]
    fn each_fault_names_its_entry() {
        for (table, fault) in [
            ("match = '('\nmax_pages = 1", "match: unclosed group; give a regular expression"),
            ("max_pages = 1", "match: give a regular expression"),
            ("match = ' '\nmax_pages = 1", "match: the pattern is empty; give a regular expression"),
            ("match = 'a'\nmax_pages = 1", "match: entry 1 has the same pattern and comes first"),
            ("match = 'b'", "match: it has no limit; give max_depth, max_pages or delay"),
            (
                "match = 'b'\nmax_pages = 0",
                "max_pages: give a whole number from 1 to 9223372036854775807, or \"unlimited\"",
            ),
            ("match = 'b'\nmax_depth = -1", "max_depth: give a whole number from 0 to 1000000, or \"unlimited\""),
            ("match = 'b'\nmax_depth = true", "max_depth: give a whole number from 0 to 1000000, or \"unlimited\""),
            ("match = 'b'\ndelay = '2d'", "delay: give a duration from 0s to 1d"),
            ("match = 'b'\nmax_page = 2", "max_page: unknown key, did you mean max_pages?"),
        ] {
            let file = format!("[[section]]\nmatch = 'a'\nmax_depth = 1\n[[section]]\n{table}");
            assert_eq!(resolve(&file), Err(vec![format!("f: [[section]] entry 2: {fault}")]), "{table}");
        }
        let twice = "[[section]]\nmatch = 'a'\nmax_depth = 1\n[scope]\nsections = []";
        assert_eq!(
            resolve(twice),
            Err(vec!["f: scope.sections: give this list once: as [[section]] or here".to_owned()])
        );
    }
}
