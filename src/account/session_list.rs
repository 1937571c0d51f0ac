//! Lists the sessions of the organization.

use crate::app::Parts;
use crate::app::pages::find_sessions;
use crate::app::report_warnings::note_envelope;
use crate::booking::arguments::Limit;
use crate::journal::recent::RecentList;
use crate::json::Document;
use crate::outcome::{Exit, Result};
use crate::service::client::session;
use crate::terminal::output::{DocumentView, Page, TableCell};
use crate::terminal::view::{Fields, time_cell};

/// List sessions
#[derive(clap::Args, Debug, Default)]
#[command(after_help = "Examples:\n  \
    bookctl session list\n  \
    bookctl session list --end-user user_7 --state active --jq '.sessions[].id'")]
pub(crate) struct Args {
    /// List only sessions of this guest
    #[arg(long, value_name = "ID")]
    end_user: Option<String>,
    /// List only sessions of this provider
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// List only sessions in this state
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    #[command(flatten)]
    limit: Limit,
}

pub(crate) async fn run(Parts { api, records, ui, .. }: &Parts, args: &Args) -> Result<Exit> {
    let call = session::list(&[
        ("end_user", args.end_user.as_deref()),
        ("provider", args.provider.as_deref()),
        ("state", args.state.as_deref()),
    ]);
    let pages = find_sessions(api, call, args.limit.get()).await?;
    let ids = pages.items.iter().filter_map(|it| it.id.as_deref());
    records.remember_rows(RecentList::Sessions, ids);
    let page = |_: &Document| {
        let headers = ["", "id", "state", "guest", "provider", "created", "also"];
        let rows = (1..).zip(&pages.items).map(|(number, session)| {
            let mut fields = Fields::from_document(&session.value);
            let mut row = vec![TableCell::from(format!("@{number}"))];
            let own = ["id", "state", "end_user", "provider"].map(|name| fields.scalar(name));
            row.extend(own.map(|text| TableCell::from(text.unwrap_or_default())));
            let created = fields.take("created_at");
            row.push(created.map_or_else(|| "".into(), |it| time_cell(it, None)));
            row.push(fields.rest_text().unwrap_or_default().into());
            row
        });
        let mut page = Page::default();
        page.table(headers.to_vec(), rows.collect(), (1..7).collect());
        page
    };
    let view = DocumentView(pages.document.clone(), page);
    ui.out.emit_list(&view, pages.items.is_empty(), "No sessions found.")?;
    note_envelope(&api.facts, ui, &pages.envelope_fields);
    Ok(Exit::Done)
}
