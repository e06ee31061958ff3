//! The sizes of files, and of half of the functions, test code left out. How long a function and its list of parameters may
//! be is clippy's (`clippy.toml`).

use syn::{Block, Signature, visit::Visit};

use crate::{
    assert_none,
    source::{Source, below, shipped},
};

/// Lines of a file at most, and the most that half of the files may have.
const FILE: Limit = Limit { ceiling: 500, median: 200 };
/// The most lines that half of the functions may have, from `fn` to the closing brace.
const FUNCTION: Limit = Limit { ceiling: usize::MAX, median: 8 };
/// Names that say nothing.
const EMPTY_NAMES: &[&str] = &["common", "helpers", "misc", "util", "utils"];

struct Limit {
    ceiling: usize,
    median: usize,
}

/// Something with a size.
#[derive(Debug, Clone)]
struct Sized {
    place: String,
    lines: usize,
}

fn tree() -> Vec<Source> {
    shipped(below(&[
        "crawler/src",
        "crawler/practice/src",
        "urlcache/src",
        "urlcache/evaluation/src",
        "urlcache/evaluation/cli",
        "tests/src",
    ]))
}

#[test]
fn files_are_short() {
    assert_none("files", &FILE.faults(&files(&tree())));
}

#[test]
fn functions_are_short() {
    assert_none("functions", &FUNCTION.faults(&functions(&tree())));
}

#[test]
fn modules_have_names_that_say_something() {
    assert_none("module names", &name_faults(&tree()));
}

impl Limit {
    fn faults(&self, sizes: &[Sized]) -> Vec<String> {
        let over = sizes.iter().filter(|sized| sized.lines > self.ceiling);
        let mut faults: Vec<_> =
            over.map(|sized| format!("{}: {} lines, {} may be", sized.place, sized.lines, self.ceiling)).collect();
        let mut lines: Vec<_> = sizes.iter().map(|sized| sized.lines).collect();
        lines.sort_unstable();
        let median = lines.get(lines.len() / 2).copied().unwrap_or_default();
        if median > self.median {
            faults.push(format!("the median is {median} lines, {} may be", self.median));
        }
        faults
    }
}

fn files(sources: &[Source]) -> Vec<Sized> {
    sources.iter().map(|source| Sized { place: source.path.clone(), lines: source.shipped_lines }).collect()
}

fn functions(sources: &[Source]) -> Vec<Sized> {
    let mut functions = Vec::new();
    for source in sources {
        let mut collector = Collector { path: &source.path, functions: Vec::new() };
        collector.visit_file(&source.shipped);
        functions.append(&mut collector.functions);
    }
    functions
}

fn name_faults(sources: &[Source]) -> Vec<String> {
    let empty = |path: &str| path.trim_end_matches(".rs").split('/').any(|part| EMPTY_NAMES.contains(&part));
    let files = sources.iter().filter(|source| empty(&source.path)).map(|source| source.path.clone());
    let inline = sources.iter().flat_map(|source| {
        let mut modules = InlineModules(Vec::new());
        modules.visit_file(&source.shipped);
        let named = modules.0.into_iter().filter(|name| EMPTY_NAMES.contains(&name.as_str()));
        named.map(|name| format!("{}: mod {name}", source.path)).collect::<Vec<_>>()
    });
    files.chain(inline).map(|place| format!("{place}: a name that says nothing about what is inside")).collect()
}

struct InlineModules(Vec<String>);

impl<'ast> Visit<'ast> for InlineModules {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if module.content.is_some() {
            self.0.push(module.ident.to_string());
        }
        syn::visit::visit_item_mod(self, module);
    }
}

struct Collector<'a> {
    path: &'a str,
    functions: Vec<Sized>,
}

impl Collector<'_> {
    fn add(&mut self, signature: &Signature, body: Option<&Block>) {
        let first = signature.fn_token.span.start().line;
        let last = body.map_or(first, |body| body.brace_token.span.close().end().line);
        let place = format!("{}:{first}: fn {}", self.path, signature.ident);
        self.functions.push(Sized { place, lines: last - first + 1 });
    }
}

impl<'ast> Visit<'ast> for Collector<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.add(&function.sig, Some(&function.block));
        syn::visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.add(&function.sig, Some(&function.block));
        syn::visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(body) = &function.default {
            self.add(&function.sig, Some(body));
        }
        syn::visit::visit_trait_item_fn(self, function);
    }
}

/// A file with one function of so many lines.
fn planted(lines: usize) -> [Source; 1] {
    let text = format!("fn long(\n) {{{}}}\n", "\n".repeat(lines - 2));
    [Source::new("c/src/a.rs", &text)]
}

#[test]
fn a_long_file_is_a_fault_unless_tests_make_it_long() {
    let long = "const A: u8 = 1;\n".repeat(501);
    let tests = format!("const B: u8 = 1;\n#[cfg(test)]\nmod tests {{{}}}\n", "\n".repeat(600));
    let sources = [Source::new("a.rs", &long), Source::new("b.rs", &tests), Source::new("c.rs", "")];
    assert_eq!(FILE.faults(&files(&sources)), ["a.rs: 501 lines, 500 may be"]);
    assert_eq!(FILE.faults(&files(&[Source::new("a.rs", &long[..17 * 201])])), ["the median is 201 lines, 200 may be"]);
}

#[test]
fn long_functions_are_a_fault() {
    let faults = |lines| FUNCTION.faults(&functions(&planted(lines)));
    assert_eq!(faults(8), [""; 0]);
    assert_eq!(faults(9), ["the median is 9 lines, 8 may be"]);
}

#[test]
fn empty_names_are_a_fault() {
    let sources = ["c/src/utils.rs", "c/src/common/mod.rs", "c/src/uncommon.rs"].map(|path| Source::new(path, ""));
    assert_eq!(name_faults(&sources).len(), 2);
    assert_eq!(name_faults(&[Source::new("a.rs", "mod b { mod util {} }")]).len(), 1);
}
