//! Other spellings and encodings of a text, in which a service, a proxy or a log repeats it.

use std::ops::Range;

use crate::platform::crypto::base64_decoded;
use crate::platform::hidden::is_hidden;

/// A text with percent-encoding, HTML references and JSON escapes resolved once.
pub(super) struct Respelled {
    pub(super) text: String,
    /// Where each byte of the text, and its end, stands in the text that was read.
    origins: Vec<usize>,
}

impl Respelled {
    /// `None` if the text is read as it is.
    pub(super) fn read(written: &str) -> Option<Self> {
        if !written.contains(|c| matches!(c, '%' | '&' | '\\') || is_unseen(c)) {
            return None;
        }
        let (mut text, mut origins) = (String::with_capacity(written.len()), Vec::new());
        let mut at = 0;
        while let Some(c) = written[at..].chars().next() {
            let (meant, length) = meant(&written[at..]).unwrap_or((c, c.len_utf8()));
            if !is_unseen(meant) {
                text.push(meant);
                origins.resize(text.len(), at);
            }
            at += length;
        }
        origins.push(at);
        (text != written).then_some(Respelled { text, origins })
    }

    /// Where a part of the text was read from.
    pub(super) fn origin(&self, part: &Range<usize>) -> Range<usize> {
        self.origins[part.start]..self.origins[part.end]
    }
}

/// White space divides words.
fn is_unseen(c: char) -> bool {
    is_hidden(c) && !c.is_ascii_whitespace()
}

/// The character that a text begins with in another spelling, and the length of that spelling.
fn meant(written: &str) -> Option<(char, usize)> {
    let (start, most, radix, end) = match written.as_bytes() {
        [b'%', ..] => (1, 2, 16, None),
        [b'\\', b'u', b'{', ..] => (3, 6, 16, Some(b'}')),
        [b'\\', b'u', ..] => (2, 4, 16, None),
        [b'\\', b'x', ..] => (2, 2, 16, None),
        [b'&', b'#', b'x' | b'X', ..] => (3, 6, 16, Some(b';')),
        [b'&', b'#', ..] => (2, 7, 10, Some(b';')),
        [b'\\', c @ (b'"' | b'\\' | b'/'), ..] => return Some((char::from(*c), 2)),
        _ => return None,
    };
    let rest = &written.as_bytes()[start..];
    let digits = rest.iter().take(most).take_while(|it| char::from(**it).is_digit(radix));
    let stop = start + digits.count();
    if end.is_none() && stop - start < most {
        return None;
    }
    let code = u32::from_str_radix(&written[start..stop], radix).ok()?;
    let is_ended = end.is_some() && written.as_bytes().get(stop) == end.as_ref();
    Some((char::from_u32(code)?, stop + usize::from(is_ended)))
}

/// The words that may be base64 or hexadecimal: each with its place and decoded text.
pub(super) fn decoded_words(
    text: &str,
    shortest: usize,
) -> impl Iterator<Item = (Range<usize>, String)> {
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_');
    let of_base64 = words(text, shortest, is_base64).flat_map(|(place, word)| {
        // The word may begin before the encoded text, and one digit alone at its end is no byte.
        let parts = (0..4).map(move |start| &word[start..]);
        let whole = parts.map(|part| &part[..part.len() - usize::from(part.len() % 4 == 1)]);
        whole.filter_map(move |it| Some((place.clone(), base64_decoded(it.as_bytes())?)))
    });
    let of_hex = words(text, shortest, |c| c.is_ascii_hexdigit()).flat_map(|(place, word)| {
        let whole = (0..2).map(move |start| &word[start..]).map(|part| &part[..part.len() / 2 * 2]);
        whole.filter_map(move |it| Some((place.clone(), hex::decode(it).ok()?)))
    });
    let bytes = of_base64.chain(of_hex);
    bytes.map(|(place, bytes)| (place, String::from_utf8_lossy(&bytes).into_owned()))
}

/// The longest parts of a text that consist of such characters.
fn words(
    text: &str,
    shortest: usize,
    is_part: impl Fn(char) -> bool,
) -> impl Iterator<Item = (Range<usize>, &str)> {
    let placed = text.split(move |c| !is_part(c)).map(move |word| {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        (start..start + word.len(), word)
    });
    placed.filter(move |(_, word)| word.len() >= shortest)
}
