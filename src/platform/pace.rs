//! How fast bookctl's own pauses pass: before it tries again, and while it polls.

use std::ffi::OsString;
use std::sync::OnceLock;
use std::time::Duration;

static PACE: OnceLock<f64> = OnceLock::new();

/// Sets the part of each pause that is waited, from above 0 to 1. Tests shorten pauses with it.
pub(crate) fn set(part: Option<OsString>) {
    let part = part.and_then(|it| it.to_str()?.parse::<f64>().ok());
    if let Some(part) = part.filter(|part| *part > 0.0 && *part < 1.0) {
        PACE.get_or_init(|| part);
    }
}

/// The part of a pause that is waited.
pub(crate) fn scaled(pause: Duration) -> Duration {
    PACE.get().map_or(pause, |part| pause.mul_f64(*part))
}

pub(crate) async fn pause(pause: Duration) {
    tokio::time::sleep(scaled(pause)).await;
}
