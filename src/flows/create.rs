//! A booking request that is never forgotten: each run of it is recorded before its first byte, and ended by what
//! proves its outcome.

use std::time::Duration;

use serde_json::Value;

use super::comparison::difference;
use crate::app::in_flight::{Situation, abandon_command, resume_command, show_command};
use crate::app::{Context, Waited};
use crate::client::{Answer, Call, Failure, create_call};
use crate::journal::{Begun, Earlier, RunId, State};
use crate::model::booking::Booking;
use crate::outcome::{Code, Error, Exit, Result};

/// A booking request that was answered with a booking.
pub(crate) struct Made {
    pub(crate) booking: Booking,
    /// Whether the booking was made before, under the same idempotency key (spec, Limits 7).
    pub(crate) earlier: bool,
}

impl Made {
    /// Tells a person what the booking itself does not say.
    fn announce(&self, context: &Context) {
        if self.earlier {
            context.out.note(&format!(
                "Booking {} was already made with this idempotency key.",
                self.booking.id()
            ));
        }
    }
}

/// Creates a booking under `key`, and tells a person where it was made before.
pub(crate) async fn create(context: &Context, key: &str, body: Value) -> Result<Booking> {
    let made = make(context, key, body).await?;
    made.announce(context);
    Ok(made.booking)
}

/// Creates a booking under `key`.
///
/// Before anything is sent the journal holds the run, synced; without a journal nothing is sent.
///
/// # Errors
/// What the service refused. Where this run or another run of the attempt may have booked, the error says so (16, or 9
/// where a rate limit was met last) and names the command that settles it. A booking for something else is 7 where the
/// service says that it made it before (200), else 16.
pub(super) async fn make(context: &Context, key: &str, body: Value) -> Result<Made> {
    let client = context.client()?;
    let attempt = Sending {
        context,
        key,
        call: create_call(body, key),
    };
    let mut allowed = context.max_wait();
    let mut may_have_booked = false;
    loop {
        let begun = attempt.begin(allowed).await;
        let (run, earlier, left) = begun.map_err(|error| match may_have_booked {
            true => attempt.may_have_booked(error),
            false => error,
        })?;
        context.situation.replace(Situation::Creating {
            key: key.to_owned(),
        });
        let progress = context.out.progress("booking");
        let (sent, in_doubt) = client.create(&attempt.call).await;
        drop(progress);
        context.observe_allowance(&attempt.call);
        let failure = match sent {
            Ok(answer) => return attempt.take(&run, earlier, in_doubt, answer),
            Err(failure) => failure,
        };
        may_have_booked = attempt.end(&run, &failure, in_doubt);
        // The run is over: a limit is waited out between two runs, so that an interrupt then leaves nothing open.
        let waited = match failure.is_rate_limit() {
            true => context.pause_for_limit(failure, &attempt.call, left).await,
            false => Err(failure.into_error(&attempt.call)),
        };
        allowed = waited.map_err(|error| match may_have_booked {
            true => attempt.may_have_booked(error),
            false => error,
        })?;
    }
}

/// One attempt while it is sent.
struct Sending<'a> {
    context: &'a Context,
    key: &'a str,
    call: Call,
}

