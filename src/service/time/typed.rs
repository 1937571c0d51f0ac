//! What a person typed for a time, a zone or a duration, and the sentence that refuses it.

/// Longer than any valid input. Bounds the work and the size of an error.
const LONGEST_INPUT: usize = 200;
const LONGEST_QUOTE: usize = 60;

/// Reads `text`, which `read` gets trimmed and in lower case. `kind` is what it should be, such as
/// "a time". The error is one sentence: "`13pm` is not a time: …; try …".
pub(crate) fn read<T>(
    text: &str,
    kind: &str,
    example: &str,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(format!("{kind} cannot be empty; try {example}"));
    }
    let found = if text.chars().nth(LONGEST_INPUT).is_some() {
        Err(format!("it is longer than {LONGEST_INPUT} characters; try {example}"))
    } else {
        read(&text.to_ascii_lowercase())
    };
    found.map_err(|why| format!("`{}` is not {kind}: {why}", quotable(text)))
}

/// `text` as part of an error: what a terminal would act on or hide is escaped, and a long text is
/// cut.
pub(crate) fn quotable(text: &str) -> String {
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
