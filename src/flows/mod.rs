//! What several commands do: find a venue and a slot, book, answer a pause, wait, and guide a person through a
//! booking.

mod batch;
mod booking_draft;
mod change;
mod compared;
mod comparison;
mod confirmation;
mod create;
mod finish;
mod forget_secrets;
mod guarded;
mod guided;
mod input;
pub(crate) mod learn;
mod locate;
mod offer;
mod open_attempts;
mod open_bookings;
mod pages;
mod pause_answer;
mod pause_prompts;
mod preview;
mod sessions;
mod understood;
mod venues;
mod wait;
mod webhook_secrets;

pub(crate) use batch::{
    BatchFormat, BatchIdentity, BatchOptions, KeyedRow, RowResult, is_key, keyed, read_rows,
    run_batch,
};
pub(crate) use booking_draft::BookingDraft;
pub(crate) use change::change;
pub(crate) use compared::finish_compared;
pub(crate) use confirmation::Confirmation;
pub(crate) use create::{attempt_request, create};
pub(crate) use finish::{card, finish};
pub(crate) use forget_secrets::forget_secrets;
pub(crate) use guarded::{guard, send_guarded};
pub(crate) use guided::{VERTICALS, choose_slot, guide};
pub(crate) use input::{read_file, read_stdin};
pub(crate) use locate::{locate_booking, locate_row, locate_slot, locate_venue};
pub(crate) use offer::{More, Offer, ZoneSource, offered, resolve};
pub(crate) use open_attempts::warn_of_open_attempts;
pub(crate) use open_bookings::open_bookings;
pub(crate) use pages::DEFAULT_LIMIT;
pub(crate) use pause_answer::{AnswerOutcome, send_answer};
pub(crate) use pause_prompts::{answer_pauses, payment_answer};
pub(crate) use preview::preview;
pub(crate) use sessions::find_sessions;
pub(crate) use understood::note_around;
pub(crate) use venues::find_venues;
pub(crate) use wait::{find_booking, read_booking, wait_while_processing};
pub(crate) use webhook_secrets::webhook_secrets;
