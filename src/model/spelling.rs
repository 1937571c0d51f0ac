//! How far two spellings are apart.

/// The Levenshtein distance in bytes.
pub(crate) fn slips(left: &str, right: &str) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.bytes().enumerate() {
        let mut last = i + 1;
        let mut next = vec![last];
        for (above, r) in row.windows(2).zip(right.bytes()) {
            last = (above[0] + usize::from(l != r))
                .min(above[1] + 1)
                .min(last + 1);
            next.push(last);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted_as_insertions_deletions_and_changes() {
        assert_eq!(slips("kitten", "sitting"), 3);
        assert_eq!(slips("", "abc"), 3);
        assert_eq!(slips("abc", ""), 3);
        assert_eq!(slips("paris", "paris"), 0);
    }
}
