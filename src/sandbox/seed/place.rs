//! Resolves the `location` of a search.

use super::place_names::{NAMES, before};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// One of the five cities, by name.
    City(&'static str),
    /// The made-up city of the scenario venues.
    Sandbox,
    /// Where every provider fails.
    Outage,
    /// Where one provider fails.
    PartialOutage,
}

/// At most this many parts at the end of an address name its place: area, city, region, country.
const LAST_PARTS: usize = 4;

/// The place that a text names; `None` if it is unknown. Case, spacing, punctuation, accents and
/// postcodes are ignored, and an address and a comma may precede the place.
pub(crate) fn resolve_place(text: &str) -> Option<Place> {
    let parts: Vec<String> = text
        .split(',')
        .map(plain)
        .filter(|it| !it.is_empty())
        .collect();
    let whole = parts.join(" ");
    match before(&whole, "nowhere").unwrap_or(&whole) {
        "sandbox" => return Some(Place::Sandbox),
        "outage" => return Some(Place::Outage),
        "partial outage" => return Some(Place::PartialOutage),
        _ => {}
    }
    let ends = parts.len().saturating_sub(LAST_PARTS).max(1)..parts.len();
    NAMES
        .iter()
        .find(|it| it.are(&whole))
        .or_else(|| {
            ends.map(|first| parts[first..].join(" "))
                .find_map(|end| NAMES.iter().find(|it| it.end(&end)))
        })
        .map(|it| Place::City(it.city.name))
}

/// Whether a text, or one of its parts between commas, is the name of a city.
pub(crate) fn names_city(text: &str, city: &str) -> bool {
    let city = plain(city);
    !city.is_empty() && text.split(',').any(|part| plain(part) == city)
}

/// Normalizes a text: lower case, no accents, single spaces, no punctuation, and no words with a digit
/// (house numbers and postcodes).
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars().flat_map(char::to_lowercase) {
        match unaccented(letter) {
            "" if is_mark(letter) => {}
            "" if letter.is_alphanumeric() => plain.push(letter),
            "" => plain.push(' '),
            letters => plain.push_str(letters),
        }
    }
    let words = plain
        .split_whitespace()
        .filter(|word| !word.contains(|letter: char| letter.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}

/// Whether a character is an apostrophe or a combining accent, which are dropped.
fn is_mark(letter: char) -> bool {
    matches!(letter, '\'' | '’' | '\u{300}'..='\u{36f}')
}

/// The letters without accent; empty if the letter has none.
fn unaccented(letter: char) -> &'static str {
    match letter {
        'à'..='å' | 'ā' | 'ă' | 'ą' => "a",
        'æ' => "ae",
        'ç' | 'ć' | 'č' => "c",
        'è'..='ë' | 'ē' | 'ę' | 'ě' => "e",
        'ì'..='ï' | 'ī' => "i",
        'ñ' | 'ń' => "n",
        'ò'..='ö' | 'ø' | 'ō' | 'ő' => "o",
        'œ' => "oe",
        'ù'..='ü' | 'ū' | 'ů' | 'ű' => "u",
        'ý' | 'ÿ' => "y",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::seed::venues::venues;

    #[test]
    fn a_place_is_known_by_the_names_people_give_it() {
        for (text, city) in [
            ("London", "London"),
            ("  lOnDoN,UK ", "London"),
            ("Soho, London", "London"),
            ("Greater London", "London"),
            ("London Heathrow Airport", "London"),
            (
                "12 Some Street, Nowhere-in-Particular, London, United Kingdom",
                "London",
            ),
            ("Soho", "London"),
            ("10 Example Road, London W1D 4HS, England, UK", "London"),
            ("SoHo, New York", "New York"),
            ("NYC", "New York"),
            ("NY", "New York"),
            ("New York, New York", "New York"),
            ("Chelsea, New York, NY 10011", "New York"),
            ("New York City", "New York"),
            ("new york, ny, usa", "New York"),
            ("Hell's Kitchen", "New York"),
            ("JFK", "New York"),
            ("paris france", "Paris"),
            ("Saint-Germain-des-Prés, Paris", "Paris"),
            ("Saint-Germain-des-Pre\u{301}s", "Paris"),
            ("Paris Orly Airport", "Paris"),
            ("CDG", "Paris"),
            ("75004 Paris", "Paris"),
            ("10 Rue X, 75018 Paris, Île-de-France, France", "Paris"),
            ("Tōkyō", "Tokyo"),
            ("東京", "Tokyo"),
            ("Shibuya-ku, Tokyo", "Tokyo"),
            ("HND", "Tokyo"),
            ("Sydney NSW", "Sydney"),
            ("Bondi Beach, Australia", "Sydney"),
            ("SYD", "Sydney"),
        ] {
            assert_eq!(resolve_place(text), Some(Place::City(city)), "{text}");
        }
        assert_eq!(resolve_place("sandbox"), Some(Place::Sandbox));
        assert_eq!(resolve_place("Sandbox, Nowhere"), Some(Place::Sandbox));
        assert_eq!(resolve_place("OUTAGE"), Some(Place::Outage));
        assert_eq!(resolve_place("partial  outage"), Some(Place::PartialOutage));
    }

    #[test]
    fn a_namesake_and_an_unknown_place_are_no_place() {
        for text in [
            "",
            " ",
            ",",
            "x",
            "Atlantis",
            "London, Ontario",
            "Albany, NY",
            "Albany, NY, USA",
            "Manchester, England",
            "Paris, Texas",
            "Londonderry",
            "New",
            "York",
            "UK",
            "France",
            "Nowhere",
            "\u{202e}nodnoL",
        ] {
            assert_eq!(resolve_place(text), None, "{text}");
        }
    }

    #[test]
    fn the_address_of_every_venue_leads_to_its_city() {
        for venue in venues().filter(|it| it.scenario.is_none()) {
            let address = format!("{}, {}, {}", venue.address, venue.city, venue.country);
            let found = resolve_place(&address);
            assert!(
                matches!(found, Some(Place::City(city)) if city == venue.city),
                "{address}"
            );
        }
    }

    #[test]
    fn a_text_of_any_length_is_soon_read() {
        assert_eq!(resolve_place(&"a,".repeat(200_000)), None);
        assert_eq!(resolve_place(&"new york ny ".repeat(50_000)), None);
    }
}
