//! London: the postcode district ends the address.

use super::Row;
use crate::sandbox::seed::programme::Programme::*;
use crate::sandbox::seed::provider::Provider::*;

// One line a venue, as a table is read.
#[rustfmt::skip]
pub(super) const VENUES: &[Row] = &[
    Row(Table, "copper_kettle", "The Copper Kettle", &[A], "14 Romilly Street, Soho, W1D", (51.5129, -0.1302), 2, &["british", "soho"]),
    Row(Table, "lantern_and_eel", "Lantern & Eel", &[B], "22 Redchurch Street, Shoreditch, E2", (51.5240, -0.0745), 3, &["seafood", "shoreditch"]),
    Row(Table, "saffron_ledger", "Saffron Ledger", &[C], "9 Drury Lane, Covent Garden, WC2B", (51.5146, -0.1226), 2, &["indian", "covent garden"]),
    Row(Table, "quince_and_barrow", "Quince & Barrow", &[A, B], "31 Upper Street, Islington, N1", (51.5369, -0.1030), 3, &["modern european", "islington"]),
    Row(Table, "harbourmasters_table", "The Harbourmaster's Table", &[A], "5 Greenwich Church Street, Greenwich, SE10", (51.4812, -0.0099), 2, &["british", "greenwich"]),
    Row(Table, "velvet_marrow", "Velvet Marrow", &[C], "17 Mount Street, Mayfair, W1K", (51.5103, -0.1513), 4, &["tasting menu", "mayfair"]),
    Row(Table, "allspice_steps", "Allspice Steps", &[B], "268 Coldharbour Lane, Brixton, SW9", (51.4638, -0.1115), 1, &["caribbean", "brixton"]),
    Row(Class, "ironmill_strength_rooms", "Ironmill Strength Rooms", &[A], "71 Bermondsey Street, SE1", (51.4998, -0.0817), 2, &["strength", "bermondsey"]),
    Row(Class, "still_river_yoga", "Still River Yoga", &[B], "18 Pembridge Road, Notting Hill, W11", (51.5105, -0.1964), 2, &["yoga", "notting hill"]),
    Row(Class, "lock_side_rowing", "Lock Side Rowing Studio", &[C], "40 Jamestown Road, Camden, NW1", (51.5390, -0.1450), 1, &["rowing", "camden"]),
    Row(Class, "leather_lane_wheelhouse", "The Leather Lane Wheelhouse", &[A], "62 Leather Lane, Holborn, EC1N", (51.5200, -0.1094), 3, &["indoor cycling", "holborn"]),
    Row(Class, "chalk_and_grip", "Chalk & Grip", &[B], "204 Mare Street, Hackney, E8", (51.5433, -0.0553), 1, &["climbing", "hackney"]),
    Row(Class, "meridian_barre", "Meridian Barre", &[A, C], "151 King's Road, Chelsea, SW3", (51.4875, -0.1680), 3, &["barre", "chelsea"]),
    Row(Show, "lamplight_playhouse", "The Lamplight Playhouse", &[A], "80 St Martin's Lane, WC2N", (51.5110, -0.1272), 3, &["theatre", "covent garden"]),
    Row(Show, "cellar_of_echoes", "The Cellar of Echoes", &[B], "47 Dean Street, Soho, W1D", (51.5129, -0.1315), 2, &["jazz", "soho"]),
    Row(Show, "bramble_street_comedy", "Bramble Street Comedy", &[C], "116 Camden High Street, NW1", (51.5375, -0.1417), 1, &["comedy", "camden"]),
    Row(Entry, "locked_observatory", "The Locked Observatory", &[A], "11 Nelson Road, Greenwich, SE10", (51.4815, -0.0090), 2, &["escape room", "greenwich"]),
    Row(Entry, "museum_of_lost_letters", "The Museum of Lost Letters", &[B], "28 Clerkenwell Green, EC1R", (51.5229, -0.1058), 1, &["exhibition", "clerkenwell"]),
    Row(Entry, "tin_skittle_alley", "The Tin Skittle Alley", &[C], "95 Brick Lane, E1", (51.5208, -0.0718), 2, &["bowling", "brick lane"]),
    Row(Cruise, "thames_heron", "Thames Heron Cruises", &[A], "Westminster Pier, Victoria Embankment, SW1A", (51.5017, -0.1236), 2, &["river cruise", "westminster"]),
    Row(Transfer, "kestrel_airport_cars", "Kestrel Airport Cars", &[C], "160 Praed Street, Paddington, W2", (51.5168, -0.1738), 3, &["airport transfer", "paddington"]),
    Row(DayTrip, "stones_and_spires", "Stones & Spires Day Trips", &[B], "164 Buckingham Palace Road, Victoria, SW1W", (51.4930, -0.1484), 2, &["day trip", "victoria"]),
    Row(Tour, "ravens_walk", "Raven's Walk Tours", &[A], "Tower Hill, EC3N", (51.5098, -0.0763), 1, &["walking tour", "tower hill"]),
    Row(Tour, "brass_bell_cycling", "Brass Bell Cycle Tours", &[C], "21 Belvedere Road, South Bank, SE1", (51.5040, -0.1170), 2, &["cycle tour", "south bank"]),
    Row(Stay, "gower_lodge", "Gower Lodge", &[B, C], "109 Gower Street, Bloomsbury, WC1E", (51.5228, -0.1330), 3, &["guest house", "bloomsbury"]),
];
