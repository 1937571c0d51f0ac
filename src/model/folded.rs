//! Text without case and accents, as people type it when they look for a name.

use unicode_normalization::UnicodeNormalization;

/// The text in lower case and without accents: `Crêperie` and `CREPERIE` are the same, and so are `Müller` and `muller`.
/// Scripts without accents, such as Chinese, stay as they are.
pub(crate) fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(text.len());
    for character in text.nfkd().flat_map(char::to_lowercase) {
        match character {
            // Accents, the vowel marks of Arabic, and joiners.
            '\u{300}'..='\u{36f}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{200c}' | '\u{200d}' => {
            }
            // Letters that are not a letter with an accent.
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' => folded.push('d'),
            'ı' => folded.push('i'),
            _ => folded.push(character),
        }
    }
    folded
}

/// The digits of a text, in the order in which they stand: of a phone number, whatever its blanks and signs.
pub(crate) fn digits(text: &str) -> String {
    let digits = text.nfkd().filter(char::is_ascii_digit);
    digits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_without_accents_finds_what_is_written_with_them() {
        for (written, typed) in [
            ("Crêperie de la Marée Haute", "creperie de la maree haute"),
            ("Cre\u{302}perie", "creperie"),
            ("Jürgen MÜLLER", "jurgen muller"),
            ("Straße, Łódź, Søren, Ægir", "strasse, lodz, soren, aegir"),
            ("İstanbul", "istanbul"),
            ("علی\u{200c}رضا", "علیرضا"),
            ("李小龙", "李小龙"),
            ("Ａｄａ", "ada"),
        ] {
            assert_eq!(folded(written), typed);
            assert_eq!(folded(typed), typed, "it finds itself");
        }
        assert_eq!(digits("+44 (0)20 7946-0018"), "4402079460018");
    }
}
