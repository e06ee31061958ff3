//! Source files: where they are, what they say, and which part of them is not test code.

use std::{
    fs,
    path::{Path, PathBuf},
};

use syn::{Attribute, File, ImplItem, Item, spanned::Spanned, visit_mut::VisitMut};

/// One Rust file.
pub(crate) struct Source {
    /// Path below the workspace's root, with `/`.
    pub(crate) path: String,
    pub(crate) lines: usize,
    /// Everything in it.
    pub(crate) whole: File,
    /// The same without what is only compiled for tests.
    pub(crate) shipped: File,
    /// Lines of `shipped` code: all but those of test items.
    pub(crate) shipped_lines: usize,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let whole = syn::parse_file(text).unwrap_or_else(|error| panic!("{path} is not Rust: {error}"));
        let mut shipped = whole.clone();
        let mut without_tests = WithoutTests::default();
        without_tests.visit_file_mut(&mut shipped);
        let lines = text.lines().count();
        let shipped_lines = lines - without_tests.lines;
        Self { path: path.to_owned(), lines, whole, shipped, shipped_lines }
    }
}

/// The workspace's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// Every Rust file below these folders of the workspace.
pub(crate) fn below(folders: &[&str]) -> Vec<Source> {
    let read = |path: &String| Source::new(path, &fs::read_to_string(root().join(path)).unwrap());
    files(folders).iter().map(read).collect()
}

/// The path, below the workspace's root, of every Rust file below these folders of it.
pub(crate) fn files(folders: &[&str]) -> Vec<String> {
    let root = root();
    let mut files = Vec::new();
    for folder in folders {
        find(&root.join(folder), &mut files);
    }
    files.sort();
    // A member may lie within another.
    files.dedup();
    assert!(!files.is_empty(), "no Rust file below {folders:?}");
    files.iter().map(|file| file.strip_prefix(&root).unwrap().to_str().unwrap().to_owned()).collect()
}

/// The sources that are shipped: without the files that a `#[cfg(test)] mod name;` elsewhere keeps out.
pub(crate) fn shipped(sources: Vec<Source>) -> Vec<Source> {
    let test_files: Vec<_> = sources.iter().flat_map(test_module_files).collect();
    let is_test = |path: &str| {
        test_files.iter().any(|stem| path == format!("{stem}.rs") || path.starts_with(&format!("{stem}/")))
    };
    sources.into_iter().filter(|source| !is_test(&source.path)).collect()
}

/// The path of the folder that holds the children of the module in this file.
pub(crate) fn child_folder(path: &str) -> &str {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    ["/mod", "/lib", "/main"].iter().find_map(|root| stem.strip_suffix(root)).unwrap_or(stem)
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() && path.file_name().is_none_or(|name| name != "target") {
            find(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
}

fn test_module_files(source: &Source) -> Vec<String> {
    let modules = source.whole.items.iter().filter_map(|item| match item {
        Item::Mod(module) if module.content.is_none() && for_tests(&module.attrs) => Some(&module.ident),
        _ => None,
    });
    modules.map(|name| format!("{}/{name}", child_folder(&source.path))).collect()
}

/// Removes test items and counts their lines.
#[derive(Debug, Default)]
struct WithoutTests {
    lines: usize,
}

impl WithoutTests {
    fn keeps(&mut self, attributes: &[Attribute], spanned: &impl Spanned) -> bool {
        let tests = for_tests(attributes);
        if tests {
            self.lines += line_count(spanned);
        }
        !tests
    }
}

impl VisitMut for WithoutTests {
    fn visit_file_mut(&mut self, file: &mut File) {
        file.items.retain(|item| self.keeps(attributes(item), item));
        syn::visit_mut::visit_file_mut(self, file);
    }

    fn visit_item_mod_mut(&mut self, module: &mut syn::ItemMod) {
        if let Some((_, items)) = &mut module.content {
            items.retain(|item| self.keeps(attributes(item), item));
        }
        syn::visit_mut::visit_item_mod_mut(self, module);
    }

    fn visit_item_impl_mut(&mut self, block: &mut syn::ItemImpl) {
        block.items.retain(|item| match item {
            ImplItem::Fn(function) => self.keeps(&function.attrs, item),
            _ => true,
        });
        syn::visit_mut::visit_item_impl_mut(self, block);
    }
}

/// Lines from the first token to the last.
pub(crate) fn line_count(spanned: &impl Spanned) -> usize {
    let span = spanned.span();
    span.end().line - span.start().line + 1
}

/// Whether the attributes say `#[cfg(test)]` (or `all(test, …)`) or `#[test]`.
fn for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let words = |list: &syn::MetaList| list.tokens.to_string();
        match &attribute.meta {
            syn::Meta::List(list) if attribute.path().is_ident("cfg") => {
                words(list) == "test" || words(list).starts_with("all (test")
            }
            meta => meta.path().segments.last().is_some_and(|segment| segment.ident == "test"),
        }
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

#[test]
fn test_code_is_not_counted() {
    let text =
        "fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() {}\n}\nimpl A {\n #[cfg(test)]\n fn c() {}\n fn d() {}\n}\n";
    let source = Source::new("x.rs", text);
    assert_eq!((source.lines, source.shipped_lines), (10, 4));
    assert_eq!(source.shipped.items.len(), 2);
}

#[test]
fn a_test_module_in_a_file_of_its_own_is_left_out() {
    let text = "mod b;\n#[cfg(test)]\nmod tests;\n";
    let sources =
        [("c/src/a/mod.rs", text), ("c/src/a/tests.rs", ""), ("c/src/a/tests/deep.rs", ""), ("c/src/a/b.rs", "")];
    let left = shipped(sources.map(|(path, text)| Source::new(path, text)).into());
    assert_eq!(left.iter().map(|source| &*source.path).collect::<Vec<_>>(), ["c/src/a/mod.rs", "c/src/a/b.rs"]);
}
