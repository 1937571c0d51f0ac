//! Flows that verbs share: finding a venue and a slot, creating, the pauses, waiting, the guided booking.

mod answer;
mod batch;
mod change;
mod comparison;
mod confirmation;
mod create;
mod doubt;
mod draft;
mod finish;
mod forget;
mod guarded;
mod guided;
mod input;
mod locate;
mod offer;
mod open_bookings;
mod pause;
mod preview;
mod seen;
mod venues;
mod wait;
mod webhook_secrets;

pub(crate) use answer::{Outcome, send_answer};
pub(crate) use batch::{
    Format, Identity, Keyed, Manner, RowResult, is_key, keyed, read_rows, run_batch,
};
pub(crate) use change::change;
pub(crate) use confirmation::Confirmation;
pub(crate) use create::create;
pub(crate) use doubt::mention_doubtful;
pub(crate) use draft::Draft;
pub(crate) use finish::{card, finish};
pub(crate) use forget::forget_secrets;
pub(crate) use guarded::{guard, send_guarded};
pub(crate) use guided::{VERTICALS, choose_slot, guide};
pub(crate) use input::{read_file, read_stdin};
pub(crate) use locate::{locate_booking, locate_slot, locate_venue};
pub(crate) use offer::{Offer, Zoning, not_a_list, offered, resolve};
pub(crate) use open_bookings::open_bookings;
pub(crate) use pause::{payment_answer, walk_through};
pub(crate) use preview::preview;
pub(crate) use venues::find_venues;
pub(crate) use wait::{find_booking, read_booking, wait_while_processing};
pub(crate) use webhook_secrets::webhook_secrets;
