use serde_json::{Value, json};

use crate::json::Document;
use crate::outcome::code::{ALL, CodeEntry, entry};
use crate::outcome::{Code, Error, Exit, Result};
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

pub(super) fn run(out: &Output, args: &Args) -> Result<Exit> {
    let entries: Vec<&CodeEntry> = match &args.code {
        None => ALL.iter().collect(),
        Some(code) => {
            let http = format!("http_{code}");
            let found = entry(code).or_else(|| entry(&http)).ok_or_else(|| {
                let code = code.escape_debug();
                Error::new(Code::Usage, format!("unknown code {code}"))
                    .hint("list all codes with `bookctl explain`")
            })?;
            vec![found]
        }
    };
    out.emit_long(&Explained(entries))?;
    Ok(Exit::Done)
}

struct Explained(Vec<&'static CodeEntry>);

impl View for Explained {
    fn json(&self) -> Document {
        let codes = self.0.iter().map(|entry| {
            json!({
                "code": entry.name,
                "kind": entry.kind.as_str(),
                "meaning": entry.meaning,
                "retry": entry.retry.as_str(),
                "next": entry.next,
                "exit_code": entry.exit.code(),
            })
        });
        json!({ "codes": codes.collect::<Vec<Value>>() }).into()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        if let [entry] = self.0.as_slice() {
            page.heading(Tone::Strong, entry.name, entry.kind.as_str());
            page.sentence(format!("{}.", capitalised(entry.meaning)));
            page.field("retry", entry.retry.advice());
            page.field("what to do", entry.next);
            page.field(
                "exit code",
                format!("{}: {}", entry.exit.code(), entry.exit.meaning()),
            );
            return page;
        }
        let rows = self.0.iter().map(|entry| {
            let exit = entry.exit.code().to_string();
            [
                entry.name,
                entry.kind.as_str(),
                &exit,
                entry.retry.as_str(),
                entry.meaning,
            ]
            .map(TableCell::from)
            .to_vec()
        });
        page.table(
            vec!["code", "group", "exit", "retry", "meaning"],
            rows.collect(),
            vec![],
        );
        page
    }
}
