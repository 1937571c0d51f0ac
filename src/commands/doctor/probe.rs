//! `doctor --probe`: what the service sends, read as `profile learn --check` reads it.

use crate::app::{Context, Startup};
use crate::config::Target;
use crate::flows::learn::{Lookout, OtherWays, look};
use crate::outcome::{Exit, Result};

/// Reads what `profile learn` reads, and writes nothing.
pub(super) async fn run(setup: Startup, near: Option<String>) -> Result<Exit> {
    let mut context = Context::new(setup)?;
    let lookout = Lookout {
        near,
        vertical: "dining".to_owned(),
        other_ways: OtherWays::Never,
    };
    let mut looked = {
        let _progress = context.out.progress("reading");
        look(&mut context, &lookout, Vec::new()).await?
    };
    looked.profile = match context.target() {
        Target::Remote(service) => service.profile.clone(),
        Target::Embedded { .. } => None,
    };
    looked.is_check = true;
    context.out.emit(&looked)?;
    Ok(if looked.is_drifted() {
        Exit::Config
    } else {
        Exit::Done
    })
}
