//! New York: Manhattan, Brooklyn and Queens.

use super::Row;
use crate::sandbox::seed::programme::Programme::*;
use crate::sandbox::seed::provider::Provider::*;

// One line a venue, as a table is read.
#[rustfmt::skip]
pub(super) const VENUES: &[Row] = &[
    Row(Table, "juniper_and_ash", "Juniper & Ash", &[A], "48 Bedford Street, West Village, NY 10014", (40.7303, -74.0043), 3, &["new american", "west village"]),
    Row(Table, "five_borough_noodle", "Five Borough Noodle", &[C], "63 Mott Street, Chinatown, NY 10013", (40.7158, -73.9986), 1, &["noodles", "chinatown"]),
    Row(Table, "brownstone_larder", "Brownstone Larder", &[B], "228 DeKalb Avenue, Fort Greene, Brooklyn, NY 11205", (40.6896, -73.9708), 2, &["farm to table", "fort greene"]),
    Row(Table, "oyster_ledge", "The Oyster Ledge", &[A, B], "225 Front Street, Seaport, NY 10038", (40.7076, -74.0017), 3, &["seafood", "seaport"]),
    Row(Table, "cinder_and_maize", "Cinder & Maize", &[C], "147 Bedford Avenue, Williamsburg, Brooklyn, NY 11211", (40.7189, -73.9567), 2, &["mexican", "williamsburg"]),
    Row(Table, "gilded_pear", "The Gilded Pear", &[A], "30 East 64th Street, Upper East Side, NY 10065", (40.7664, -73.9689), 4, &["french", "upper east side"]),
    Row(Table, "lenox_supper_room", "Lenox Supper Room", &[B], "318 Lenox Avenue, Harlem, NY 10027", (40.8085, -73.9450), 2, &["soul food", "harlem"]),
    Row(Class, "broome_loft_yoga", "Broome Loft Yoga", &[A], "433 Broome Street, SoHo, NY 10013", (40.7214, -73.9995), 3, &["yoga", "soho"]),
    Row(Class, "girder_strength", "Girder Strength Club", &[B], "120 North 6th Street, Williamsburg, Brooklyn, NY 11249", (40.7183, -73.9592), 2, &["strength", "williamsburg"]),
    Row(Class, "sprocket_house", "Sprocket House", &[C], "31 West 21st Street, Flatiron, NY 10010", (40.7411, -73.9926), 3, &["indoor cycling", "flatiron"]),
    Row(Class, "glove_and_canvas", "Glove & Canvas", &[A], "81 Water Street, Dumbo, Brooklyn, NY 11201", (40.7031, -73.9893), 2, &["boxing", "dumbo"]),
    Row(Class, "columbus_reformer", "Columbus Reformer Studio", &[B], "420 Columbus Avenue, Upper West Side, NY 10024", (40.7818, -73.9752), 3, &["pilates", "upper west side"]),
    Row(Class, "slab_and_crimp", "Slab & Crimp", &[A, C], "11-20 44th Drive, Long Island City, Queens, NY 11101", (40.7487, -73.9492), 1, &["climbing", "long island city"]),
    Row(Show, "amber_marquee", "The Amber Marquee", &[A], "245 West 45th Street, Theater District, NY 10036", (40.7590, -73.9874), 4, &["theatre", "theater district"]),
    Row(Show, "blue_stoop", "The Blue Stoop", &[B], "181 West 10th Street, Greenwich Village, NY 10014", (40.7344, -74.0023), 2, &["jazz", "greenwich village"]),
    Row(Show, "two_drink_philosophers", "Two Drink Philosophers", &[C], "34 St Marks Place, East Village, NY 10003", (40.7288, -73.9884), 1, &["comedy", "east village"]),
    Row(Entry, "clockmakers_vault", "The Clockmaker's Vault", &[A], "121 Orchard Street, Lower East Side, NY 10002", (40.7196, -73.9895), 2, &["escape room", "lower east side"]),
    Row(Entry, "paper_planet", "Paper Planet", &[B], "525 West 24th Street, Chelsea, NY 10011", (40.7489, -74.0046), 2, &["immersive art", "chelsea"]),
    Row(Entry, "wythe_lanes", "Wythe Avenue Lanes", &[C], "74 Wythe Avenue, Williamsburg, Brooklyn, NY 11249", (40.7218, -73.9577), 2, &["bowling", "williamsburg"]),
    Row(Cruise, "harbor_tern", "Harbor Tern Cruises", &[A], "Pier 16, South Street, Seaport, NY 10038", (40.7050, -74.0025), 2, &["harbor cruise", "seaport"]),
    Row(Transfer, "night_heron_cars", "Night Heron Airport Cars", &[C], "122 East 42nd Street, Midtown, NY 10168", (40.7510, -73.9763), 3, &["airport transfer", "midtown"]),
    Row(DayTrip, "upriver_day_trips", "Upriver Day Trips", &[B], "401 Seventh Avenue, Midtown, NY 10001", (40.7502, -73.9905), 2, &["day trip", "midtown"]),
    Row(Tour, "stoops_and_stories", "Stoops & Stories Walking Tours", &[A], "115 Delancey Street, Lower East Side, NY 10002", (40.7184, -73.9882), 1, &["walking tour", "lower east side"]),
    Row(Tour, "two_bridges_bicycles", "Two Bridges Bicycle Tours", &[C], "9 Old Fulton Street, Dumbo, Brooklyn, NY 11201", (40.7027, -73.9940), 2, &["cycle tour", "dumbo"]),
    Row(Stay, "fire_escape_house", "The Fire Escape House", &[B, C], "217 East 7th Street, East Village, NY 10009", (40.7248, -73.9798), 3, &["guest house", "east village"]),
];
