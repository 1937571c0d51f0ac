//! Invisible characters.

/// Whether a terminal acts on `c` or shows nothing for it.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            // Direction: marks, embeddings, overrides, isolates.
            '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Line and paragraph separators.
            | '\u{2028}'..='\u{2029}'
            // Zero width: spaces, joiners, invisible operators, deprecated shaping, the byte order
            // mark, the soft hyphen.
            | '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
            // Variation selectors (256 of them can encode any bytes), and those of Mongolian.
            | '\u{fe00}'..='\u{fe0f}' | '\u{180b}'..='\u{180d}' | '\u{180f}'
            // Blank letters and signs: Hangul fillers, Khmer inherent vowels, a Khitan filler, the
            // empty braille pattern, hieroglyphic blanks, a note without a head.
            | '\u{115f}'..='\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{17b4}'..='\u{17b5}' | '\u{16fe4}'
            | '\u{2800}' | '\u{13441}'..='\u{13442}' | '\u{1d159}'
            // Interlinear annotation; format controls of hieroglyphs, of shorthand and of music.
            | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            // Tags, which can carry a hidden text; the other variation selectors; and code points
            // that Unicode reserves for similar characters.
            | '\u{e0000}'..='\u{e0fff}'
        )
}
