//! A state of the model: processes, journals, the service, and messages under way.

use crate::journal::judgement::KeyOrigin;
use crate::journal::protocol;
use crate::journal::runs::{self, Earlier};
use crate::journal::wish::ComparableRequest;

pub(super) const KEYS: usize = 2;
pub(super) const MACHINES: usize = 2;
pub(super) const ORGANIZATIONS: usize = 2;

/// What the program keeps as texts: keys, tokens, fingerprints, ids, times.
pub(super) type Text = u8;
/// The booking of another guest, which no request of the model made.
pub(super) const STRANGERS: Text = 100;
/// What a document calls its id that is no booking.
pub(super) const NO_BOOKING: Text = 101;

/// The token of a run that stands for those that could not be read.
pub(super) const RECOVERED: Text = 99;

pub(super) type Run = runs::Run<Text>;
pub(super) type Attempt = protocol::Attempt<Text, Request>;

/// An API key.
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
}

/// The content of a booking request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Request {
    Ada,
    Eve,
}

impl ComparableRequest for Request {
    fn is_same_request(&self, other: &Self) -> bool {
        self == other
    }

    fn is_same_booking(&self, other: &Self) -> bool {
        self == other
    }
}

/// The journal of one machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Journal {
    pub(super) attempts: [Option<Attempt>; KEYS],
    /// How often `recover` has replaced the file.
    pub(super) generation: u8,
}

/// A response that a process gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Answer {
    /// A 200 or 201 with a booking.
    Booking {
        id: Text,
        /// What it is for.
        request: Request,
        is_200: bool,
        /// Whether it says that it was made before the run began.
        is_older: bool,
        /// Whether it says that it was modified since.
        says_modified: bool,
    },
    /// A 200 with an id and a status, and nothing else of a booking.
    Document,
    /// One of the service's documents with a 4xx. `shows_it` is whether it carries the booking that
    /// was asked for, or says that the request is in progress.
    Refusal { shows_it: bool },
    /// 429. The process may wait and begin a new run.
    Limit,
    /// A 4xx without one of the service's documents.
    Page,
    /// No answer, a part of one, or a 5xx.
    None,
    /// Nothing left the machine.
    NotSent,
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
    /// Exit 16, and nothing was sent: an open attempt may have made the booking.
    AskedBefore,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    NotStarted,
    /// It begins a run next, and has the whole request.
    Ready,
    /// The request is under way, and the process waits for its answer.
    Sent,
    Told(Answer),
    Done(Report),
    Dead,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub(super) phase: Phase,
    /// The present key; a batch has several.
    pub(super) key: usize,
    pub(super) origin: KeyOrigin,
    pub(super) request: Request,
    /// The token of its run, or of its last one.
    pub(super) token: Text,
    pub(super) tries: u8,
    /// Whether an earlier try of this run may have booked.
    pub(super) in_doubt: bool,
    /// What earlier runs leave possible.
    pub(super) earlier: Earlier,
    /// The booking that an earlier run was answered with.
    pub(super) known_booking: Option<Text>,
    /// The keys that had a booking when the run began, as bits.
    pub(super) older: u8,
    /// The journals that know its run, as bits.
    pub(super) journals: u8,
    /// How often it may still wait for a rate limit.
    pub(super) waits: u8,
    /// Which generation of the journal's file it has open.
    pub(super) generation: u8,
}

/// A booking at the service. An organization has at most one per key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Booking {
    pub(super) request: Request,
    /// The journals, as bits, that know a run whose request has arrived, and asked for this.
    pub(super) asked_by: u8,
}

/// The id of the booking that an organization has under a key.
pub(super) fn id_of(organization: usize, key: usize) -> Text {
    (1 + organization * KEYS + key) as Text
}

/// A booking request under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Message {
    /// The journals that know its run, as bits.
    pub(super) journals: u8,
    pub(super) organization: usize,
    pub(super) key: usize,
    pub(super) request: Request,
}

impl Message {
    fn bit(self) -> u32 {
        let place = (usize::from(self.journals) * ORGANIZATIONS + self.organization) * KEYS;
        1 << ((place + self.key) * 2 + usize::from(self.request == Request::Eve))
    }
}

/// Messages whose sender has given up. Each may still arrive, or never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Late(u32);

impl Late {
    pub(super) fn add(&mut self, message: Message) {
        self.0 |= message.bit();
    }

    pub(super) fn remove(&mut self, message: Message) {
        self.0 &= !message.bit();
    }

    pub(super) fn all(self) -> impl Iterator<Item = Message> {
        let each = (0..32_usize).filter(move |bit| self.0 & 1 << bit != 0);
        each.map(|bit| Message {
            journals: (bit / 2 / KEYS / ORGANIZATIONS) as u8,
            organization: bit / 2 / KEYS % ORGANIZATIONS,
            key: bit / 2 % KEYS,
            request: match bit % 2 {
                0 => Request::Ada,
                _ => Request::Eve,
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
    pub(super) copies: u8,
}

/// What was reported, recorded or done, but is not true: all false if the protocol is right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Lies {
    pub(super) success: bool,
    pub(super) nothing_booked: bool,
    pub(super) another: bool,
    pub(super) earlier: bool,
    /// A wish was sent again while an earlier request for it was in doubt.
    pub(super) second: bool,
    /// A copy opened what a person had given up.
    pub(super) given_up: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) processes: Vec<Process>,
    pub(super) journals: [Journal; MACHINES],
    /// What a `recover` of machine 0's journal that does not keep writers out has read.
    pub(super) read: Option<Box<Journal>>,
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

    /// The sender gives up this request. A request that can change nothing is dropped, so that
    /// equal states stay equal.
    pub(super) fn give_up(&mut self, message: Message) {
        let there = self.service[message.organization][message.key];
        let changes_nothing = there.is_some_and(|booking| {
            booking.request != message.request
                || booking.asked_by & message.journals == message.journals
        });
        if !changes_nothing {
            self.late.add(message);
        }
    }

    /// A booking request arrives. The service books unless the key has a booking. Returns the
    /// booking, and whether it is new.
    pub(super) fn arrive(&mut self, message: Message) -> (Booking, bool) {
        self.late.remove(message);
        let place = &mut self.service[message.organization][message.key];
        let is_new = place.is_none();
        let booking = place.get_or_insert(Booking { request: message.request, asked_by: 0 });
        if booking.request == message.request {
            booking.asked_by |= message.journals;
        }
        (*booking, is_new)
    }

    /// The journal of machine 1 knows from now on what that of machine 0 knows of a key.
    pub(super) fn tell(&mut self, key: usize) {
        let tell = |journals: &mut u8| *journals |= (*journals & 1) << 1;
        let late: Vec<_> = self.late.all().filter(|it| it.key == key).collect();
        for mut message in late {
            self.late.remove(message);
            tell(&mut message.journals);
            self.late.add(message);
        }
        let of_key = self.processes.iter_mut().filter(|it| it.key == key);
        of_key.for_each(|it| tell(&mut it.journals));
        let bookings = self.service.iter_mut().filter_map(|of| of[key].as_mut());
        bookings.for_each(|it| tell(&mut it.asked_by));
    }
}
