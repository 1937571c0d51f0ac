//! The checks of `doctor` and their results.

use serde::Serialize;

use crate::outcome::{Error, Exit};
use crate::terminal::output::{Draw, Page, Tone};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    Warning,
    Problem,
}
#[derive(Clone, Debug, Serialize)]
pub(super) struct Check {
    name: &'static str,
    state: State,
    pub(super) detail: String,
    /// What to do, as a command if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
    /// The exit code if this is a problem.
    #[serde(skip)]
    exit: Exit,
}

impl Check {
    pub(super) fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Check {
            name,
            state: State::Ok,
            detail: detail.into(),
            fix: None,
            exit: Exit::Done,
        }
    }

    pub(super) fn warning(name: &'static str, detail: impl Into<String>) -> Self {
        Check {
            state: State::Warning,
            ..Check::ok(name, detail)
        }
    }

    pub(super) fn problem(name: &'static str, exit: Exit, detail: impl Into<String>) -> Self {
        Check {
            state: State::Problem,
            exit,
            ..Check::ok(name, detail)
        }
    }

    /// A problem whose fix is the error's hint.
    pub(super) fn failed(name: &'static str, error: &Error) -> Self {
        Check {
            fix: error.hint.clone(),
            ..Check::problem(name, error.exit, error.message.clone())
        }
    }

    pub(super) fn fix(self, fix: impl Into<String>) -> Self {
        Check {
            fix: Some(fix.into()),
            ..self
        }
    }
}

#[derive(Serialize)]
pub(super) struct Checks {
    pub(super) checks: Vec<Check>,
}

impl Checks {
    /// The exit code of the first problem in this order, because later checks depend on earlier ones: configuration,
    /// network, key.
    pub(super) fn exit(&self) -> Exit {
        let exits = self.checks.iter().map(|check| check.exit);
        let rank = |exit: &Exit| match exit {
            Exit::Config => 0,
            Exit::Network => 1,
            Exit::Unauthorized => 2,
            Exit::Done => 4,
            _ => 3,
        };
        exits.min_by_key(rank).unwrap_or(Exit::Done)
    }
}

impl Draw for Checks {
    fn page(&self) -> Page {
        let mut page = Page::default();
        for check in &self.checks {
            let (tone, label) = match check.state {
                State::Ok => (Tone::Good, "ok     "),
                State::Warning => (Tone::Warn, "warning"),
                State::Problem => (Tone::Bad, "problem"),
            };
            let fix = check.fix.as_ref().map(|fix| format!("; fix: {fix}"));
            let Check { name, detail, .. } = check;
            page.labelled(
                tone,
                label,
                format!("{name}: {detail}{}", fix.unwrap_or_default()),
            );
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_is_the_most_telling_problems_and_warnings_are_none() {
        let checks = |exits: &[Exit]| {
            let problems = exits.iter().map(|exit| Check::problem("it", *exit, ""));
            Checks {
                checks: problems.chain([Check::warning("that", "")]).collect(),
            }
            .exit()
        };
        assert_eq!(checks(&[]), Exit::Done);
        assert_eq!(checks(&[Exit::NotAllowed]), Exit::NotAllowed);
        assert_eq!(checks(&[Exit::Unauthorized, Exit::Network]), Exit::Network);
        assert_eq!(checks(&[Exit::Network, Exit::Config]), Exit::Config);
    }
}
