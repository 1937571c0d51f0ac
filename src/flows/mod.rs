//! What several commands do: find a venue and a slot, book, answer a pause, wait, and guide a person through a
//! booking.

mod batch;
mod before_change;
mod booking_draft;
mod change;
mod compared;
mod compared_time;
mod comparison;
mod confirmation;
mod create;
mod finish;
mod forget_secrets;
mod guarded;
mod guided;
mod input;
mod kept_terms;
pub(crate) mod learn;
mod locate;
mod offer;
mod open_attempts;
mod open_bookings;
mod own_address;
mod pages;
mod pause_answer;
mod pause_prompts;
mod pick;
mod preview;
mod received;
mod reminder;
mod repeated;
mod said;
mod same_guest;
mod sessions;
mod timeline;
mod understood;
mod venues;
mod wait;
mod webhook_secrets;

pub(crate) use batch::{
    BatchFormat, BatchIdentity, BatchOptions, KeyedRow, RowResult, ask_about_same_guests, is_key,
    keyed, known_result, read_rows, refuse_equal_rows, run_batch,
};
pub(crate) use before_change::{add_stakes, cancellation_terms, refuse_uncancellable, refused};
pub(crate) use booking_draft::BookingDraft;
pub(crate) use change::change;
pub(crate) use compared::{finish_compared, finish_modified};
pub(crate) use confirmation::Confirmation;
pub(crate) use create::create;
pub(crate) use finish::{card, finish, remember_shown, warn_of_unknown_status};
pub(crate) use forget_secrets::forget_secrets;
pub(crate) use guarded::{guard, send_guarded};
pub(crate) use guided::{
    SlotChoice, VERTICALS, ask_guest_again, choose_slot, guide, profile, review, show_command,
    take_slot,
};
pub(crate) use input::{one_time_code, read_file, read_stdin};
pub(crate) use kept_terms::keep_cancellation;
pub(crate) use locate::{
    LAST, locate_booking, locate_row, locate_session, locate_slot, locate_venue,
};
pub(crate) use offer::{
    More, Offer, ZoneSource, note_unused_zone, offered, resolve, terms_reader, unknown_zone,
};
pub(crate) use open_attempts::{
    EarlierAttempts, find_attempt, offer_to_find_out, resume, warn_of_open_attempts,
};
pub(crate) use open_bookings::open_bookings;
pub(crate) use own_address::own_address;
pub(crate) use pages::DEFAULT_LIMIT;
pub(crate) use pause_answer::{AnswerOutcome, answered_otherwise, send_answer};
pub(crate) use pause_prompts::{ABORTS, answer_pauses, payment_answer, show_pause};
pub(crate) use pick::{
    NamedBooking, Offered, Reads, attempt_or_pick, booking_or_pick, not_found, open_requests,
    pick_line, venue_or_pick,
};
pub(crate) use preview::preview;
pub(crate) use received::take_in_received;
pub(crate) use reminder::remind_of_open_attempts;
pub(crate) use repeated::{refuse_to_repeat, repeated};
pub(crate) use same_guest::ask_about_same_guest;
pub(crate) use sessions::{PENDING, find_sessions, read_session, waits_for_code};
pub(crate) use timeline::timeline;
pub(crate) use understood::note_around;
pub(crate) use venues::find_venues;
pub(crate) use wait::{Wait, find_booking, read_booking, wait_while_processing};
pub(crate) use webhook_secrets::webhook_secrets;
