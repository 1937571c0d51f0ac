//! What a person typed for a time, a zone or a duration, and the sentence that refuses it.

/// Longer than any valid input. Bounds the work and the size of an error.
const LONGEST_INPUT: usize = 200;
const LONGEST_QUOTE: usize = 60;

/// Reads `text`, which `read` gets trimmed and in lower case. `kind` is what it should be, such as
/// "a time". The error is one sentence that quotes the text or the word that is wrong.
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
    found.map_err(|why| match why.starts_with('`') {
        true => why,
        false => format!("`{}` is not {kind}: {why}", quotable(text)),
    })
}

/// `text` as part of an error, escaped like on a terminal, and cut if it is long.
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
