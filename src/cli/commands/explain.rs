use serde_json::{Value, json};

use crate::json::Document;
use crate::outcome::code::{ALL, CodeEntry, entry};
use crate::outcome::similar::did_you_mean;
use crate::outcome::{Error, Exit, Result};
use crate::terminal::output::{Output, Page, TableCell, Tone, View};
use crate::terminal::view::capitalised;

/// Explain a status or an error code, and what to do next
///
/// Shows what it means, whether retrying is safe, and what to do. Without a code, lists all of them.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl explain payment_outcome_unknown\n  \
    bookctl explain 429\n  \
    bookctl explain --jq '.codes[] | select(.exit_code == 7) | .code'")]
pub(crate) struct Args {
    /// A booking status, an error code, or an HTTP status
    code: Option<String>,
}

pub(crate) fn run(out: &Output, args: &Args) -> Result<Exit> {
    out.emit_long(&explained(args.code.as_deref())?)?;
    Ok(Exit::Done)
}

fn explained(code: Option<&str>) -> Result<Explained> {
    let Some(code) = code else {
        return Ok(Explained(ALL.iter().collect()));
    };
    // A terminal has words of its own.
    let code = match code.to_lowercase().as_str() {
        "waiting" | "overdue" => "requires_action",
        "unresolved" => "outcome_unknown",
        _ => code,
    };
    if let Some(found) = entry(code).or_else(|| entry(&format!("http_{code}"))) {
        return Ok(Explained(vec![found]));
    }
    let list = match code.parse::<u8>() {
        Ok(_) => "see `bookctl help exit-codes`",
        Err(_) => "list all codes with `bookctl explain`",
    };
    let meant = did_you_mean(code, ALL.iter().map(|entry| entry.name));
    let hint = meant.map_or(list.to_owned(), |meant| format!("{meant} Or {list}"));
    Err(Error::usage(format!("unknown code {}", code.escape_debug())).hint(hint))
}

struct Explained(Vec<&'static CodeEntry>);

impl View for Explained {
    fn json(&self) -> Document {
        let codes = self.0.iter().map(|entry| {
            let mut row = json!({
                "code": entry.name,
                "kind": entry.kind.as_str(),
                "meaning": entry.meaning,
                "next": entry.next,
                "exit_code": entry.exit.code(),
            });
            if let Some(retry) = entry.retry.word() {
                row["retry"] = retry.into();
            }
            if let Some(told) = entry.code.for_the_guest() {
                row["tell_guest"] = told.into();
            }
            row
        });
        json!({ "codes": codes.collect::<Vec<Value>>() }).into()
    }

    fn draw(&self, page: &mut Page) {
        if let [entry] = self.0.as_slice() {
            page.heading(Tone::Strong, entry.name, entry.kind.as_str());
            page.sentence(format!("{}.", capitalised(entry.meaning)));
            page.field_if("retry", entry.retry.word());
            page.field("what to do", entry.next);
            page.field_if("tell guest", entry.code.for_the_guest());
            let exit = entry.exit;
            page.field("exit code", format!("{}: {}", exit.code(), exit.meaning()));
            return;
        }
        let rows = self.0.iter().map(|entry| {
            let exit = entry.exit.code().to_string();
            let cells = [
                entry.name,
                entry.kind.as_str(),
                &exit,
                entry.retry.word().unwrap_or_default(),
                entry.meaning,
            ];
            cells.map(TableCell::from).to_vec()
        });
        let headers = vec!["code", "group", "exit", "retry", "meaning"];
        page.table(headers, rows.collect(), vec![]);
    }
}
