use serde_json::{Value, json};

use crate::json::Document;
use crate::model::similar::did_you_mean;
use crate::outcome::code::{ALL, CodeEntry, CodeKind, entry, exit_for_refusal};
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
    bookctl explain 11\n  \
    bookctl explain --jq '.codes[] | select(.exit_code == 7) | .code'")]
pub(crate) struct Args {
    /// A booking status, an error code, an HTTP status, or an exit code of bookctl
    code: Option<String>,
}

pub(super) fn run(out: &Output, args: &Args) -> Result<Exit> {
    out.emit_long(&explained(args.code.as_deref())?)?;
    Ok(Exit::Done)
}

fn explained(code: Option<&str>) -> Result<Explained> {
    let of = |codes: Vec<_>, exit| Ok(Explained { codes, exit });
    let Some(code) = code else {
        return of(ALL.iter().collect(), None);
    };
    if let Some(found) = entry(code).or_else(|| entry(&format!("http_{code}"))) {
        return of(vec![found], None);
    }
    let mut exits = Exit::ALL.iter().copied();
    if let Some(exit) = exits.find(|exit| exit.code().to_string() == code) {
        let codes = ALL.iter().filter(|entry| entry.exit == exit);
        return of(codes.collect(), Some(exit));
    }
    let list = "list all codes with `bookctl explain`";
    let meant = did_you_mean(code, ALL.iter().map(|entry| entry.name));
    let hint = meant.map_or(list.to_owned(), |meant| format!("{meant} Or {list}"));
    Err(Error::usage(format!("unknown code {}", code.escape_debug())).hint(hint))
}

struct Explained {
    codes: Vec<&'static CodeEntry>,
    /// The exit code that was asked for, which the codes lead to.
    exit: Option<Exit>,
}

impl View for Explained {
    fn json(&self) -> Document {
        let codes = self.codes.iter().map(|entry| {
            json!({
                "code": entry.name,
                "kind": entry.kind.as_str(),
                "meaning": entry.meaning,
                "retry": entry.retry.as_str(),
                "next": entry.next,
                "exit_code": entry.exit.code(),
            })
        });
        let mut document = json!({ "codes": codes.collect::<Vec<Value>>() });
        if let Some(exit) = self.exit {
            let (meaning, booking) = (exit.meaning(), exit.certainty());
            document["exit_code"] =
                json!({"code": exit.code(), "meaning": meaning, "the_booking": booking});
        }
        document.into()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        if let Some(exit) = self.exit {
            page.heading(Tone::Strong, "exit code", exit.code().to_string());
            page.sentence(format!("{}.", capitalised(exit.meaning())));
            page.field("after `book`", exit.certainty());
            if self.codes.is_empty() {
                return page;
            }
        } else if let [entry] = self.codes.as_slice() {
            page.heading(Tone::Strong, entry.name, entry.kind.as_str());
            page.sentence(format!("{}.", capitalised(entry.meaning)));
            page.field("retry", entry.retry.advice());
            page.field("what to do", entry.next);
            page.field(
                "exit code",
                format!("{}: {}", entry.exit.code(), entry.exit.meaning()),
            );
            if entry.kind == CodeKind::Outcome && entry.exit == Exit::Failed {
                let refused = exit_for_refusal(Some(entry.name), 422);
                let refused = format!("{}: {}", refused.code(), refused.meaning());
                page.field("for a change", refused);
            }
            return page;
        }
        let rows = self.codes.iter().map(|entry| {
            let exit = entry.exit.code().to_string();
            let cells = [
                entry.name,
                entry.kind.as_str(),
                &exit,
                entry.retry.advice(),
                entry.meaning,
            ];
            cells.map(TableCell::from).to_vec()
        });
        let headers = vec!["code", "group", "exit", "retry", "meaning"];
        page.table(headers, rows.collect(), vec![]);
        page
    }
}
