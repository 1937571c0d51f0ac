//! Gives every definition of an expression a check of its limits, so that what repeats or recurses without end fails.
//!
//! Nothing can end a thread from outside. Every repetition and every recursion of jq goes through a definition, though.

use std::cell::Cell;
use std::time::{Duration, Instant};

use jaq_core::box_iter::box_once;
use jaq_core::data::JustLut;
use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Def, Pattern, Term};
use jaq_core::native::{Fun, run};
use jaq_core::path::{Part, Path};
use jaq_core::{Cv, Error, Exn};
use jaq_json::Val;

/// The check, as a function that no expression can name: an identifier has no blank.
const CHECK: &str = "limits reached";
/// The error of what takes longer than it may.
pub(super) const TOO_LONG: &str = "takes too long";
/// The error of what recurses too deeply.
pub(super) const TOO_DEEP: &str = "recurses without end";
/// The error of what needs more memory than it may.
pub(super) const TOO_LARGE: &str = "needs too much memory";
/// How much the process may grow meanwhile, in bytes: a fixed share, and a multiple of the document.
const ROOM: usize = 512 * 1024 * 1024;
const ROOM_PER_BYTE: usize = 64;
/// How often the memory of the process is looked at.
const GLANCE: Duration = Duration::from_millis(5);
/// How far the stack may grow. Threads that evaluate have twice as much.
const DEEPEST: usize = 128 * 1024 * 1024;

thread_local! {
    /// Until when the evaluation may run, and where its stack began.
    static LIMITS: Cell<Option<(Instant, usize)>> = const { Cell::new(None) };
    /// When the memory was last looked at, and how much of it the process may have.
    static MEMORY: Cell<Option<(Instant, usize)>> = const { Cell::new(None) };
}

/// Bounds what this thread evaluates from now on, for a document of so many bytes.
pub(super) fn begin(longest: Duration, bytes: usize) {
    let now = Instant::now();
    LIMITS.set(now.checked_add(longest).map(|until| (until, depth())));
    let room = ROOM.saturating_add(bytes.saturating_mul(ROOM_PER_BYTE));
    MEMORY.set(memory().map(|used| (now, used.saturating_add(room))));
}

/// The memory of this process in bytes, where the system tells it as Linux does. A thread has none of its own, so that
/// a neighbour's counts too.
fn memory() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

fn is_too_large(now: Instant) -> bool {
    let Some((seen, most)) = MEMORY.get() else {
        return false;
    };
    if now.duration_since(seen) < GLANCE {
        return false;
    }
    MEMORY.set(Some((now, most)));
    memory().is_some_and(|used| used > most)
}

/// Where the stack ends at present.
fn depth() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(&here).addr()
}

fn reached() -> Option<&'static str> {
    let (until, began) = LIMITS.get()?;
    if depth().abs_diff(began) > DEEPEST {
        Some(TOO_DEEP)
    } else {
        let now = Instant::now();
        match now > until {
            true => Some(TOO_LONG),
            false => is_too_large(now).then_some(TOO_LARGE),
        }
    }
}

/// The function that each definition calls.
pub(super) fn check() -> Fun<JustLut<Val>> {
    run((CHECK, Box::new([]), |(_, value): Cv<'_, JustLut<Val>>| {
        box_once(match reached() {
            Some(why) => Err(Exn::from(Error::str(why))),
            None => Ok(value),
        })
    }))
}

/// The definition with the check before its body: `check as $_ | body`, which leaves paths through it as they are.
pub(super) fn watch(definition: Def<&str>) -> Def<&str> {
    let check = Term::Call(CHECK, Vec::new());
    let pipe = BinaryOp::Pipe(Some(Pattern::Var("$_")));
    Def {
        name: definition.name,
        args: definition.args,
        body: Term::BinOp(Box::new(check), pipe, Box::new(term(definition.body))),
    }
}

fn boxed(inner: Term<&str>) -> Box<Term<&str>> {
    Box::new(term(inner))
}

fn all(terms: Vec<Term<&str>>) -> Vec<Term<&str>> {
    terms.into_iter().map(term).collect()
}

/// The term with every definition inside of it watched.
pub(super) fn term(inside: Term<&str>) -> Term<&str> {
    match inside {
        Term::Id | Term::Recurse | Term::Num(_) | Term::Break(_) | Term::Var(_) => inside,
        Term::Str(format, parts) => Term::Str(
            format,
            parts
                .into_iter()
                .map(|part| match part {
                    StrPart::Term(inner) => StrPart::Term(term(inner)),
                    part => part,
                })
                .collect(),
        ),
        Term::Arr(inner) => Term::Arr(inner.map(|it| boxed(*it))),
        Term::Obj(members) => {
            let members = members.into_iter();
            Term::Obj(
                members
                    .map(|(key, value)| (term(key), value.map(term)))
                    .collect(),
            )
        }
        Term::Neg(inner) => Term::Neg(boxed(*inner)),
        Term::BinOp(left, op, right) => Term::BinOp(boxed(*left), op, boxed(*right)),
        Term::Label(name, inner) => Term::Label(name, boxed(*inner)),
        Term::Fold(name, over, pattern, inner) => {
            Term::Fold(name, boxed(*over), pattern, all(inner))
        }
        Term::TryCatch(inner, catch) => Term::TryCatch(boxed(*inner), catch.map(|it| boxed(*it))),
        Term::IfThenElse(cases, otherwise) => {
            let cases = cases.into_iter();
            let cases = cases.map(|(condition, then)| (term(condition), term(then)));
            Term::IfThenElse(cases.collect(), otherwise.map(|it| boxed(*it)))
        }
        Term::Def(definitions, inner) => {
            let definitions = definitions.into_iter().map(watch);
            Term::Def(definitions.collect(), boxed(*inner))
        }
        Term::Call(name, arguments) => Term::Call(name, all(arguments)),
        Term::Path(head, Path(parts)) => {
            let parts = parts.into_iter().map(|(part, optional)| {
                let part = match part {
                    Part::Index(index) => Part::Index(term(index)),
                    Part::Range(from, to) => Part::Range(from.map(term), to.map(term)),
                };
                (part, optional)
            });
            Term::Path(boxed(*head), Path(parts.collect()))
        }
    }
}
