//! What several commands do: find a venue and a slot, book, answer a pause, wait, and guide a person through a
//! booking.

pub(crate) mod batch;
pub(crate) mod booking_draft;
pub(crate) mod change;
pub(crate) mod compared;
pub(crate) mod confirmation;
pub(crate) mod create;
pub(crate) mod difference;
pub(crate) mod finish;
pub(crate) mod forget_secrets;
pub(crate) mod guarded;
pub(crate) mod input;
pub(crate) mod learn;
pub(crate) mod locate;
pub(crate) mod offer;
pub(crate) mod open_attempts;
pub(crate) mod open_bookings;
pub(crate) mod own_address;
pub(crate) mod pages;
pub(crate) mod pause_answer;
pub(crate) mod pause_prompts;
pub(crate) mod pick;
pub(crate) mod received;
pub(crate) mod repeated;
pub(crate) mod review;
pub(crate) mod same_guest;
pub(crate) mod sessions;
pub(crate) mod terms;
pub(crate) mod timeline;
pub(crate) mod understood;
pub(crate) mod venues;
pub(crate) mod wait;
pub(crate) mod walk;
pub(crate) mod webhook_secrets;

pub(crate) use change::{change, refuse_uncancellable, refused};
pub(crate) use compared::{finish_compared, finish_modified};
pub(crate) use confirmation::Confirmation;
pub(crate) use finish::{card, finish, preview, remember_shown, warn_of_unknown_status};
pub(crate) use forget_secrets::forget_secrets;
pub(crate) use guarded::{guard, send_guarded};
pub(crate) use input::{one_time_code, read_file, read_stdin};
pub(crate) use locate::{LAST, locate_booking, locate_row, locate_session, locate_venue};
pub(crate) use offer::{
    Offer, known_zone, note_unused_zone, offered, resolve, terms_reader, unknown_zone,
};
pub(crate) use open_attempts::{find_attempt, remind_of_open_attempts, resume};
pub(crate) use open_bookings::open_bookings;
pub(crate) use own_address::own_address;
pub(crate) use pages::DEFAULT_LIMIT;
pub(crate) use pause_answer::{AnswerOutcome, answered_otherwise, send_answer};
pub(crate) use pause_prompts::{ABORTS, answer_pauses, payment_answer, show_pause};
pub(crate) use pick::{
    NamedBooking, Offered, Reads, attempt_or_pick, booking_or_pick, not_found, open_requests,
    venue_or_pick,
};
pub(crate) use received::take_in_received;
pub(crate) use review::choose_slot;
pub(crate) use sessions::{PENDING, find_sessions, read_session, waits_for_code};
pub(crate) use terms::{add_stakes, cancellation_terms, keep_cancellation};
pub(crate) use timeline::timeline;
pub(crate) use understood::note_around;
pub(crate) use venues::find_venues;
pub(crate) use wait::{Wait, find_booking, read_booking, wait_while_processing};
pub(crate) use walk::VERTICALS;
pub(crate) use webhook_secrets::webhook_secrets;
