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
pub(crate) mod terms;
pub(crate) mod timeline;
pub(crate) mod understood;
pub(crate) mod wait;
pub(crate) mod walk;
pub(crate) mod webhook_secrets;

pub(crate) use change::{guard, send_guarded};
pub(crate) use confirmation::Confirmation;
pub(crate) use finish::preview;
pub(crate) use forget_secrets::forget_secrets;
pub(crate) use input::{one_time_code, read_file, read_stdin};
pub(crate) use locate::{LAST, locate_booking, locate_row, locate_session};
pub(crate) use own_address::own_address;
pub(crate) use pages::{DEFAULT_LIMIT, PENDING, find_sessions, read_session};
pub(crate) use understood::note_around;
pub(crate) use wait::read_booking;
pub(crate) use webhook_secrets::webhook_secrets;
