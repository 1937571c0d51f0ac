//! Sydney: both sides of the harbour.

use super::Row;
use crate::sandbox::seed::programme::Programme::*;
use crate::sandbox::seed::provider::Provider::*;

// One line a venue, as a table is read.
#[rustfmt::skip]
pub(super) const VENUES: &[Row] = &[
    Row(Table, "wattle_and_smoke", "Wattle & Smoke", &[A], "413 Crown Street, Surry Hills, NSW 2010", (-33.8845, 151.2134), 3, &["modern australian", "surry hills"]),
    Row(Table, "salt_gull", "The Salt Gull", &[B], "152 Campbell Parade, Bondi Beach, NSW 2026", (-33.8895, 151.2752), 2, &["seafood", "bondi beach"]),
    Row(Table, "tin_verandah", "The Tin Verandah", &[C], "305 King Street, Newtown, NSW 2042", (-33.8972, 151.1790), 1, &["pub", "newtown"]),
    Row(Table, "sandstone_cellar", "The Sandstone Cellar", &[A, C], "118 George Street, The Rocks, NSW 2000", (-33.8590, 151.2088), 4, &["tasting menu", "the rocks"]),
    Row(Table, "mekong_lane", "Mekong Lane", &[B], "64 Dixon Street, Haymarket, NSW 2000", (-33.8786, 151.2040), 1, &["vietnamese", "haymarket"]),
    Row(Table, "olive_and_ironbark", "Olive & Ironbark", &[A], "29 Macleay Street, Potts Point, NSW 2011", (-33.8703, 151.2251), 3, &["italian", "potts point"]),
    Row(Table, "ferry_bell_kitchen", "Ferry Bell Kitchen", &[C], "46 The Corso, Manly, NSW 2095", (-33.7980, 151.2872), 2, &["modern australian", "manly"]),
    Row(Class, "saltwater_rooms", "The Saltwater Rooms", &[A], "71 Hall Street, Bondi Beach, NSW 2026", (-33.8903, 151.2718), 2, &["yoga", "bondi beach"]),
    Row(Class, "foundry_lane_strength", "Foundry Lane Strength", &[B], "88 Enmore Road, Newtown, NSW 2042", (-33.8990, 151.1760), 2, &["strength", "newtown"]),
    Row(Class, "swell_reformer", "Swell Reformer", &[C], "22 Pittwater Road, Manly, NSW 2095", (-33.7945, 151.2860), 3, &["pilates", "manly"]),
    Row(Class, "red_crane_climbing", "Red Crane Climbing", &[A], "33 Buckland Street, Chippendale, NSW 2008", (-33.8872, 151.1968), 1, &["climbing", "chippendale"]),
    Row(Class, "blackwattle_paddle", "Blackwattle Paddle Club", &[B], "55 Bridge Road, Glebe, NSW 2037", (-33.8752, 151.1865), 2, &["kayaking", "glebe"]),
    Row(Class, "spoke_and_anchor", "Spoke & Anchor", &[A, C], "33 Barangaroo Avenue, Barangaroo, NSW 2000", (-33.8650, 151.2015), 3, &["indoor cycling", "barangaroo"]),
    Row(Show, "lyrebird_stage", "The Lyrebird Stage", &[A], "17 Hickson Road, Dawes Point, NSW 2000", (-33.8563, 151.2062), 3, &["theatre", "walsh bay"]),
    Row(Show, "basement_of_small_hours", "The Basement of Small Hours", &[B], "7 Reiby Place, Circular Quay, NSW 2000", (-33.8624, 151.2096), 2, &["jazz", "circular quay"]),
    Row(Show, "laughing_cockatoo", "The Laughing Cockatoo", &[C], "152 Enmore Road, Enmore, NSW 2042", (-33.8993, 151.1730), 1, &["comedy", "enmore"]),
    Row(Entry, "keepers_riddle", "The Lighthouse Keeper's Riddle", &[A], "420 Kent Street, NSW 2000", (-33.8717, 151.2044), 2, &["escape room", "city centre"]),
    Row(Entry, "tidal_light", "The Tidal Light Gallery", &[B], "31 Harbour Street, Darling Harbour, NSW 2000", (-33.8758, 151.2027), 2, &["immersive art", "darling harbour"]),
    Row(Entry, "neon_skittle", "The Neon Skittle", &[C], "120 Oxford Street, Darlinghurst, NSW 2010", (-33.8795, 151.2158), 2, &["bowling", "darlinghurst"]),
    Row(Cruise, "southern_tern", "Southern Tern Cruises", &[A], "Circular Quay East, NSW 2000", (-33.8600, 151.2118), 2, &["harbour cruise", "circular quay"]),
    Row(Transfer, "magpie_airport_cars", "Magpie Airport Cars", &[C], "24 Eddy Avenue, Haymarket, NSW 2000", (-33.8825, 151.2070), 3, &["airport transfer", "haymarket"]),
    Row(DayTrip, "eucalypt_day_trips", "Eucalypt Day Trips", &[B], "321 Pitt Street, NSW 2000", (-33.8752, 151.2078), 2, &["day trip", "city centre"]),
    Row(Tour, "sandstone_steps", "Sandstone Steps Walking Tours", &[A], "31 Argyle Street, The Rocks, NSW 2000", (-33.8588, 151.2078), 1, &["walking tour", "the rocks"]),
    Row(Tour, "pelican_pedal", "Pelican Pedal Tours", &[C], "12 East Esplanade, Manly, NSW 2095", (-33.7998, 151.2855), 2, &["cycle tour", "manly"]),
    Row(Stay, "terrace_of_the_figs", "The Terrace of the Figs", &[B, C], "216 Oxford Street, Paddington, NSW 2021", (-33.8845, 151.2250), 3, &["guest house", "paddington"]),
];
