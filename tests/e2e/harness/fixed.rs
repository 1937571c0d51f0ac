//! What differs from run to run, replaced by values that never do, so that output can be compared
//! whole.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Home;

/// 2037-11-27T18:42:07Z, a Friday. The calendar of 2037 is that of 2026: `Fixed` shows it as 2026.
const EVENING: Duration = Duration::from_secs(2_142_960_127);

/// Minutes from midnight to `EVENING`.
const EVENING_MINUTES: u32 = 18 * 60 + 42;

/// Sets a new sandbox's clock to the same evening on every run.
pub(crate) fn set_clock(home: &Home) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    // A clock moves at most ten years at once.
    let half = (EVENING - now) / 2;
    for advance in [half, EVENING - now - half] {
        home.advance(&format!("{}s", advance.as_secs()));
    }
}

/// A year as documents show it, and the one in which their commands run: both have the same
/// calendar.
const YEARS: [(&str, &str); 3] = [("2026", "2037"), ("2027", "2038"), ("2030", "2041")];

/// A document's text as it runs at the fixed time.
pub(crate) fn as_run(text: &str) -> String {
    YEARS.iter().fold(text.to_owned(), |text, (shown, run)| {
        text.replace(&format!("{shown}-"), &format!("{run}-"))
    })
}

/// What a command shows at the fixed time, as documents show it.
pub(crate) fn as_shown(text: &str) -> String {
    YEARS.iter().fold(text.to_owned(), |text, (shown, run)| {
        let text = text.replace(&format!("{run}-"), &format!("{shown}-"));
        text.replace(&format!(" {run},"), &format!(" {shown},"))
    })
}

/// A text without what differs from computer to computer: its own time, how long something took,
/// ports that are free.
pub(crate) fn on_any_computer(text: &str) -> String {
    let now = jiff::Timestamp::now();
    let mut anywhere = text.to_owned();
    for (form, day) in [
        ("%a %-d %b %Y, ", "Fri 27 Nov 2037, "),
        ("%Y-%m-%d ", "2037-11-27 "),
        ("%Y-%m-%dT", "2037-11-27T"),
    ] {
        let today = now.strftime(form).to_string();
        anywhere = after_each(&anywhere, &today, |rest| {
            let time = rest.get(..8).filter(|it| it.matches(':').count() == 2)?;
            Some((format!("{day}18:42:07"), time.len()))
        });
    }
    anywhere = after_each(&anywhere, "127.0.0.1:", |rest| {
        let port = rest.get(..5)?.parse::<u16>().ok()?;
        (port > 9999).then(|| ("127.0.0.1:40100".to_owned(), 5))
    });
    for name in ["duration_ms", "latency_ms", "offset_seconds"] {
        anywhere = after_each(&anywhere, name, |rest| {
            let (blanks, value) = rest.split_at(rest.find(|c: char| !c.is_whitespace())?);
            let end = value.find(|c: char| !c.is_ascii_digit() && c != '.')?;
            (end > 0).then(|| (format!("{name}{blanks}1"), blanks.len() + end))
        });
    }
    let mut words: Vec<&str> = anywhere.split(' ').collect();
    for place in 1..words.len() {
        if words[place].starts_with("ms") && words[place - 1].parse::<f64>().is_ok() {
            words[place - 1] = "1";
        }
    }
    words.join(" ")
}

/// A text in which `fixed` may replace each `mark` and so many bytes of what follows it.
fn after_each(text: &str, mark: &str, fixed: impl Fn(&str) -> Option<(String, usize)>) -> String {
    let mut parts = text.split(mark);
    let mut anew = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (start, length) = fixed(part).unwrap_or_else(|| (mark.to_owned(), 0));
        anew.push_str(&start);
        anew.push_str(&part[length..]);
    }
    anew
}

/// Replaces ids, codes and times by fixed values of the same width. The same id gets the same
/// replacement.
#[derive(Default)]
pub(crate) struct Fixed {
    ids: Vec<String>,
}

impl Fixed {
    pub(crate) fn text(&mut self, text: &str) -> String {
        let mut fixed = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':');
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            if end == 0 {
                fixed.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            }
            let (word, after) = rest.split_at(end);
            fixed.push_str(&self.word(word, after));
            rest = after;
        }
        fixed
    }

    fn word(&mut self, word: &str, after: &str) -> String {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        match (word.len(), digits) {
            _ if kind(word).is_some() => self.id(word),
            (6, 6) if !["100000", "000000", "123456"].contains(&word) => "327908".to_owned(),
            (20, _) if word.starts_with("psp_") => "psp_325fee2c27b2f95b".to_owned(),
            (8, 6) => time(word).unwrap_or_else(|| word.to_owned()),
            (5, 4) if after.starts_with(" left") => "19:58".to_owned(),
            (2, 2) if word == "19" && after.starts_with(" minutes") => "20".to_owned(),
            // What a moment in a document is made of: `27T18:42:07`, and the fraction of the
            // second.
            (11 | 12, 8) if word[2..].starts_with('T') => {
                let time = time(&word[3..11]).unwrap_or_else(|| word[3..11].to_owned());
                format!("{}{time}{}", &word[..3], &word[11..])
            }
            (4.., _) if word.ends_with('Z') && digits == word.len() - 1 => "000Z".to_owned(),
            _ if word.starts_with("2037") => word.replacen("2037", "2026", 1),
            _ => word.to_owned(),
        }
    }

    fn id(&mut self, id: &str) -> String {
        if !self.ids.iter().any(|known| known == id) {
            self.ids.push(id.to_owned());
        }
        let mut same_kind = self.ids.iter().filter(|known| kind(known) == kind(id));
        let place = same_kind.position(|known| known == id).unwrap();
        let last = char::from(b'a' + u8::try_from(place % 26).unwrap());
        format!("{}_38fyx0xn0c3w{last}", kind(id).unwrap())
    }
}

/// What stands before the part that is drawn in an id of the sandbox.
fn kind(id: &str) -> Option<&str> {
    let is_drawn = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_lowercase();
    let (kind, end) = id.rsplit_once('_')?;
    let is_id = end.len() == 13 && end.starts_with(|c: char| c.is_ascii_digit());
    (is_id && end.bytes().all(is_drawn)).then_some(kind)
}

/// A time of day with seconds, as if every command had run in the first minute of the evening.
fn time(word: &str) -> Option<String> {
    let mut parts = word.split(':').map(str::parse::<u32>);
    let (hour, minute) = (parts.next()?.ok()?, parts.next()?.ok()?);
    let passed = (hour * 60 + minute).checked_sub(EVENING_MINUTES)?;
    let is_slot = minute % 30 == 0 && word.ends_with(":00");
    let minutes = EVENING_MINUTES + passed / 5 * 5;
    (!is_slot).then(|| format!("{:02}:{:02}:07", minutes / 60, minutes % 60))
}
