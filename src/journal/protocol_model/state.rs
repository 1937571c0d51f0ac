//! A state of the model: processes, journals, the service, and messages under way.

use crate::journal::runs::{Evidence, Outcome};

pub(super) const KEYS: usize = 2;
pub(super) const MACHINES: usize = 2;
pub(super) const ORGANIZATIONS: usize = 2;

/// An account, as the journal distinguishes API keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Account {
    One,
    /// A second API key of the first organization, as after a change of keys.
    OneRenewed,
    Two,
}

impl Account {
    /// The index of the account's organization in [`World::service`].
    pub(super) fn organization(self) -> usize {
        match self {
            Account::One | Account::OneRenewed => 0,
            Account::Two => 1,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Account::One => "one",
            Account::OneRenewed => "one, renewed",
            Account::Two => "two",
        }
    }
}

/// The content of a booking request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Request {
    Ada,
    Eve,
}

/// A booking as an answer shows it. Its key is that of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shown {
    Booking {
        organization: usize,
        request: Request,
    },
    /// The answer to another request.
    Strangers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Run {
    pub(super) outcome: Outcome,
    pub(super) abandoned: bool,
    pub(super) account: Option<Account>,
}

impl Run {
    pub(super) fn evidence(&self) -> Evidence<'static> {
        Evidence {
            outcome: self.outcome,
            abandoned: self.abandoned,
            account: self.account.map(Account::name),
        }
    }
}

/// A row of `attempts` with its rows of `runs`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Attempt {
    /// Its hash stays in the journal when the guest is deleted.
    pub(super) request: Request,
    /// Whether the request still has its guest.
    pub(super) is_whole: bool,
    /// The account of the run that began last.
    pub(super) account: Account,
    pub(super) booking: Option<Shown>,
    pub(super) runs: Vec<Run>,
}

/// The journal of one machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Journal {
    pub(super) attempts: [Option<Attempt>; KEYS],
    /// How often `recover` has replaced the file.
    pub(super) generation: u8,
}

/// The result of the last try of a run, as the rule judges it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Verdict {
    /// Nothing left the machine.
    NotSent,
    /// Nothing that proves what the service did.
    Nothing,
    Refused,
    /// Refused because of a rate limit. The process may wait and begin a new run.
    Limited,
    Booked(Shown),
    /// A booking that was not asked for. `is_new` is whether the service says that it made it just now (201).
    Another {
        is_new: bool,
    },
}

/// What a command reports when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Report {
    /// Exit 0: the booking that was asked for.
    Success,
    /// A refusal: no booking exists.
    NothingBooked,
    /// Exit 16, or another one that says the same.
    Unknown,
    /// Exit 7, `another_booking`.
    Another,
    /// Nothing was sent, because the journal does not permit it.
    NotAllowed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    NotStarted,
    /// It begins a run next, and has the whole request.
    Ready,
    /// The request is under way, and the process waits for its answer.
    Sent,
    Told(Verdict),
    Done(Report),
    Dead,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub(super) phase: Phase,
    /// The present key; a batch has several.
    pub(super) key: usize,
    pub(super) request: Request,
    /// The index of its run in the attempt.
    pub(super) run: usize,
    pub(super) tries: u8,
    /// Whether an earlier try of this run may have booked.
    pub(super) in_doubt: bool,
    /// Whether an earlier run may have booked.
    pub(super) follows_doubt: bool,
    /// How often it may still wait for a rate limit.
    pub(super) waits: u8,
    /// Which generation of the journal's file it has open.
    pub(super) generation: u8,
}

/// A booking at the service. An organization has at most one per key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Booking {
    pub(super) request: Request,
    /// The set of machines, as bits, from which this request has arrived.
    pub(super) asked_by: u8,
}

/// A booking request under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Message {
    pub(super) machine: usize,
    pub(super) organization: usize,
    pub(super) key: usize,
    pub(super) request: Request,
}

impl Message {
    fn bit(self) -> u16 {
        let place = (self.machine * ORGANIZATIONS + self.organization) * KEYS + self.key;
        1 << (place * 2 + usize::from(self.request == Request::Eve))
    }
}

/// Messages whose sender has given up. Each may still arrive, or never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Late(u16);

impl Late {
    fn add(&mut self, message: Message) {
        self.0 |= message.bit();
    }

    fn remove(&mut self, message: Message) {
        self.0 &= !message.bit();
    }

    pub(super) fn all(self) -> impl Iterator<Item = Message> {
        let each =
            (0..MACHINES * ORGANIZATIONS * KEYS * 2).filter(move |bit| self.0 & 1 << bit != 0);
        each.map(|bit| Message {
            machine: bit / 2 / KEYS / ORGANIZATIONS,
            organization: bit / 2 / KEYS % ORGANIZATIONS,
            key: bit / 2 % KEYS,
            request: if bit % 2 == 0 {
                Request::Ada
            } else {
                Request::Eve
            },
        })
    }
}

/// How often each event may still happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Left {
    pub(super) kills: u8,
    pub(super) abandons: u8,
    pub(super) forgets: u8,
    pub(super) recovers: u8,
}

/// What was reported or recorded falsely. All of it stays false if the protocol is right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Lies {
    pub(super) success: bool,
    pub(super) nothing_booked: bool,
    pub(super) earlier: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) processes: Vec<Process>,
    pub(super) journals: [Journal; MACHINES],
    /// The copy of machine 0's journal that a `recover` has made which does not keep writers out.
    pub(super) copy: Option<Box<Journal>>,
    /// By organization and key. A key never expires (spec, Limits 7).
    pub(super) service: [[Option<Booking>; KEYS]; ORGANIZATIONS],
    pub(super) late: Late,
    pub(super) left: Left,
    pub(super) lies: Lies,
}

impl World {
    pub(super) fn attempt(&self, machine: usize, key: usize) -> Option<&Attempt> {
        self.journals[machine].attempts[key].as_ref()
    }

    /// The sender gives up this request. A request that can change nothing is dropped, so that equal states stay
    /// equal.
    pub(super) fn give_up(&mut self, message: Message) {
        let there = self.service[message.organization][message.key];
        let changes_nothing = there.is_some_and(|booking| {
            booking.request != message.request || booking.asked_by & 1 << message.machine != 0
        });
        if !changes_nothing {
            self.late.add(message);
        }
    }

    /// A booking request arrives. The service books unless the key has a booking. Returns the booking, and whether it
    /// is new.
    pub(super) fn arrive(&mut self, message: Message) -> (Booking, bool) {
        self.late.remove(message);
        let machine = 1 << message.machine;
        let place = &mut self.service[message.organization][message.key];
        let is_new = place.is_none();
        let booking = place.get_or_insert(Booking {
            request: message.request,
            asked_by: 0,
        });
        if booking.request == message.request {
            booking.asked_by |= machine;
        }
        (*booking, is_new)
    }
}
