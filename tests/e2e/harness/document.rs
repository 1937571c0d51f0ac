//! Markdown documents whose `console` blocks are commands with the output that a reader is
//! promised.
//!
//! The commands of a `console` block run in a pipe, as in a script, and those of a `console tty`
//! block in a terminal of 80 columns (`console tty 40`: of 40), with the same ids and times on
//! every run (see `fixed`); `UPDATE_DOCS=1` writes these blocks anew. There, a command that ends in
//! `# types ANSWER` gets this line once it asks. A line `<!-- $ COMMAND -->` between blocks runs a
//! command whose output is for nobody. Where a command names http://127.0.0.1:4010, the sandbox of
//! the document's home is served there.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use super::fixed::{Fixed, as_run, as_shown, on_any_computer, set_clock};
use super::{Home, Running, Served, Terminal};

/// Where documents serve a sandbox.
const ADDRESS: &str = "http://127.0.0.1:4010";

/// A command of a document, and what is promised to follow it.
struct Step {
    /// Where the command stands in its document, from 1.
    line: usize,
    command: String,
    promised: Vec<String>,
    /// The columns of its terminal; without one it runs in a pipe.
    columns: Option<u16>,
}

/// The commands of every block that is marked `console`, and the hidden ones, in order. A command
/// begins with `$ ` and goes on where a line ends with a backslash, or until the `EOF` of its
/// here-document; what follows it, up to the next one, is its output.
fn steps(document: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut fence: Option<(String, String)> = None;
    for (number, line) in (1..).zip(document.lines()) {
        let mark: String = line.trim_start().chars().take_while(|c| *c == '`').collect();
        let hidden = line.strip_prefix("<!-- $ ").filter(|_| fence.is_none());
        if let Some(command) = hidden.and_then(|it| it.strip_suffix(" -->")) {
            steps.push(Step {
                line: number,
                command: command.to_owned(),
                promised: vec!["...".to_owned()],
                columns: None,
            });
        }
        match &fence {
            None if mark.len() >= 3 => {
                let kind = line.trim_start()[mark.len()..].trim();
                fence = Some((mark, kind.to_owned()));
            }
            Some((opened, _)) if line.trim() == opened => fence = None,
            Some((_, kind)) if kind.split(' ').next() == Some("console") => {
                match (line.strip_prefix("$ "), steps.last_mut()) {
                    (_, Some(step)) if goes_on(&step.command) && step.promised.is_empty() => {
                        write!(step.command, "\n{line}").unwrap();
                    }
                    (Some(command), _) => steps.push(Step {
                        line: number,
                        command: command.to_owned(),
                        promised: Vec::new(),
                        columns: columns(kind),
                    }),
                    (None, Some(step)) => step.promised.push(line.to_owned()),
                    (None, None) => panic!("line {number}: output before any command"),
                }
            }
            _ => {}
        }
    }
    steps
}

fn columns(kind: &str) -> Option<u16> {
    let terminal = kind.strip_prefix("console tty")?;
    Some(terminal.trim().parse().unwrap_or(80))
}

/// Whether the next line belongs to the command too.
fn goes_on(command: &str) -> bool {
    let in_a_document = command.contains("<<'EOF'") && !command.ends_with("\nEOF");
    command.ends_with('\\') || in_a_document
}

/// Runs every command of a document in one blank home, in order, and compares its standard output
/// with what the document promises; what differs is returned as text. A command that promises
/// something of standard error says `2>&1`.
///
/// Variables and `$?` reach from one command to the next. `cargo run -- …` stands for `bookctl …`;
/// other commands of cargo are for the reader alone.
pub(crate) fn run(path: &Path) -> Result<(), String> {
    run_in(Home::new(), path)
}

/// The same in this home, whose variables the commands see.
pub(crate) fn run_in(home: Home, path: &Path) -> Result<(), String> {
    let document = fs::read_to_string(path).unwrap();
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    match run_text(home, &path.display().to_string(), &document) {
        Err(different) if update && different.anew != document => {
            fs::write(path, different.anew).unwrap();
            Ok(())
        }
        other => other.map_err(|different| different.report),
    }
}

/// How a document differs from what its commands show.
struct Different {
    report: String,
    /// The document with what a terminal shows now.
    anew: String,
}

