//! Splitting what a person typed for a time, a zone or a duration into tokens, and the error for invalid input.

use std::fmt;

/// Longer than any valid input. Bounds the work and the size of an error.
const LONGEST_INPUT: usize = 200;
/// How much of invalid input an error repeats.
const LONGEST_QUOTE: usize = 60;

/// Why a text was refused and what to write instead, as one sentence: "`13pm` is not a time: …; use …".
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
        match input.as_str() {
            "" => write!(f, "{kind} cannot be empty; {}", problem.advice()),
            input => write!(f, "`{input}` is not {kind}: {problem}"),
        }
    }
}

impl std::error::Error for ParseError {}

/// The reason of an error, and an example of valid input.
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

    /// The same problem where a day alone is read: `usual` where the example is a time.
    pub(super) fn of_a_day(self, usual: &str) -> Self {
        let instead = self.instead.replace(" 19:30", "");
        Self {
            instead: match instead.contains("19:30") {
                true => usual.to_owned(),
                false => instead,
            },
            ..self
        }
    }

    /// What to write: `try` an example, or `use` what is described.
    fn advice(&self) -> String {
        match self.instead.strip_prefix("e.g. ") {
            Some(example) => format!("try {example}"),
            None => format!("use {}", self.instead),
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
        write!(f, "{}; {}", self.why, self.advice())
    }
}

/// `text` as part of an error: what a terminal would act on or hide is escaped, and a long text is cut.
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

/// The input trimmed and in lower case. An empty or too long input is an error.
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
    /// `/`, or one of `+ - : .` directly before a digit. In `19:30 - 20:00` the `-` is no sign, so that it is not
    /// taken for an offset.
    Sign(char),
    Bracketed(&'a str),
}

/// Splits the input. Blanks, commas and parentheses only separate; `at` and `on` are skipped. `example` is the valid
/// input that an error suggests.
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
                return Err(Problem::new(format!("unexpected `{c}`"), example));
            }
        };
    }
    Ok(tokens)
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !belongs(c)).unwrap_or(text.len()))
}

pub(super) fn two_digits(digits: &str) -> Option<i8> {
    if digits.len() > 2 {
        None
    } else {
        digits.parse().ok()
    }
}
