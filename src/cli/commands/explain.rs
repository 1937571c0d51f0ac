use serde::Serialize;

use crate::outcome::code::{ALL, CodeEntry, entry};
use crate::outcome::similar::did_you_mean;
use crate::outcome::word::Word;
use crate::outcome::{Error, Exit, Result};
use crate::terminal::output::{Draw, Output, Page, TableCell, Tone};
use crate::terminal::view::capitalised;

/// Explain a status, an error code or an exit code
///
/// Shows what it means, whether retrying is safe, and what to do. Without a code, lists all error
/// codes.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl explain payment_outcome_unknown\n  \
    bookctl explain 'failed, check'\n  \
    bookctl explain 16\n  \
    bookctl explain --jq '.codes[] | select(.exit_code == 7) | .code'")]
pub(crate) struct Args {
    /// Status or word of a list, error code, HTTP status, or exit code
    code: Option<String>,
}

pub(crate) fn run(out: &Output, args: &Args) -> Result<Exit> {
    out.emit_long(&explained(args.code.as_deref())?)
}

pub(super) fn explained(code: Option<&str>) -> Result<Explained> {
    let Some(code) = code else {
        return Ok(Explained { codes: ALL.iter().map(Row::from).collect() });
    };
    let folded = code.to_lowercase();
    let word = Word::ALL.iter().find(|it| it.human == folded && !it.codes.is_empty());
    if let Some(word) = word {
        let entries = word.codes.iter().filter_map(|code| entry(code));
        return Ok(Explained { codes: entries.map(Row::from).collect() });
    }
    if let Some(found) = entry(&folded).or_else(|| entry(&format!("http_{folded}"))) {
        return Ok(Explained { codes: vec![Row::from(found)] });
    }
    if let Some(exit) = Exit::ALL.iter().find(|exit| exit.code().to_string() == folded) {
        return Ok(Explained { codes: vec![Row::from(*exit)] });
    }
    let list = match code.parse::<u8>() {
        Ok(_) => "see `bookctl help exit-codes`",
        Err(_) => "list all codes with `bookctl explain`",
    };
    let meant = did_you_mean(code, ALL.iter().map(|entry| entry.name));
    let hint = meant.map_or(list.to_owned(), |meant| format!("{meant} Or {list}"));
    Err(Error::usage(format!("unknown code {}", code.escape_debug())).hint(hint))
}

#[derive(Serialize)]
struct Row {
    code: String,
    kind: &'static str,
    meaning: &'static str,
    /// What to do; of an exit code, what is certain about the booking.
    next: &'static str,
    exit_code: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tell_guest: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    error_codes: Vec<&'static str>,
    #[serde(skip)]
    exit: Exit,
}

impl From<&CodeEntry> for Row {
    fn from(entry: &CodeEntry) -> Self {
        Row {
            code: entry.name.to_owned(),
            kind: entry.kind.as_str(),
            meaning: entry.meaning,
            next: entry.next,
            exit_code: entry.exit.code(),
            retry: entry.retry.word(),
            tell_guest: entry.code.for_the_guest(),
            error_codes: Vec::new(),
            exit: entry.exit,
        }
    }
}

impl From<Exit> for Row {
    fn from(exit: Exit) -> Self {
        Row {
            code: exit.code().to_string(),
            kind: "exit code",
            meaning: exit.meaning(),
            next: exit.certainty(),
            exit_code: exit.code(),
            retry: exit.retry().word(),
            tell_guest: None,
            error_codes: ALL.iter().filter(|it| it.exit == exit).map(|it| it.name).collect(),
            exit,
        }
    }
}

#[derive(Serialize)]
pub(super) struct Explained {
    codes: Vec<Row>,
}

impl Draw for Explained {
    fn draw(&self, page: &mut Page) {
        if let [row] = self.codes.as_slice() {
            page.heading(Tone::Strong, row.code.as_str(), row.kind);
            page.sentence(format!("{}.", capitalised(row.meaning)));
            page.field_if("retry", row.retry);
            let is_exit = row.kind == "exit code";
            page.field(if is_exit { "the booking" } else { "what to do" }, row.next);
            page.field_if("tell guest", row.tell_guest);
            if is_exit {
                page.field_if(
                    "codes",
                    Some(row.error_codes.join(", ")).filter(|it| !it.is_empty()),
                );
            } else {
                page.field("exit code", format!("{}: {}", row.exit_code, row.exit.meaning()));
            }
            return;
        }
        let rows = self.codes.iter().map(|row| {
            let exit = row.exit_code.to_string();
            let retry = row.retry.unwrap_or_default();
            [&row.code, row.kind, &exit, retry, row.meaning].map(TableCell::from).to_vec()
        });
        page.table(vec!["code", "group", "exit", "retry", "meaning"], rows.collect(), vec![]);
    }
}