fn run_text(home: Home, name: &str, document: &str) -> Result<(), Different> {
    let programs = home.folder().join(".programs");
    fs::create_dir(&programs).unwrap();
    let program = programs.join("bookctl");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_bookctl"), program).unwrap();
    // As from the root of the sources: what stands beside the documents is there.
    for folder in ["docs", "examples"] {
        let linked = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        std::os::unix::fs::symlink(linked, home.folder().join(folder)).unwrap();
    }
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let home = home.with("PATH", &path);
    let steps = steps(document);
    if !steps.is_empty() {
        set_clock(&home);
    }
    let is_served = steps.iter().any(|step| step.command.contains(ADDRESS));
    let served = is_served.then(|| Served::from_home(&home));
    let address = served.as_ref().map_or(ADDRESS, Served::base_url);
    let mut fixed = Fixed::default();
    let mut updates = Vec::new();
    let mut differences = String::new();
    for step in &steps {
        let Some(command) = for_the_shell(&step.command) else {
            continue;
        };
        let command = as_run(&command).replace(ADDRESS, address);
        let shell = ["bash", "-c", SHELL, "bash", &command];
        let (shown, stderr) = if let Some(columns) = step.columns {
            let mut terminal = Terminal::of_program(&home, columns, &shell);
            if let Some((_, line)) = command.split_once("# types ") {
                terminal.answer("›", line);
            }
            (terminal.end().text(), String::new())
        } else {
            let mut program = home.program(shell[0]);
            program.args(&shell[1..]).stdin(Stdio::null());
            let output = Running::start(program).end();
            (output.stdout, output.stderr)
        };
        let shown = on_any_computer(&shown.replace(host(address), host(ADDRESS)));
        let is_piped = step.columns.is_none();
        let shown = if is_piped { as_shown(&shown) } else { shown };
        let shown = fixed.text(&shown);
        let lines: Vec<&str> = shown.lines().collect();
        let promised: Vec<&str> = step.promised.iter().map(String::as_str).collect();
        if !matches(&promised, &lines) {
            let _ = write!(
                differences,
                "{name}:{}: $ {}\n{}{}",
                step.line,
                step.command,
                difference(&promised, &lines),
                aside(&stderr)
            );
            // What a person left out is for a person to write anew.
            let left_out = ["...", "[..]", "…\n"];
            if !left_out.iter().any(|mark| (promised.join("\n") + "\n").contains(mark)) {
                updates.push((step, shown));
            }
        }
    }
    if differences.is_empty() {
        return Ok(());
    }
    let mut anew: Vec<&str> = document.lines().collect();
    // From the end, so that the lines before keep their places.
    for (step, shown) in updates.iter().rev() {
        let start = step.line - 1 + step.command.lines().count();
        anew.splice(start..start + step.promised.len(), shown.lines());
    }
    Err(Different { report: differences, anew: anew.join("\n") + "\n" })
}

fn host(address: &str) -> &str {
    address.trim_start_matches("http://")
}

/// What one command left behind, the next finds: variables, and the exit code as `$?`.
const SHELL: &str = r#"
[ -f .variables ] && . ./.variables
set -a
(exit "${LAST_EXIT_CODE:-0}")
eval "$1"
LAST_EXIT_CODE=$?
export -p > .variables
"#;

/// The command as it is run here; `None` for one that is for the reader alone.
fn for_the_shell(command: &str) -> Option<String> {
    if let Some((before, arguments)) = command.split_once("cargo run")
        && let Some((_, arguments)) = arguments.split_once("-- ")
    {
        return Some(format!("{before}bookctl {arguments}"));
    }
    (!command.starts_with("cargo ")).then(|| command.to_owned())
}

/// Whether the output is what was promised: `...` alone stands for any lines, `[..]` for anything
/// within a line, `…` at its end for its rest, and one blank for any run of blanks.
fn matches(promised: &[&str], shown: &[&str]) -> bool {
    match promised {
        [] => shown.iter().all(|line| line.trim().is_empty()),
        [first, rest @ ..] if first.trim() == "..." => {
            (0..=shown.len()).any(|skipped| matches(rest, &shown[skipped..]))
        }
        // A blank line in a document is there for the eye.
        [first, rest @ ..] if first.trim().is_empty() => {
            let shown = match shown {
                [blank, others @ ..] if blank.trim().is_empty() => others,
                all => all,
            };
            matches(rest, shown)
        }
        [first, rest @ ..] => match shown {
            [line, others @ ..] => line_matches(first, line) && matches(rest, others),
            [] => false,
        },
    }
}

fn line_matches(promised: &str, shown: &str) -> bool {
    let blanks = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let (mut promised, shown) = (blanks(promised), blanks(shown));
    if let Some(start) = promised.strip_suffix('…') {
        promised = format!("{start}[..]");
    }
    let mut parts = promised.split("[..]");
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = shown.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(start) => rest = &rest[start + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// What was promised, and what was shown instead.
fn difference(promised: &[&str], shown: &[&str]) -> String {
    let promised = promised.iter().map(|line| format!("  - {line}\n"));
    let shown = shown.iter().map(|line| format!("  + {line}\n"));
    promised.chain(shown).collect()
}

/// What standard error said, for whoever looks for the reason.
fn aside(stderr: &str) -> String {
    let lines = stderr.lines().map(|line| format!("  2 {line}\n"));
    lines.collect()
}
