//! `llms.txt`, which lists the pages for language models, and `llms-full.txt`, which has them (llmstxt.org).

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

use super::{
    content::harmless,
    request::{ExportError, unwritable},
};

/// Characters of a description at most.
const LONGEST: usize = 200;

/// What is listed, and the file with all.
pub(super) struct Llms {
    /// The lines, by the first folder of their files.
    sections: BTreeMap<String, Vec<String>>,
    /// The title and the description of the first page.
    first: Option<[String; 2]>,
    full: BufWriter<File>,
}

/// A page, as it is listed.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListedPage<'a> {
    pub(super) url: &'a str,
    pub(super) file: &'a str,
    pub(super) title: &'a str,
    pub(super) description: &'a str,
    pub(super) markdown: &'a str,
}

impl Llms {
    pub(super) fn begin(folder: &Path) -> Result<Self, ExportError> {
        let path = folder.join("llms-full.txt");
        let full = BufWriter::new(File::create(&path).map_err(unwritable(&path))?);
        Ok(Self { sections: BTreeMap::new(), first: None, full })
    }

    pub(super) fn add(&mut self, page: ListedPage<'_>) -> io::Result<()> {
        let title = plain(if page.title.is_empty() { page.url } else { page.title });
        let description = plain(page.description);
        let after = if description.is_empty() { String::new() } else { format!(": {description}") };
        let section = page.file.split_once('/').map_or("", |(folder, _)| folder).to_owned();
        let target = page.file.replace(' ', "%20").replace('(', "%28").replace(')', "%29");
        self.sections.entry(section).or_default().push(format!("- [{title}]({target}){after}\n"));
        self.first.get_or_insert_with(|| [title.clone(), description]);
        write!(self.full, "# {title}\n\nSource: <{}>\n\n{}\n", page.url.replace('>', "%3E"), page.markdown)
    }

    pub(super) fn end(mut self, folder: &Path) -> Result<(), ExportError> {
        self.full.flush().map_err(unwritable(&folder.join("llms-full.txt")))?;
        let [title, description] = self.first.unwrap_or_default();
        let about = if description.is_empty() { String::new() } else { format!("> {description}\n\n") };
        let mut text = format!("# {title}\n\n{about}");
        for (section, lines) in self.sections {
            let name = if section.is_empty() { "Pages" } else { &section };
            text.push_str(&format!("## {name}\n\n{}\n", lines.concat()));
        }
        let path = folder.join("llms.txt");
        std::fs::write(&path, text).map_err(unwritable(&path))
    }
}

/// A line without marks that Markdown would read.
fn plain(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = harmless(&text).chars().take(LONGEST).collect();
    let mut plain = String::with_capacity(cut.len());
    for letter in cut.chars() {
        if "\\`*_[]<>&#!|".contains(letter) {
            plain.push('\\');
        }
        plain.push(letter);
    }
    plain
}
