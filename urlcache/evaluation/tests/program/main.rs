//! The program `urlcache`, as its users call it.

#![expect(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

mod answers;
mod cascade;
mod multilayer;
mod sketch;
mod tables;

use std::{
    io::Write as _,
    process::{Command, Output, Stdio},
    thread,
};

use serde_json::Value;

/// The words that every call begins with: none, or those of a command.
#[derive(Clone, Copy)]
struct Cli(&'static [&'static str]);

impl Cli {
    fn run(self, arguments: &[&str]) -> Output {
        self.read(arguments, &[])
    }

    fn program(self, arguments: &[&str]) -> Command {
        let mut program = Command::new(env!("CARGO_BIN_EXE_urlcache"));
        program.args(self.0).args(arguments);
        program
    }

    /// Runs it with these bytes on its standard input.
    fn read(self, arguments: &[&str], input: &[u8]) -> Output {
        let mut program = self.program(arguments);
        let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        thread::scope(|scope| {
            // It may end before it has read all.
            scope.spawn(move || pipe.write_all(input).is_ok());
            child.wait_with_output().unwrap()
        })
    }

    fn text(self, arguments: &[&str]) -> String {
        self.text_of(arguments, "")
    }

    fn text_of(self, arguments: &[&str], input: &str) -> String {
        let output = self.read(arguments, input.as_bytes());
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The one document on standard output.
    fn json(self, arguments: &[&str]) -> Value {
        self.json_of(arguments, "")
    }

    fn json_of(self, arguments: &[&str], input: &str) -> Value {
        serde_json::from_str(&self.text_of(&[arguments, &["--json"]].concat(), input)).unwrap()
    }

    fn refuses_all(self, cases: &[(&[&str], &str)]) {
        for (arguments, message) in cases {
            self.refuses(arguments, message);
        }
    }

    fn refuses(self, arguments: &[&str], message: &str) {
        self.refuses_of(arguments, &[], message);
    }

    /// It ends with one line that says this, and with nothing on standard output.
    fn refuses_of(self, arguments: &[&str], input: &[u8], message: &str) {
        let output = self.read(arguments, input);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}: {said}");
        assert!(said.starts_with("error: ") && said.contains(message), "{arguments:?}: {said}");
    }
}

/// A list of a document.
fn list<'d>(value: &'d Value, name: &str) -> &'d [Value] {
    value[name].as_array().unwrap_or_else(|| panic!("{name}: {value}"))
}

fn number(value: &Value, name: &str) -> f64 {
    value[name].as_f64().unwrap_or_else(|| panic!("{name}: {value}"))
}
