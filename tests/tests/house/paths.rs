//! What a file names: every path of its shipped code, made absolute as far as its own text allows.

use proc_macro2::{TokenStream, TokenTree};
use syn::{Item, ItemMod, ItemUse, Macro, Path, UseTree, Visibility, spanned::Spanned, visit::Visit};

use crate::source::Source;

/// One path in a source file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// `crate::a::b::C`, `std::fs::File`, `tokio::spawn`; a path that starts with a local name stays as it is written.
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
    /// The name that a `use` gives it here.
    pub(crate) name: Option<String>,
    /// It is named to be shown to others: `pub use`.
    pub(crate) is_shown: bool,
}

/// Every path of two or more segments, and every `use`, in the shipped code of `source`.
pub(crate) fn named(source: &Source) -> Vec<Named> {
    let mut collector =
        Collector { module: module_of(&source.path), children: Vec::new(), found: Vec::new(), is_shown: false };
    collector.children = child_modules(&source.shipped.items);
    collector.visit_file(&source.shipped);
    collector.found
}

/// The module path of a file below a crate's `src/`: `crawler/src/fetch/http/mod.rs` is `["fetch", "http"]`.
pub(crate) fn module_of(path: &str) -> Vec<String> {
    let below = path.split_once("/src/").map_or(path, |(_, below)| below);
    let stem = below.strip_suffix(".rs").unwrap_or(below);
    let mut parts: Vec<_> = stem.split('/').map(str::to_owned).collect();
    if matches!(parts.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        parts.pop();
    }
    parts
}

struct Collector {
    module: Vec<String>,
    children: Vec<String>,
    found: Vec<Named>,
    is_shown: bool,
}

impl Collector {
    fn add(&mut self, segments: Vec<String>, line: usize) {
        self.add_as(segments, line, None);
    }

    fn add_as(&mut self, segments: Vec<String>, line: usize, name: Option<String>) {
        let segments = self.absolute(segments);
        self.found.push(Named { segments, line, is_shown: self.is_shown && name.is_some(), name });
    }

    fn absolute(&self, segments: Vec<String>) -> Vec<String> {
        let ups = segments.iter().take_while(|segment| *segment == "super").count();
        let (from, rest) = match segments.first().map(String::as_str) {
            Some("super") => (&self.module[..self.module.len().saturating_sub(ups)], &segments[ups..]),
            Some("self") => (&self.module[..], &segments[1..]),
            Some(first) if self.children.iter().any(|child| child == first) => (&self.module[..], &segments[..]),
            _ => return segments,
        };
        std::iter::once("crate".to_owned()).chain(from.iter().chain(rest).cloned()).collect()
    }

    fn add_use(&mut self, tree: &UseTree, before: &[String], line: usize) {
        let with = |name: String| before.iter().cloned().chain([name]).collect::<Vec<_>>();
        match tree {
            UseTree::Path(path) => self.add_use(&path.tree, &with(path.ident.to_string()), line),
            UseTree::Name(name) if name.ident == "self" => {
                self.add_as(before.to_vec(), line, before.last().cloned());
            }
            UseTree::Name(name) => self.add_as(with(name.ident.to_string()), line, Some(name.ident.to_string())),
            UseTree::Rename(rename) => {
                self.add_as(with(rename.ident.to_string()), line, Some(rename.rename.to_string()));
            }
            UseTree::Glob(_) => self.add(before.to_vec(), line),
            UseTree::Group(group) => group.items.iter().for_each(|item| self.add_use(item, before, line)),
        }
    }

    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut line = 0;
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.end_path(&mut path, line);
                    }
                    (line, colons) = (name.span().start().line, 0);
                    path.push(name.to_string());
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.end_path(&mut path, line);
                    self.add_tokens(group.stream());
                }
                _ => self.end_path(&mut path, line),
            }
        }
        self.end_path(&mut path, line);
    }

    fn end_path(&mut self, path: &mut Vec<String>, line: usize) {
        let path = std::mem::take(path);
        if path.len() > 1 {
            self.add(path, line);
        }
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.is_shown = !matches!(item.vis, Visibility::Inherited);
        self.add_use(&item.tree, &[], item.span().start().line);
        self.is_shown = false;
    }

    /// `pub(in crate::a)` names nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, path: &'ast Path) {
        if path.segments.len() > 1 {
            let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.add(segments, path.span().start().line);
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.visit_path(&call.path);
        self.add_tokens(call.tokens.clone());
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        let Some((_, items)) = &item.content else { return };
        let outer = std::mem::replace(&mut self.children, child_modules(items));
        self.module.push(item.ident.to_string());
        syn::visit::visit_item_mod(self, item);
        self.module.pop();
        self.children = outer;
    }
}

fn child_modules(items: &[Item]) -> Vec<String> {
    let names = items.iter().filter_map(|item| match item {
        Item::Mod(module) => Some(module.ident.to_string()),
        _ => None,
    });
    names.collect()
}

#[test]
fn finds_paths_wherever_they_hide() {
    let text = "mod child;\npub use child::Kid;\nuse super::{up, other as o};\nuse std::{fs, io::*};\n\
                fn f(x: crate::a::B<c::D>) {\n select! { y = q::r() => self::g(tokio::time::sleep(1)) }\n}\n\
                mod inner { fn h() { super::k::l() } }\n#[cfg(test)] mod tests { use crate::hidden::X; }\n";
    let found = named(&Source::new("crawler/src/top/mid.rs", text));
    let lines: Vec<_> = found.iter().map(|named| format!("{} {}", named.line, named.segments.join("::"))).collect();
    let expected = [
        "2 crate::top::mid::child::Kid",
        "3 crate::top::up",
        "3 crate::top::other",
        "4 std::fs",
        "4 std::io",
        "5 crate::a::B",
        "5 c::D",
        "6 q::r",
        "6 crate::top::mid::g",
        "6 tokio::time::sleep",
        "8 crate::top::mid::k::l",
    ];
    assert_eq!(lines, expected);
}
