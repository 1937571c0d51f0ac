//! Availability slots.

use jiff::civil::{Date, DateTime};
use jiff::fmt::temporal::DateTimePrinter;
use jiff::{Timestamp, ToSpan, Zoned};
use serde::{Serialize, Serializer};

use super::city::{Currency, Money};
use super::offer::{CancellationFee, CardTerms, Vertical};
use super::venues::SeedVenue;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct OfferedSlot {
    /// From it, the whole slot can be found again.
    #[serde(rename = "availability_id")]
    pub(crate) id: String,
    /// The start, in the venue's zone.
    #[serde(serialize_with = "as_local_time")]
    pub(crate) datetime: Zoned,
    pub(crate) duration_minutes: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seating: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) price: Option<Money>,
    /// Dining slots have both terms, others neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) card_terms: Option<CardTerms>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cancellation_terms: Option<CancellationTerms>,
    /// How many bookings the slot holds, at least one.
    #[serde(skip)]
    pub(crate) capacity: u32,
}

impl OfferedSlot {
    /// Whether it takes a booking beside those that it holds.
    pub(crate) const fn has_room(&self, held: u32) -> bool {
        held < self.capacity
    }
}

fn as_local_time<S: Serializer>(at: &Zoned, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&local_time(at))
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CancellationTerms {
    /// Until when it is free; `None` if it always is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) free_until: Option<String>,
    /// The fee from then on, in minor units; `None` if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fee_amount: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) currency: Option<Currency>,
    pub(crate) text: String,
}

/// The slots of the venue's local day, in order of time, then of seating.
pub(crate) fn slots_on(venue: &SeedVenue, day: Date) -> Vec<OfferedSlot> {
    venue.offer.starts(day).flat_map(|it| venue.slots_from(it)).collect()
}

pub(crate) fn slots_at(venue: &SeedVenue, at: Timestamp) -> impl Iterator<Item = OfferedSlot> {
    let local = venue.timezone.to_datetime(at);
    let starts = venue.offer.starts_at(local).then_some(local);
    let slots = starts.into_iter().flat_map(|it| venue.slots_from(it));
    // The second of two equal local times starts no slot.
    slots.filter(move |it| it.datetime.timestamp() == at)
}

/// More seconds than the supported times have on either side of 1970.
const BIAS: i64 = 1 << 39;

impl SeedVenue {
    /// The venue's slot of an availability id; `None` for an id that [`slots_on`] never returns.
    pub(crate) fn offered(&self, id: &str) -> Option<OfferedSlot> {
        let seconds = id.strip_prefix("slot_")?.get(..10)?;
        let seconds = i64::from_str_radix(seconds, 16).ok()?.checked_sub(BIAS)?;
        slots_at(self, Timestamp::from_second(seconds).ok()?).find(|it| it.id == id)
    }

    /// `slot_`, the start in seconds (ids sort by it), seating, and a hash of both and the venue.
    fn slot_id(&self, start: Timestamp, seating: u8) -> String {
        /// Tells these hashes from others of a venue.
        const OF_SLOT: u64 = 7;
        let seconds = start.as_second() + BIAS;
        let numbers = [OF_SLOT, seconds.cast_unsigned(), seating.into()];
        let hash = hash(&self.id, &numbers);
        format!("slot_{seconds:010x}{seating:02x}{hash:016x}")
    }

    /// The slots of a start, one per seating; none if closed or skipped by the clocks.
    fn slots_from(&self, local: DateTime) -> Vec<OfferedSlot> {
        let Ok(start) = local.to_zoned(self.timezone.clone()) else {
            return Vec::new();
        };
        if start.datetime() != local || self.closed.contains(&local.date()) {
            return Vec::new();
        }
        let seating = |number: u8| self.offer.seating.get(usize::from(number)).cloned();
        let count = self.offer.seating.len().max(1) as u8;
        let slot = |number| self.slot(&start, number, seating(number));
        (0..count).map(slot).collect()
    }

