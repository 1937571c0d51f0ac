//! The output of `--dry-run`.

use crate::app::Context;
use crate::client::Call;
use crate::outcome::{Exit, Result};
use crate::terminal::view::RequestView;

/// Shows a call as it would be sent, without sending anything.
pub(crate) fn preview(context: &Context, call: Call) -> Result<Exit> {
    let request = RequestView::masked(
        call,
        context.adapter(),
        context.has_key(),
        context.base_path(),
    );
    context.out.emit(&request)?;
    Ok(Exit::Done)
}
