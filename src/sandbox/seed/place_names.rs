//! The names of the five cities and of their neighbourhoods and airports.

use super::city::{self, City};

/// The names of a city, normalized as by [`resolve_place`](super::resolve_place).
pub(super) struct Names {
    pub(super) city: &'static City,
    /// The city itself.
    names: &'static [&'static str],
    /// Its neighbourhoods and airports.
    areas: &'static [&'static str],
    /// Regions and countries that may follow, in this order.
    regions: &'static [&'static str],
    countries: &'static [&'static str],
}

impl Names {
    /// Whether a text names the city, an area of it or both, with or without region and country.
    pub(super) fn are(&self, text: &str) -> bool {
        with_or_without(text, self.countries)
            .flat_map(|text| with_or_without(text, self.regions))
            .any(|text| self.are_bare(text))
    }

    /// Whether a text can end an address in the city. A region alone cannot, because another of its
    /// towns may precede it.
    pub(super) fn end(&self, text: &str) -> bool {
        self.are(text)
            && with_or_without(text, self.countries).all(|it| !self.regions.contains(&it))
    }

    fn are_bare(&self, text: &str) -> bool {
        self.names.contains(&text)
            || self.has(text)
            || self.names.iter().any(|name| {
                let rest =
                    before(text, name).or_else(|| text.strip_prefix(name)?.strip_prefix(' '));
                rest.is_some_and(|rest| self.has(rest) || PARTS.contains(&rest))
            })
    }

    /// Whether a text is an area of the city.
    fn has(&self, text: &str) -> bool {
        let text = text.strip_suffix(" airport").unwrap_or(text);
        let text = text.strip_suffix(" international").unwrap_or(text);
        self.areas.contains(&text)
    }
}

fn with_or_without<'a>(text: &'a str, endings: &'static [&str]) -> impl Iterator<Item = &'a str> {
    let without = endings.iter().filter_map(move |it| before(text, it));
    std::iter::once(text).chain(without)
}

/// The text before its last words; `None` if it does not end in them.
pub(super) fn before<'a>(text: &'a str, last: &str) -> Option<&'a str> {
    text.strip_suffix(last)?.strip_suffix(' ')
}

/// Words for a part of a city.
const PARTS: [&str; 6] = [
    "central",
    "downtown",
    "greater",
    "inner",
    "city of",
    "city centre",
];

/// If two cities have an area of the same name, the name alone means the first.
#[rustfmt::skip]
pub(super) const NAMES: [Names; 5] = [
    Names {
        city: &city::LONDON,
        names: &["london", "londres", "ロンドン"],
        areas: &[
            "soho", "covent garden", "shoreditch", "mayfair", "camden", "camden town", "notting hill",
            "south bank", "southbank", "westminster", "kensington", "chelsea", "greenwich", "hackney",
            "islington", "marylebone", "paddington", "brixton", "canary wharf", "holborn", "bloomsbury",
            "bermondsey", "clerkenwell", "lhr", "heathrow", "lgw", "gatwick", "lcy", "stn", "stansted",
            "ltn", "luton",
        ],
        regions: &["england", "greater london"],
        countries: &["uk", "u k", "gb", "great britain", "united kingdom"],
    },
    Names {
        city: &city::NEW_YORK,
        names: &["new york", "new york city", "nyc", "ny", "the big apple", "nueva york", "ニューヨーク"],
        areas: &[
            "manhattan", "brooklyn", "queens", "harlem", "williamsburg", "soho", "tribeca", "chelsea",
            "greenwich village", "west village", "east village", "lower east side", "upper east side",
            "upper west side", "midtown", "times square", "hells kitchen", "dumbo", "flatiron",
            "chinatown", "jfk", "john f kennedy", "kennedy", "lga", "laguardia", "la guardia", "ewr",
            "newark",
        ],
        regions: &["ny"],
        countries: &["us", "u s", "usa", "u s a", "united states", "united states of america"],
    },
    Names {
        city: &city::PARIS,
        names: &["paris", "parigi", "パリ"],
        areas: &[
            "le marais", "marais", "montmartre", "pigalle", "saint germain", "saint germain des pres",
            "quartier latin", "latin quarter", "belleville", "bastille", "montparnasse", "opera",
            "champs elysees", "canal saint martin", "oberkampf", "batignolles", "cdg",
            "charles de gaulle", "roissy", "ory", "orly",
        ],
        regions: &["ile de france", "idf"],
        countries: &["france", "fr"],
    },
    Names {
        city: &city::TOKYO,
        names: &["tokyo", "tokio", "東京", "東京都"],
        areas: &[
            "shinjuku", "shibuya", "ginza", "asakusa", "roppongi", "ueno", "akihabara", "harajuku",
            "ebisu", "nakameguro", "daikanyama", "tsukiji", "ikebukuro", "aoyama", "kagurazaka",
            "yanaka", "odaiba", "shimokitazawa", "hnd", "haneda", "nrt", "narita",
        ],
        regions: &[],
        countries: &["japan", "jp", "日本"],
    },
    Names {
        city: &city::SYDNEY,
        names: &["sydney", "シドニー"],
        areas: &[
            "surry hills", "newtown", "bondi", "bondi beach", "manly", "the rocks", "circular quay",
            "darling harbour", "barangaroo", "paddington", "chippendale", "potts point", "kings cross",
            "glebe", "balmain", "haymarket", "syd", "kingsford smith", "mascot",
        ],
        regions: &["nsw", "new south wales"],
        countries: &["australia", "au"],
    },
];