    fn slot(&self, start: &Zoned, number: u8, seating: Option<String>) -> OfferedSlot {
        let offer = &self.offer;
        let is_dining = self.vertical == Vertical::Dining;
        let card = is_dining.then(|| offer.card_terms.clone().unwrap_or_default());
        let fee = is_dining.then(|| offer.cancellation_terms.clone().unwrap_or_default());
        OfferedSlot {
            id: self.slot_id(start.timestamp(), number),
            datetime: start.clone(),
            duration_minutes: offer.duration_minutes,
            seating,
            price: offer.price,
            card_terms: card.map(CardTerms::whole),
            cancellation_terms: fee.map(|it| it.terms(start)),
            capacity: offer.capacity,
        }
    }
}

impl CardTerms {
    fn whole(self) -> Self {
        let hold = money(self.hold_amount, self.currency);
        let required = self.required.unwrap_or(hold.is_some());
        let usual = || match (required, hold) {
            (_, Some(hold)) => {
                format!("A card is needed; {hold} per guest is held on it until the visit.")
            }
            (true, None) => "A card is needed to keep the table; nothing is held on it.".to_owned(),
            (false, None) => "No card is needed.".to_owned(),
        };
        Self {
            required: Some(required),
            hold_amount: hold.map(|it| it.amount),
            currency: hold.map(|it| it.currency),
            text: Some(self.text.unwrap_or_else(usual)),
        }
    }
}

impl CancellationFee {
    fn terms(self, start: &Zoned) -> CancellationTerms {
        let fee = money(self.fee_amount, self.currency);
        let hours = self.free_until_hours;
        let usual = || match (hours, fee) {
            (Some(hours), Some(fee)) => {
                format!("Free to cancel until {hours} hours before; {fee} per guest from then on.")
            }
            (Some(hours), None) => {
                format!("Free to cancel; please do so at least {hours} hours before.")
            }
            (None, Some(fee)) => format!("A cancellation costs {fee} per guest."),
            (None, None) => "Free to cancel at any time.".to_owned(),
        };
        let until = hours.filter(|_| fee.is_some());
        let until = until.and_then(|it| start.checked_sub(it.hours()).ok());
        CancellationTerms {
            free_until: until.map(|it| local_time(&it)),
            fee_amount: fee.map(|it| it.amount),
            currency: fee.map(|it| it.currency),
            text: self.text.unwrap_or_else(usual),
        }
    }
}

fn money(amount: Option<i64>, currency: Option<Currency>) -> Option<Money> {
    let (amount, currency) = amount.zip(currency)?;
    Some(Money { amount, currency })
}

/// A local time in whole seconds as RFC 3339 with its offset, without the name of the zone.
pub(crate) fn local_time(at: &Zoned) -> String {
    const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(0));
    PRINTER.timestamp_with_offset_to_string(&at.timestamp(), at.offset())
}

/// A hash of a text (FNV-1a) with numbers mixed in (SplitMix64). Slot ids hold it, and the numbers
/// of loaded bookings: **a change of the arithmetic changes them all.**
fn hash(text: &str, numbers: &[u64]) -> u64 {
    let start = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    numbers.iter().fold(start, |hash, number| {
        let mixed = hash.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    })
}

/// A number from 0 to 1 that a seed and the number of a request determine.
pub(crate) fn chance(seed: u32, number: u32) -> f64 {
    let bits = hash("fault", &[seed.into(), number.into()]) >> 32;
    // 32 bits are exact in a float.
    bits as f64 / 4_294_967_296.0
}

