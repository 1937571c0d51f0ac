//! A state of the model: the processes, the journals, the service and what is still under way between them.

use crate::journal::runs::{Evidence, Outcome};

pub(super) const KEYS: usize = 2;
pub(super) const MACHINES: usize = 2;
pub(super) const ORGANIZATIONS: usize = 2;

/// An API key as the journal tells it from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Account {
    One,
    /// A second API key of organization one, as after a change of keys.
    OneRenewed,
    Two,
}

impl Account {
    /// The place of the account's organization in [`World::service`].
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

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Request {
    Ada,
    Eve,
}

/// A booking as an answer shows it. The key is the one that the answer belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shown {
    Booking {
        organization: usize,
        request: Request,
    },
    /// The answer to somebody else's request.
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
    /// Its hash stays in the journal where the guest is forgotten.
    pub(super) request: Request,
    /// Whether the guest is still in the request.
    pub(super) is_whole: bool,
    /// The account of the last run that began.
    pub(super) account: Account,
    pub(super) booking: Option<Shown>,
    pub(super) runs: Vec<Run>,
}

/// The journal of one machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Journal {
    pub(super) attempts: [Option<Attempt>; KEYS],
    /// How often `recover` has put a new file in its place.
    pub(super) generation: u8,
}

/// What the last try of a run was told, after the rule has judged the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Verdict {
    /// Nothing left the machine.
    NotSent,
    /// Nothing that proves anything.
    Nothing,
    Refused,
    /// Refused because of the limit: the process may wait and begin a new run.
    Limited,
    Booked(Shown),
    /// A booking that was not asked for; `is_new` is whether the service says that it has just made it (201).
    Another {
        is_new: bool,
    },
}

/// What a command says as it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Report {
    /// Exit 0: the booking that was asked for.
    Success,
    /// A refusal: no booking exists.
    NothingBooked,
    /// Exit 16, or one that says as much.
    Unknown,
    /// Exit 7, `another_booking`.
    Another,
    /// Nothing was sent: the journal does not allow it.
    NotAllowed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    NotStarted,
    /// It begins a run next, with the whole request at hand.
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
    /// The key it is at: a batch has several.
    pub(super) key: usize,
    pub(super) request: Request,
    /// The place of its run among those of the attempt.
    pub(super) run: usize,
    pub(super) tries: u8,
    /// Whether an earlier try of this run left it open what the service did.
    pub(super) in_doubt: bool,
    /// Whether a run before this one may have booked.
    pub(super) follows_doubt: bool,
    /// How often it may still wait for the limit.
    pub(super) waits: u8,
    /// Which file of the journal it has open.
    pub(super) generation: u8,
}

/// A booking at the service: one for a key of an organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Booking {
    pub(super) request: Request,
    /// The machines, as bits, from which this very request has arrived here.
    pub(super) asked_by: u8,
}

/// A create on its way.
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

/// The messages whose sender has given up: each may still arrive, or never.
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

/// How often each thing may still happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Left {
    pub(super) kills: u8,
    pub(super) abandons: u8,
    pub(super) forgets: u8,
    pub(super) recovers: u8,
}

/// What was said or noted although it was not so; all of it stays false where the protocol holds.
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
    /// What a `recover` that does not keep writers out has copied from the journal of machine 0.
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

    /// Nobody waits for this create any more. One that can change nothing is not kept: it would only tell states apart
    /// that are alike.
    pub(super) fn give_up(&mut self, message: Message) {
        let there = self.service[message.organization][message.key];
        let changes_nothing = there.is_some_and(|booking| {
            booking.request != message.request || booking.asked_by & 1 << message.machine != 0
        });
        if !changes_nothing {
            self.late.add(message);
        }
    }

    /// A create arrives: the service makes the booking, unless the key has made one. Returns what it answers with, and
    /// whether that is new.
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
