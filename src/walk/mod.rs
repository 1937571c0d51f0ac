//! Flows that verbs share: finding a venue and a slot, creating, the pauses, waiting, the guided booking.

mod answer;
mod change;
mod create;
mod doubt;
mod draft;
mod finish;
mod forget;
mod guided;
mod locate;
mod offer;
mod pause;
mod stdin;
mod venues;
mod wait;

pub(crate) use answer::{Outcome, send_answer};
pub(crate) use change::change;
pub(crate) use create::{create, resume};
pub(crate) use doubt::mention_doubtful;
pub(crate) use draft::Draft;
pub(crate) use finish::finish;
pub(crate) use forget::forget_secrets;
pub(crate) use guided::{VERTICALS, choose_slot, guide};
pub(crate) use locate::{locate_slot, locate_venue};
pub(crate) use offer::{Offer, Zoning, not_a_list, offered, resolve};
pub(crate) use pause::{payment_answer, walk_through};
pub(crate) use stdin::read_stdin;
pub(crate) use venues::find_venues;
pub(crate) use wait::{read_booking, wait_while_processing};