/// A number below 2^60 that a text determines.
pub(crate) fn number_of(text: &str) -> i64 {
    (hash(text, &[0]) >> 4).cast_signed()
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::sandbox::seed::{Scenario, venue, venues};

    /// An ordinary day, and the days on which the clocks of each zone change.
    const DAYS: [Date; 9] = [
        date(2026, 12, 1),
        date(2027, 3, 28),
        date(2027, 10, 31),
        date(2027, 3, 14),
        date(2027, 11, 7),
        date(2027, 4, 4),
        date(2027, 10, 3),
        date(2028, 2, 29),
        date(1880, 1, 1),
    ];

    #[test]
    fn every_slot_is_found_again_by_its_id_and_by_its_instant() {
        for (venue, day) in venues().flat_map(|it| DAYS.map(|day| (it, day))) {
            let slots = slots_on(venue, day);
            let is_empty = venue.scenario == Some(Scenario::NoSlots);
            assert_eq!(slots.is_empty(), is_empty, "{}", venue.id);
            assert!(slots.is_sorted_by(|one, other| one.id < other.id));
            for slot in &slots {
                assert_eq!(venue.offered(&slot.id).as_ref(), Some(slot));
                assert_eq!(slot.datetime.date(), day);
                assert!(slots_at(venue, slot.datetime.timestamp()).any(|it| it == *slot));
                let is_dining = venue.vertical == Vertical::Dining;
                assert_eq!(slot.card_terms.is_some(), is_dining);
                assert_eq!(slot.price.is_none(), is_dining);
            }
        }
        for venue in venues() {
            slots_on(venue, Date::MIN);
            slots_on(venue, Date::MAX);
        }
    }

    #[test]
    fn time_that_clocks_skip_is_not_offered() {
        let mut cars = venue("ven_london_kestrel_airport_cars").unwrap().clone();
        cars.offer.from = jiff::civil::time(0, 30, 0, 0);
        cars.offer.every_minutes = 60;
        let half_past_one = |day: Date| {
            let slots = slots_on(&cars, day).into_iter();
            let found = slots.filter(|it| it.datetime.hour() == 1);
            found.map(|it| it.datetime).collect::<Vec<_>>()
        };
        assert_eq!(half_past_one(date(2027, 3, 28)), []);
        let autumn = half_past_one(date(2027, 10, 31));
        let first: Zoned = "2027-10-31T01:30:00+01:00[Europe/London]".parse().unwrap();
        assert_eq!(autumn, std::slice::from_ref(&first));
        let later = first.timestamp() + jiff::SignedDuration::from_hours(1);
        assert_eq!(slots_at(&cars, later).count(), 0);
    }

    #[test]
    fn a_text_that_is_no_id_of_a_slot_names_none() {
        let venue = venue("ven_confirms").unwrap();
        let slots = slots_on(venue, date(2026, 12, 1));
        let id = &slots[0].id;
        for (at, was) in id.char_indices() {
            for other in ['0', '9', 'a', 'z', 'A', ' ', '+', 'é', '\0', '😀'] {
                let mut altered = id.clone();
                altered.replace_range(at..at + was.len_utf8(), &other.to_string());
                let found = venue.offered(&altered);
                assert!(other == was || found.is_none(), "{altered}");
            }
            assert_eq!(venue.offered(&id[..at]), None);
        }
        let start = slots[0].datetime.timestamp();
        let second = Timestamp::from_second(start.as_second() + 1).unwrap();
        for (start, seating) in [(start, 1), (second, 0), (Timestamp::MIN, 0)] {
            assert_eq!(venue.offered(&venue.slot_id(start, seating)), None);
        }
    }

    #[test]
    fn amounts_are_in_minor_units_and_yen_have_none() {
        let money = |amount, currency| Money { amount, currency }.to_string();
        assert_eq!(money(2_000, Currency("GBP")), "20.00 GBP");
        assert_eq!(money(3_800, Currency("JPY")), "3800 JPY");
    }

    /// The documents show slots of this day.
    #[test]
    fn ids_and_terms_stay_as_they_are() {
        let at = "2037-11-28T19:30:00Z".parse().unwrap();
        let slot = slots_at(venue("ven_confirms").unwrap(), at).next().unwrap();
        assert_eq!(slot.id, "slot_807fbc56b8000230e28f3582ba25");
        let paid = slots_at(venue("ven_payment").unwrap(), at).next().unwrap();
        let (card, cancellation) = (paid.card_terms.unwrap(), paid.cancellation_terms.unwrap());
        let held = "A card is needed; 23.00 EUR per guest is held on it until the visit.";
        assert_eq!(card.text.as_deref(), Some(held));
        assert_eq!(card.hold_amount, Some(2_300));
        let until = cancellation.free_until.as_deref();
        assert_eq!(until, Some("2037-11-27T19:30:00+00:00"));
    }

    #[test]
    fn the_arithmetic_is_the_published_one() {
        // FNV-1a's own test vector.
        assert_eq!(hash("foobar", &[]), 0x8594_4171_f739_67e8);
    }
}
