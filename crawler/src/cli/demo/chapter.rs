//! [`Chapter`]: what a chapter of the demo ran, counted and stated.

use std::time::Instant;

use serde_json::{Map, Value, json};

/// One chapter.
#[derive(Debug)]
pub(super) struct Chapter {
    name: &'static str,
    began: Instant,
    seconds: f64,
    commands: Vec<String>,
    figures: Map<String, Value>,
    statements: Vec<Statement>,
}

/// What was said of a crawl, and whether it is so.
#[derive(Debug)]
struct Statement {
    text: String,
    holds: bool,
}

impl Chapter {
    /// A chapter that begins now.
    pub(super) fn begin(name: &'static str) -> Self {
        Self {
            name,
            began: Instant::now(),
            seconds: 0.0,
            commands: Vec::new(),
            figures: Map::new(),
            statements: Vec::new(),
        }
    }

    /// A command is run.
    pub(super) fn add_command(&mut self, command: &str) {
        self.commands.push(command.to_owned());
    }

    /// A figure was counted.
    pub(super) fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.figures.insert(name.to_owned(), value.into());
    }

    /// Something is stated.
    pub(super) fn state(&mut self, text: &str, holds: bool) {
        self.statements.push(Statement { text: text.to_owned(), holds });
    }

    /// It is over.
    pub(super) fn end(mut self) -> Self {
        self.seconds = self.began.elapsed().as_secs_f64();
        self
    }

    /// How many statements there are.
    pub(super) fn statements(&self) -> usize {
        self.statements.len()
    }

    /// How many of them do not hold.
    pub(super) fn wrong(&self) -> usize {
        self.statements.iter().filter(|statement| !statement.holds).count()
    }

    /// How long it took.
    pub(super) fn seconds(&self) -> f64 {
        self.seconds
    }

    /// The chapter as a document.
    pub(super) fn document(&self) -> Value {
        let statements =
            self.statements.iter().map(|statement| json!({"text": statement.text, "holds": statement.holds}));
        json!({
            "chapter": self.name, "seconds": self.seconds, "commands": self.commands, "figures": self.figures,
            "statements": statements.collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_does_not_hold() {
        let mut chapter = Chapter::begin("one");
        chapter.state("all pages are stored", true);
        chapter.state("nothing was lost", false);
        chapter.set("pages", 7);
        let chapter = chapter.end();
        assert_eq!((chapter.statements(), chapter.wrong()), (2, 1));
        let document = chapter.document();
        assert_eq!(document["statements"][1], json!({"text": "nothing was lost", "holds": false}));
        assert_eq!(document["figures"]["pages"], 7);
    }
}
