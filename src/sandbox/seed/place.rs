//! Places: what the text of a search's `location` names, and what stands near it.

use super::city::{self, City};
use super::venue::{Venue, venues};
use super::vertical::Vertical;

/// Where a search looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// One of the five cities, by its name.
    City(&'static str),
    /// The made-up city of the scenario venues.
    Sandbox,
    /// Where every provider fails.
    Outage,
    /// Where one provider fails.
    PartialOutage,
}

/// How far a search by coordinates reaches.
const REACH_KM: f64 = 50.0;
const EARTH_RADIUS_KM: f64 = 6_371.0;

/// What people call a city, in the spelling of [`plain`].
struct Names {
    city: &'static City,
    /// The city itself.
    names: &'static [&'static str],
    /// What may follow it: its region and country.
    regions: &'static [&'static str],
    /// Its neighbourhoods and airports.
    areas: &'static [&'static str],
}

const NAMES: [Names; 5] = [
    Names {
        city: &city::LONDON,
        names: &["london", "city of london", "londres", "ロンドン"],
        regions: &[
            "uk",
            "u k",
            "gb",
            "great britain",
            "united kingdom",
            "england",
            "england uk",
            "england united kingdom",
            "greater london",
        ],
        areas: &[
            "soho",
            "covent garden",
            "shoreditch",
            "mayfair",
            "camden",
            "camden town",
            "notting hill",
            "south bank",
            "southbank",
            "westminster",
            "kensington",
            "chelsea",
            "greenwich",
            "hackney",
            "islington",
            "marylebone",
            "paddington",
            "brixton",
            "canary wharf",
            "lhr",
            "heathrow",
            "lgw",
            "gatwick",
            "lcy",
            "stn",
            "stansted",
            "ltn",
            "luton",
        ],
    },
    Names {
        city: &city::NEW_YORK,
        names: &[
            "new york",
            "new york city",
            "nyc",
            "ny",
            "the big apple",
            "nueva york",
            "ニューヨーク",
        ],
        regions: &[
            "ny",
            "new york",
            "us",
            "u s",
            "usa",
            "u s a",
            "united states",
            "united states of america",
            "ny us",
            "ny usa",
            "ny united states",
            "new york usa",
            "new york united states",
        ],
        areas: &[
            "manhattan",
            "brooklyn",
            "queens",
            "harlem",
            "williamsburg",
            "soho",
            "tribeca",
            "chelsea",
            "greenwich village",
            "west village",
            "east village",
            "lower east side",
            "upper east side",
            "upper west side",
            "midtown",
            "times square",
            "hells kitchen",
            "dumbo",
            "jfk",
            "john f kennedy",
            "kennedy",
            "lga",
            "laguardia",
            "la guardia",
            "ewr",
            "newark",
        ],
    },
    Names {
        city: &city::PARIS,
        names: &["paris", "parigi", "パリ"],
        regions: &[
            "france",
            "fr",
            "ile de france",
            "ile de france france",
            "idf",
        ],
        areas: &[
            "le marais",
            "marais",
            "montmartre",
            "pigalle",
            "saint germain",
            "saint germain des pres",
            "quartier latin",
            "latin quarter",
            "belleville",
            "bastille",
            "montparnasse",
            "opera",
            "champs elysees",
            "canal saint martin",
            "oberkampf",
            "cdg",
            "charles de gaulle",
            "roissy",
            "ory",
            "orly",
        ],
    },
    Names {
        city: &city::TOKYO,
        names: &["tokyo", "tokio", "東京", "東京都"],
        regions: &["japan", "jp", "日本"],
        areas: &[
            "shinjuku",
            "shibuya",
            "ginza",
            "asakusa",
            "roppongi",
            "ueno",
            "akihabara",
            "harajuku",
            "ebisu",
            "nakameguro",
            "daikanyama",
            "tsukiji",
            "ikebukuro",
            "aoyama",
            "kagurazaka",
            "yanaka",
            "hnd",
            "haneda",
            "nrt",
            "narita",
        ],
    },
    Names {
        city: &city::SYDNEY,
        names: &["sydney", "シドニー"],
        regions: &[
            "australia",
            "au",
            "nsw",
            "new south wales",
            "nsw australia",
            "new south wales australia",
        ],
        areas: &[
            "surry hills",
            "newtown",
            "bondi",
            "bondi beach",
            "manly",
            "the rocks",
            "circular quay",
            "darling harbour",
            "barangaroo",
            "paddington",
            "chippendale",
            "potts point",
            "kings cross",
            "glebe",
            "balmain",
            "syd",
            "kingsford smith",
            "mascot",
        ],
    },
];

/// What a text names; none for a place that nothing is known of. Case, spacing, punctuation and
/// accents do not matter, and an address before a city's name is passed over.
pub(crate) fn resolve_place(text: &str) -> Option<Place> {
    let parts: Vec<String> = text
        .split(',')
        .map(plain)
        .filter(|it| !it.is_empty())
        .collect();
    let whole = parts.join(" ");
    match whole.strip_suffix(" nowhere").unwrap_or(&whole) {
        "sandbox" => return Some(Place::Sandbox),
        "outage" => return Some(Place::Outage),
        "partial outage" => return Some(Place::PartialOutage),
        _ => {}
    }
    NAMES
        .iter()
        .find(|it| it.are_meant_by(&whole))
        .or_else(|| {
            // "12 Some Street, London, UK": from some comma on, it is the city.
            let tails = (1..parts.len()).map(|first| parts[first..].join(" "));
            tails
                .into_iter()
                .find_map(|tail| NAMES.iter().find(|it| it.are_meant_by(&tail)))
        })
        .map(|it| Place::City(it.city.name))
}

