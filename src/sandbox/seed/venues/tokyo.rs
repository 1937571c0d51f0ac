//! Tokyo: addresses by district, as they are given there.

use super::Row;
use crate::sandbox::seed::programme::Programme::*;
use crate::sandbox::seed::provider::Provider::*;

// One line a venue, as a table is read.
#[rustfmt::skip]
pub(super) const VENUES: &[Row] = &[
    Row(Table, "sushi_tsukigasane", "Sushi Tsukigasane", &[A], "6-7 Ginza, Chuo-ku", (35.6700, 139.7632), 4, &["sushi", "ginza"]),
    Row(Table, "yakitori_akanebashi", "Yakitori Akanebashi", &[B], "1-9 Ebisu, Shibuya-ku", (35.6474, 139.7112), 2, &["yakitori", "ebisu"]),
    Row(Table, "ramen_yorunami", "Ramen Yorunami", &[C], "3-21 Shinjuku, Shinjuku-ku", (35.6921, 139.7042), 1, &["ramen", "shinjuku"]),
    Row(Table, "kappo_shirasagiri", "Kappo Shirasagiri", &[A, C], "4-3 Kagurazaka, Shinjuku-ku", (35.7009, 139.7401), 3, &["kappo", "kagurazaka"]),
    Row(Table, "izakaya_tanukimichi", "Izakaya Tanukimichi", &[B], "2-4 Asakusa, Taito-ku", (35.7139, 139.7938), 2, &["izakaya", "asakusa"]),
    Row(Table, "soba_hanamugi", "Soba Hanamugi", &[A], "1-12 Kanda Sudacho, Chiyoda-ku", (35.6956, 139.7689), 1, &["soba", "kanda"]),
    Row(Table, "bistro_aoi_mado", "Bistro Aoi Mado", &[C], "5-8 Minami-Aoyama, Minato-ku", (35.6632, 139.7132), 3, &["french", "aoyama"]),
    Row(Class, "kokyu_house", "Kokyu House", &[A], "1-14 Jinnan, Shibuya-ku", (35.6640, 139.7003), 2, &["yoga", "shibuya"]),
    Row(Class, "tetsu_no_heya", "Tetsu no Heya", &[B], "7-8 Roppongi, Minato-ku", (35.6648, 139.7283), 2, &["strength", "roppongi"]),
    Row(Class, "nami_pilates", "Nami Pilates", &[C], "11-3 Sarugakucho, Shibuya-ku", (35.6494, 139.7016), 3, &["pilates", "daikanyama"]),
    Row(Class, "kabe_to_kumo", "Kabe to Kumo", &[A], "2-14 Takadanobaba, Shinjuku-ku", (35.7130, 139.7065), 1, &["climbing", "takadanobaba"]),
    Row(Class, "asakaze_running", "Asakaze Running Studio", &[B], "1-23 Mukojima, Sumida-ku", (35.7125, 139.8045), 1, &["running", "mukojima"]),
    Row(Class, "dojo_shizukesa", "Dojo Shizukesa", &[A, C], "3-10 Yanaka, Taito-ku", (35.7258, 139.7658), 2, &["martial arts", "yanaka"]),
    Row(Show, "yose_kagerotei", "Yose Kagerotei", &[A], "2-10 Ueno, Taito-ku", (35.7092, 139.7722), 2, &["rakugo", "ueno"]),
    Row(Show, "jazz_kissa_mayonaka", "Jazz Kissa Mayonaka", &[B], "5-12 Shinjuku, Shinjuku-ku", (35.6934, 139.7085), 2, &["jazz", "shinjuku"]),
    Row(Show, "gekijo_hoshikuzu", "Gekijo Hoshikuzu", &[C], "2-11 Kitazawa, Setagaya-ku", (35.6617, 139.6676), 1, &["theatre", "shimokitazawa"]),
    Row(Entry, "kagi_no_yakata", "Kagi no Yakata", &[A], "3-6 Sotokanda, Chiyoda-ku", (35.7012, 139.7702), 2, &["escape room", "akihabara"]),
    Row(Entry, "hikari_no_kairo", "Hikari no Kairo", &[B], "1-3 Daiba, Minato-ku", (35.6298, 139.7757), 3, &["digital art", "odaiba"]),
    Row(Entry, "utagoe_tower", "Utagoe Tower", &[C], "30-4 Udagawacho, Shibuya-ku", (35.6614, 139.6975), 1, &["karaoke", "shibuya"]),
    Row(Cruise, "yakatabune_tsukinami", "Yakatabune Tsukinami", &[A], "1-5 Yanagibashi, Taito-ku", (35.6975, 139.7872), 3, &["river cruise", "yanagibashi"]),
    Row(Transfer, "tsubame_airport_cars", "Tsubame Airport Cars", &[C], "1-8 Marunouchi, Chiyoda-ku", (35.6822, 139.7675), 3, &["airport transfer", "marunouchi"]),
    Row(DayTrip, "five_lakes_day_trips", "Five Lakes Day Trips", &[B], "1-18 Nishi-Shinjuku, Shinjuku-ku", (35.6886, 139.6983), 2, &["day trip", "shinjuku"]),
    Row(Tour, "lantern_lane", "Lantern Lane Walking Tours", &[A], "1-2 Asakusa, Taito-ku", (35.7108, 139.7960), 1, &["walking tour", "asakusa"]),
    Row(Tour, "edo_pedal", "Edo Pedal Tours", &[C], "1-6 Nihonbashi, Chuo-ku", (35.6829, 139.7745), 2, &["cycle tour", "nihonbashi"]),
    Row(Stay, "ryokan_matsukaze_an", "Ryokan Matsukaze-an", &[B, C], "7-5 Yanaka, Taito-ku", (35.7277, 139.7702), 4, &["ryokan", "yanaka"]),
];
