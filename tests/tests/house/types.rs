//! Types: a name that other files may use is declared once in the crawler, so that it has one meaning.

use std::collections::BTreeMap;

use syn::{
    Ident, ItemEnum, ItemStruct, ItemTrait, ItemType, Visibility,
    visit::{self, Visit},
};

use crate::{
    assert_none,
    source::{Source, below, shipped},
};

#[test]
fn each_type_has_a_name_of_its_own() {
    assert_none("type names", &faults(&shipped(below(&["crawler/src"]))));
}

/// Each name that is declared more than once, with the places.
fn faults(sources: &[Source]) -> Vec<String> {
    let mut declared: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for source in sources {
        let mut types = Types::default();
        types.visit_file(&source.shipped);
        for name in types.names {
            declared.entry(name).or_default().push(&source.path);
        }
    }
    let repeated = declared.into_iter().filter(|(_, paths)| paths.len() > 1);
    repeated.map(|(name, paths)| format!("`{name}` is declared in {}", paths.join(" and "))).collect()
}

/// Collects the names of the types that are not private to their module.
#[derive(Debug, Default)]
struct Types {
    names: Vec<String>,
}

impl Types {
    fn add(&mut self, visibility: &Visibility, name: &Ident) {
        if !matches!(visibility, Visibility::Inherited) {
            self.names.push(name.to_string());
        }
    }
}

impl<'ast> Visit<'ast> for Types {
    fn visit_item_enum(&mut self, item: &'ast ItemEnum) {
        self.add(&item.vis, &item.ident);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        self.add(&item.vis, &item.ident);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast ItemTrait) {
        self.add(&item.vis, &item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast ItemType) {
        self.add(&item.vis, &item.ident);
        visit::visit_item_type(self, item);
    }
}

#[test]
fn a_name_that_is_declared_twice_is_a_fault() {
    let sources = [
        Source::new("crawler/src/a.rs", "pub struct Ended; struct Own;"),
        Source::new("crawler/src/b.rs", "pub(crate) enum Ended { A } struct Own; pub struct Other;"),
        Source::new("crawler/src/c.rs", "#[cfg(test)] mod tests { pub struct Other; }"),
    ];
    assert_eq!(faults(&sources), ["`Ended` is declared in crawler/src/a.rs and crawler/src/b.rs"]);
}
