//! Text for comparisons that ignore case and accents, such as a search for a name.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The text in lower case, without accents and in compatibility form (NFKD), so that "creperie" is found in "Crêperie".
///
/// Both sides of a comparison have to be folded. The result is not for display.
pub(crate) fn fold(text: &str) -> String {
    // Decomposed again at the end, because lower case can bring a combining mark of its own ("İ").
    text.nfkd()
        .flat_map(char::to_lowercase)
        .nfkd()
        .filter(|character| !is_combining_mark(*character))
        // Lower case knows two forms of sigma, by the place in the word.
        .map(|character| if character == 'ς' { 'σ' } else { character })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn case_accents_and_widths_do_not_tell_texts_apart() {
        for (one, other) in [
            ("Crêperie de la Marée", "creperie de la maree"),
            ("Cre\u{302}perie", "Crêperie"),
            ("İSTANBUL", "istanbul"),
            ("ΟΔΥΣΣΕΥΣ", "Οδυσσεύς"),
            ("ＡＤＡ", "ada"),
            ("Nguyễn", "NGUYEN"),
            ("ﬁnca", "finca"),
        ] {
            assert_eq!(fold(one), fold(other));
        }
    }

    #[test]
    fn different_letters_stay_different() {
        assert_ne!(fold("東京"), fold("京都"));
        assert_ne!(fold("ada"), fold("adam"));
    }
}