impl Sending<'_> {
    fn body(&self) -> &Value {
        self.call.body.as_ref().unwrap_or(&Value::Null)
    }

    /// Records a run as soon as the rate limit that is known of has room for it. Returns what is left of `allowed`.
    async fn begin(&self, allowed: Duration) -> Result<(RunId, Earlier, Duration)> {
        let mut allowed = allowed;
        let mut budget = self.call.budget();
        loop {
            let metered = match budget {
                Some(budget) => {
                    let now = self.context.metered_now(budget).await;
                    now.map(|now| (budget, now))
                }
                None => None,
            };
            let begun = self
                .context
                .journal()?
                .begin(self.key, self.body(), metered)?;
            let window = match begun {
                Begun::Run { run, earlier } => return Ok((run, earlier, allowed)),
                Begun::Shut(window) => window,
            };
            let waited = self.context.wait_for_window(&window, &self.call, allowed);
            match waited.await? {
                Waited::Until { left } => allowed = left,
                Waited::NotAtAll => budget = None,
            }
        }
    }

    /// Ends a run that failed, and says whether this run or another one may have booked, or has: "nothing was booked"
    /// would then be wrong.
    fn end(&self, run: &RunId, failure: &Failure, in_doubt: bool) -> bool {
        let noted = self
            .context
            .journal()
            .and_then(|mut journal| match failure {
                _ if in_doubt => journal.doubt(run, self.body(), failure.status()),
                Failure::Refused(refusal) => journal.refuse(run, refusal.status),
                _ => journal.withdraw(run),
            });
        match noted {
            Ok(state) => {
                if state == State::Refused {
                    self.context.situation.replace(Situation::Nothing);
                }
                state != State::Refused
            }
            Err(error) => {
                let why = &error.message;
                self.context
                    .out
                    .warn(&format!("cannot save the result in the journal: {why}"));
                true
            }
        }
    }

    /// Takes an answer for what it proves: the booking that was asked for, or nothing.
    ///
    /// `in_doubt` says whether an earlier try of this run may have booked.
    fn take(&self, run: &RunId, earlier: Earlier, in_doubt: bool, answer: Answer) -> Result<Made> {
        let status = answer.status;
        let may_have_booked = in_doubt || earlier == Earlier::MayHaveBooked;
        let Some(booking) = Booking::from_document(answer.document) else {
            let failure = Failure::Unreadable {
                status,
                kind: "not a booking".to_owned(),
            };
            self.end(run, &failure, true);
            return Err(self.may_have_booked(failure.into_error(&self.call)));
        };
        let known = match earlier {
            Earlier::Booked => self.known_booking(),
            Earlier::Nothing | Earlier::MayHaveBooked => None,
        };
        // A booking that this attempt is known to have made is the one that was asked for, whatever was changed since.
        let is_known = known.as_deref() == Some(booking.id());
        if let Some(difference) = difference(self.body(), &booking).filter(|_| !is_known) {
            let is_older = status == 200 && !may_have_booked;
            let noted = self
                .context
                .journal()
                .and_then(|mut journal| match is_older {
                    true => journal.note_another_booking(run, self.body(), status),
                    false => journal.doubt(run, self.body(), Some(status)),
                });
            if let Err(error) = noted {
                self.context.out.warn(&error.message);
            }
            let error = match is_older {
                true => another_booking(&booking, &difference, self.key),
                false => {
                    let error = self.may_have_booked(misdirected(&booking, &difference));
                    let hint = error.hint.clone().unwrap_or_default();
                    let abandon = abandon_command(self.key);
                    error.hint(format!(
                        "{hint}; if the service always returns that booking, give up this attempt: {abandon}"
                    ))
                }
            };
            return Err(self.described(error, status));
        }
        self.context.situation.replace(Situation::known(&booking));
        self.keep(run, &booking, status, known);
        Ok(Made {
            booking,
            // An attempt that was open may have made it itself, a moment ago.
            earlier: status == 200 && !may_have_booked,
        })
    }

    /// Ends the run with its booking. A booking is never lost for a journal that cannot note it.
    fn keep(&self, run: &RunId, booking: &Booking, status: u16, known: Option<String>) {
        let out = &self.context.out;
        let id = booking.id();
        let noted = self.context.journal().and_then(|mut journal| {
            journal.book(run, booking, status)?;
            journal.other_attempt_of(id, self.key)
        });
        match noted {
            Ok(Some(other)) => out.warn(&format!(
                "the service returned booking {id}, which also belongs to idempotency key {other}: check whether both are booked"
            )),
            Ok(None) => {}
            Err(error) => out.warn(&format!(
                "the booking was made, but could not be saved in the journal: {}",
                error.message
            )),
        }
        // The service forgot the first one, as a sandbox does that was reset, or the API key is another organization's.
        if let Some(known) = known.filter(|known| known != id) {
            out.warn(&format!(
                "this idempotency key made booking {known} before, and {id} now: both may exist"
            ));
        }
    }

    /// The id of the booking that an earlier run of this attempt made.
    fn known_booking(&self) -> Option<String> {
        let attempt = self.context.journal().and_then(|it| it.attempt(self.key));
        attempt.ok().flatten()?.booking_id
    }

    /// The error of a run that leaves the attempt open: it says so, whatever the last try was told, and names what
    /// settles it.
    fn may_have_booked(&self, mut error: Error) -> Error {
        // An interrupt says by itself what is on its way.
        if error.code == Code::Interrupted {
            return error;
        }
        if error.exit != Exit::RateLimited && error.exit != Exit::OutcomeUnknown {
            error.message = format!("the outcome is unknown: {}", error.message);
            error.code = Code::OutcomeUnknown.into();
            error.exit = Exit::OutcomeUnknown;
        }
        error.hint = Some(format!(
            "a booking may exist; to find out: {}",
            resume_command(self.key)
        ));
        error.idempotency_key(self.key)
    }

    fn described(&self, mut error: Error, status: u16) -> Error {
        error.http_status = Some(status);
        error.request = Some(self.call.name());
        error
    }
}

/// The service knows the key for another booking than was asked for.
pub(super) fn another_booking(booking: &Booking, difference: &str, key: &str) -> Error {
    let id = booking.id();
    let mut error = Error::new(Code::AnotherBooking,
        format!(
            "nothing new was booked: this idempotency key belongs to booking {id}, in which {difference}"
        ),
    )
    .hint(format!(
        "use a new idempotency key; to see the other booking: {}; to give up this attempt: {}",
        show_command(id),
        abandon_command(key)
    ))
    .idempotency_key(key);
    error.body = Some(booking.document().clone());
    error
}

/// The service says that it made a booking now, and shows another one than was asked for.
fn misdirected(booking: &Booking, difference: &str) -> Error {
    let mut error = Error::new(
        Code::OutcomeUnknown,
        format!(
            "the outcome is unknown: the service returned booking {}, in which {difference}",
            booking.id()
        ),
    );
    error.body = Some(booking.document().clone());
    error
}
