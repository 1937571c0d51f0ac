//! The known names that a mistyped one may stand for.

use strsim::levenshtein;

const MOST: usize = 3;

/// The names that contain `word`, else those that a few mistakes make of it; the nearest first.
pub(crate) fn similar<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let word = word.to_lowercase();
    let allowed = (word.chars().count() / 3).clamp(1, 3);
    let mut found: Vec<(usize, &str)> = names
        .into_iter()
        .filter_map(|name| {
            let distance = levenshtein(&word, &name.to_lowercase());
            let is_part = word.len() > 2 && name.to_lowercase().contains(&word);
            (is_part || distance <= allowed).then_some((distance, name))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(MOST).map(|(_, name)| name).collect()
}

pub(crate) fn did_you_mean<'a>(
    word: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    meant(similar(word, names).into_iter())
}

/// `did you mean 'a' or 'b'?`
pub(crate) fn meant<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let quoted: Vec<String> = names.take(MOST).map(|name| format!("'{name}'")).collect();
    Some(format!("did you mean {}?", either(&quoted)?))
}

/// `a, b or c`; `None` without any.
pub(crate) fn either(names: &[impl AsRef<str>]) -> Option<String> {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let (last, before) = names.split_last()?;
    Some(match before {
        [] => (*last).to_owned(),
        before => format!("{} or {last}", before.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_found_by_a_part_or_with_few_mistakes() {
        let names = ["ven_confirms", "ven_confirms_b", "ven_otp", "ven_payment"];
        for (word, found) in [
            ("ven_confirm", Some("did you mean 'ven_confirms' or 'ven_confirms_b'?")),
            ("ven_opt", Some("did you mean 'ven_otp'?")),
            ("VEN_PAYMNET", Some("did you mean 'ven_payment'?")),
            ("payment", Some("did you mean 'ven_payment'?")),
            ("restaurant", None),
            ("", None),
        ] {
            assert_eq!(did_you_mean(word, names).as_deref(), found, "{word}");
        }
    }
}
