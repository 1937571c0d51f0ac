//! Paris: the postcode names the arrondissement.

use super::Row;
use crate::sandbox::seed::programme::Programme::*;
use crate::sandbox::seed::provider::Provider::*;

// One line a venue, as a table is read.
#[rustfmt::skip]
pub(super) const VENUES: &[Row] = &[
    Row(Table, "lanterne_bleue", "La Lanterne Bleue", &[A], "12 Rue Vieille du Temple, Le Marais, 75004", (48.8565, 2.3566), 3, &["bistro", "le marais"]),
    Row(Table, "chez_octavine", "Chez Octavine", &[B], "41 Rue Lepic, Montmartre, 75018", (48.8860, 2.3335), 2, &["bistro", "montmartre"]),
    Row(Table, "merle_dargent", "Le Merle d'Argent", &[C], "97 Rue Oberkampf, 75011", (48.8652, 2.3772), 2, &["wine bar", "oberkampf"]),
    Row(Table, "table_dondine", "La Table d'Ondine", &[A], "33 Rue de Seine, Saint-Germain-des-Prés, 75006", (48.8553, 2.3367), 4, &["tasting menu", "saint-germain"]),
    Row(Table, "grand_cadran", "Brasserie du Grand Cadran", &[B, C], "18 Rue de Lyon, 75012", (48.8472, 2.3723), 2, &["brasserie", "bastille"]),
    Row(Table, "petit_safran", "Le Petit Safran", &[A], "56 Rue du Faubourg Saint-Denis, 75010", (48.8724, 2.3540), 1, &["moroccan", "strasbourg saint-denis"]),
    Row(Table, "maree_haute", "Crêperie de la Marée Haute", &[C], "52 Rue du Montparnasse, 75014", (48.8424, 2.3252), 1, &["crêperie", "montparnasse"]),
    Row(Class, "atelier_souffle", "L'Atelier du Souffle", &[A], "70 Rue de Turenne, 75003", (48.8605, 2.3647), 3, &["yoga", "le marais"]),
    Row(Class, "salle_des_forgerons", "La Salle des Forgerons", &[B], "82 Rue de la Roquette, 75011", (48.8562, 2.3765), 2, &["strength", "bastille"]),
    Row(Class, "barre_claire", "La Barre Claire", &[C], "45 Rue Blanche, 75009", (48.8797, 2.3322), 3, &["barre", "pigalle"]),
    Row(Class, "bassin_de_valmy", "Le Bassin de Valmy", &[A], "105 Quai de Valmy, 75010", (48.8738, 2.3632), 2, &["aquabike", "canal saint-martin"]),
    Row(Class, "gravite_treize", "Gravité Treize", &[B], "98 Rue de Tolbiac, 75013", (48.8265, 2.3590), 1, &["climbing", "place d'italie"]),
    Row(Class, "ring_des_batignolles", "Le Ring des Batignolles", &[A, C], "60 Rue des Batignolles, 75017", (48.8852, 2.3202), 2, &["boxing", "batignolles"]),
    Row(Show, "paon_rouge", "Théâtre du Paon Rouge", &[A], "24 Rue de la Gaîté, Montparnasse, 75014", (48.8388, 2.3236), 3, &["theatre", "montparnasse"]),
    Row(Show, "cave_aux_ombres", "La Cave aux Ombres", &[B], "52 Rue Galande, 75005", (48.8516, 2.3470), 2, &["jazz", "latin quarter"]),
    Row(Show, "cabaret_des_lucioles", "Le Cabaret des Lucioles", &[C], "66 Boulevard de Clichy, 75018", (48.8838, 2.3346), 4, &["cabaret", "pigalle"]),
    Row(Entry, "chambre_des_enigmes", "La Chambre aux Neuf Énigmes", &[A], "119 Rue du Temple, 75003", (48.8635, 2.3572), 2, &["escape room", "le marais"]),
    Row(Entry, "musee_des_automates", "Le Petit Musée des Automates", &[B], "41 Rue Charlot, 75003", (48.8630, 2.3622), 1, &["exhibition", "le marais"]),
    Row(Entry, "ateliers_lumen", "Les Ateliers Lumen", &[C], "140 Rue Saint-Maur, 75011", (48.8672, 2.3760), 2, &["immersive art", "oberkampf"]),
    Row(Cruise, "batelier_du_soir", "Le Batelier du Soir", &[A], "Quai de Montebello, 75005", (48.8525, 2.3475), 2, &["river cruise", "latin quarter"]),
    Row(Transfer, "navette_hirondelle", "Navette Hirondelle", &[C], "20 Rue de Dunkerque, 75010", (48.8800, 2.3560), 3, &["airport transfer", "gare du nord"]),
    Row(DayTrip, "jardins_et_donjons", "Jardins & Donjons", &[B], "6 Rue des Pyramides, 75001", (48.8644, 2.3325), 2, &["day trip", "louvre"]),
    Row(Tour, "pas_de_cote", "Le Pas de Côté", &[A], "22 Rue des Abbesses, Montmartre, 75018", (48.8845, 2.3377), 1, &["walking tour", "montmartre"]),
    Row(Tour, "velo_papillon", "Vélo Papillon", &[C], "80 Rue Saint-Antoine, 75004", (48.8543, 2.3640), 2, &["cycle tour", "le marais"]),
    Row(Stay, "maison_des_tilleuls", "La Maison des Trois Tilleuls", &[B, C], "88 Rue Mouffetard, 75005", (48.8424, 2.3497), 3, &["guest house", "latin quarter"]),
];