impl Names {
    /// Whether a text in plain spelling is the city, an area of it, or one in the other, with or
    /// without region and country after it.
    fn are_meant_by(&self, text: &str) -> bool {
        let text = text.strip_suffix(" airport").unwrap_or(text);
        let text = text.strip_suffix(" international").unwrap_or(text);
        let bare = self.regions.iter().filter_map(|it| before(text, it));
        std::iter::once(text).chain(bare).any(|text| {
            let (names, areas) = (self.names, self.areas);
            names.contains(&text)
                || areas.contains(&text)
                || names.iter().any(|name| {
                    before(text, name).is_some_and(|it| areas.contains(&it) || is_part(it))
                        || after(text, name).is_some_and(|it| areas.contains(&it))
                })
        })
    }
}

/// Words for a part of any city.
fn is_part(word: &str) -> bool {
    [
        "central",
        "downtown",
        "greater",
        "inner",
        "central and greater",
    ]
    .contains(&word)
}

/// What stands before the last words of a text.
fn before<'a>(text: &'a str, last: &str) -> Option<&'a str> {
    text.strip_suffix(last)?.strip_suffix(' ')
}

/// What stands after the first words of a text.
fn after<'a>(text: &'a str, first: &str) -> Option<&'a str> {
    text.strip_prefix(first)?.strip_prefix(' ')
}

/// Small letters without accents, words one blank apart, apostrophes gone, other signs blanks.
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
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Apostrophes, and the accents of a decomposed spelling.
fn is_mark(letter: char) -> bool {
    matches!(letter, '\'' | '’' | '\u{300}'..='\u{36f}')
}

/// The plain letters of an accented one; empty where there is nothing to do.
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

/// The venues of a vertical at a place. An outage looks like the made-up city: what fails there is
/// not the seed's matter.
pub(crate) fn near_place(place: &Place, vertical: Vertical) -> Vec<&'static Venue> {
    let city = match *place {
        Place::City(name) => name,
        Place::Sandbox | Place::Outage | Place::PartialOutage => city::SANDBOX.name,
    };
    venues()
        .iter()
        .filter(|it| it.vertical == vertical && it.city == city)
        .collect()
}

/// The venues of a vertical within 50 km of a point, with their distance in km, nearest first.
pub(crate) fn near_point(
    latitude: f64,
    longitude: f64,
    vertical: Vertical,
) -> Vec<(&'static Venue, f64)> {
    let mut near: Vec<_> = venues()
        .iter()
        .filter(|it| it.vertical == vertical)
        .map(|it| {
            (
                it,
                distance_km((latitude, longitude), (it.latitude, it.longitude)),
            )
        })
        .filter(|&(_, distance)| distance <= REACH_KM)
        .collect();
    near.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    near
}

/// The way over ground between two points in degrees (haversine).
fn distance_km(from: (f64, f64), to: (f64, f64)) -> f64 {
    let half_chord = |one: f64, other: f64| ((other - one).to_radians() / 2.0).sin().powi(2);
    let a = half_chord(from.0, to.0)
        + from.0.to_radians().cos() * to.0.to_radians().cos() * half_chord(from.1, to.1);
    2.0 * EARTH_RADIUS_KM * a.clamp(0.0, 1.0).sqrt().asin()
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("SoHo, New York", "New York"),
            ("NYC", "New York"),
            ("New York City", "New York"),
            ("new york, ny, usa", "New York"),
            ("Hell's Kitchen", "New York"),
            ("JFK", "New York"),
            ("paris france", "Paris"),
            ("Saint-Germain-des-Prés, Paris", "Paris"),
            ("Saint-Germain-des-Pre\u{301}s", "Paris"),
            ("Paris Orly Airport", "Paris"),
            ("CDG", "Paris"),
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
    fn an_outage_has_the_venues_of_the_made_up_city() {
        let sandbox = near_place(&Place::Sandbox, Vertical::Dining);
        assert_eq!(sandbox.len(), 24);
        for place in [Place::Outage, Place::PartialOutage] {
            assert_eq!(near_place(&place, Vertical::Dining).len(), 24);
        }
        assert!(near_place(&Place::Sandbox, Vertical::Travel).is_empty());
    }

    #[test]
    fn a_point_finds_what_is_within_reach_nearest_first() {
        // Greenwich: the harbourmaster is around the corner, Mayfair at the other end of town.
        let near = near_point(51.4810, -0.0095, Vertical::Dining);
        let ids: Vec<_> = near.iter().map(|(venue, _)| venue.id.as_str()).collect();
        assert_eq!(ids.first(), Some(&"ven_london_harbourmasters_table"));
        assert_eq!(ids.last(), Some(&"ven_london_velvet_marrow"));
        assert!(near.is_sorted_by(|one, other| one.1 <= other.1));
        // Brighton is 76 km away; no number is near anything.
        assert!(near_point(50.8225, -0.1372, Vertical::Dining).is_empty());
        assert!(near_point(f64::NAN, 0.0, Vertical::Dining).is_empty());
    }

    #[test]
    fn the_way_from_london_to_paris_is_344_km() {
        let way = distance_km((51.5074, -0.1278), (48.8566, 2.3522));
        assert!((way - 343.6).abs() < 0.5, "{way}");
    }
}
