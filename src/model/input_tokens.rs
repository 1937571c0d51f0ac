//! What a person typed for a time, a zone or a duration: its tokens, and the sentence that
//! refuses it.

use std::fmt;

/// Nothing that means a time is longer; it bounds the work and the size of a refusal.
const LONGEST_INPUT: usize = 200;
/// How much of a refused input its refusal repeats.
const LONGEST_QUOTE: usize = 60;

/// Why a text was refused and what to write instead, as one sentence: "cannot read `13pm` as a
/// time: …; write …".
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParseError {
    input: String,
    kind: &'static str,
    problem: Problem,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            input,
            kind,
            problem,
        } = self;
        write!(f, "cannot read `{input}` as {kind}: {problem}")
    }
}

impl std::error::Error for ParseError {}

/// The second half of a refusal: the reason, and an example of what to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    why: String,
    instead: String,
}

impl Problem {
    pub(super) fn new(why: impl Into<String>, instead: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            instead: instead.into(),
        }
    }

    pub(super) fn of(self, input: &str, kind: &'static str) -> ParseError {
        ParseError {
            input: quotable(input.trim()),
            kind,
            problem: self,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; write {}", self.why, self.instead)
    }
}

/// `text` fit to stand in a sentence: what a terminal would act on or hide is escaped, and what
/// is too long to help is cut.
pub(super) fn quotable(text: &str) -> String {
    let mut quoted = String::new();
    for c in text.chars().take(LONGEST_QUOTE) {
        match c {
            '\'' | '"' | '\\' => quoted.push(c),
            _ => quoted.extend(c.escape_debug()),
        }
    }
    if text.chars().nth(LONGEST_QUOTE).is_some() {
        quoted.push('…');
    }
    quoted
}

/// The input as the readers want it: trimmed and in lower case, neither empty nor endless.
pub(super) fn normal(text: &str, example: &str) -> Result<String, Problem> {
    if text.chars().nth(LONGEST_INPUT).is_some() {
        let why = format!("it is longer than {LONGEST_INPUT} characters");
        return Err(Problem::new(why, example));
    }
    match text.trim() {
        "" => Err(Problem::new("it is empty", example)),
        text => Ok(text.to_ascii_lowercase()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A run of ASCII digits.
    Number(&'a str),
    /// A run of ASCII letters.
    Word(&'a str),
    /// `/`, or one of `+ - : .` with a digit right after it: `19:30 - 20:00` is a span of time, and
    /// must not be read as an offset.
    Sign(char),
    /// What stands between brackets.
    Bracketed(&'a str),
}

/// Blanks, commas and parentheses only separate; `at` and `on` say nothing. `example` is what a
/// refusal tells to write.
pub(super) fn tokens<'a>(text: &'a str, example: &str) -> Result<Vec<Token<'a>>, Problem> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let after = rest.get(first.len_utf8()..).unwrap_or_default();
        rest = match first {
            '0'..='9' => {
                let (digits, after) = run(rest, |c| c.is_ascii_digit());
                tokens.push(Token::Number(digits));
                after
            }
            'a'..='z' | 'A'..='Z' => {
                let (word, after) = run(rest, |c| c.is_ascii_alphabetic());
                if !matches!(word, "at" | "on") {
                    tokens.push(Token::Word(word));
                }
                after
            }
            '+' | '-' | ':' | '.' if after.starts_with(|c: char| c.is_ascii_digit()) => {
                tokens.push(Token::Sign(first));
                after
            }
            '/' => {
                tokens.push(Token::Sign(first));
                after
            }
            '[' => match after.split_once(']') {
                Some((inside, after)) => {
                    tokens.push(Token::Bracketed(inside));
                    after
                }
                None => return Err(Problem::new("its bracket is not closed", example)),
            },
            ',' | '(' | ')' => after,
            c if c.is_whitespace() => after,
            c => {
                let c = quotable(c.encode_utf8(&mut [0; 4]));
                return Err(Problem::new(format!("`{c}` has no meaning there"), example));
            }
        };
    }
    Ok(tokens)
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !belongs(c)).unwrap_or(text.len()))
}

/// A number of one or two digits.
pub(super) fn two_digits(digits: &str) -> Option<i8> {
    if digits.len() > 2 {
        None
    } else {
        digits.parse().ok()
    }
}
