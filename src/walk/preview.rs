//! `--dry-run`.

use crate::api::Call;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::view::RequestView;

/// Shows a call as it would be sent; the service is asked nothing.
pub(crate) fn preview(context: &Context, call: Call) -> Result<Exit> {
    let request = RequestView::masked(call, &context.dialect(), context.has_key());
    context.out.emit(&request)?;
    Ok(Exit::Done)
}
