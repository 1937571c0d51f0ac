//! The kinds of requests and answers that an expression can translate.

macro_rules! kinds {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal, $meaning:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum $name {
            $(#[doc = $meaning] $variant,)*
        }

        impl $name {
            /// Every kind with its name and what it is, in the order of the documentation.
            pub(crate) const TABLE: &[(Self, &str, &str)] = &[$((Self::$variant, $text, $meaning),)*];

            /// The kind of this name.
            pub(super) fn parse(text: &str) -> Option<Self> {
                Self::TABLE.iter().find(|(_, name, _)| *name == text).map(|(kind, ..)| *kind)
            }

            /// Its name in the file.
            pub(super) fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

kinds! {
    /// A request: `[read]` translates what came into the contract's shape.
    RequestKind {
        Search = "search", "a venue search";
        Slots = "slots", "an availability search";
        Create = "create", "a booking request";
        Otp = "otp", "the answer of a booking that waits for a one-time code";
        Payment = "payment", "the answer of the payment vendor";
        Abort = "abort", "the end of a payment: a body with `psp_abort`";
        Action = "action", "the answer to any other action";
        Modify = "modify", "a change of a booking";
        Cancel = "cancel", "a cancellation";
        Connect = "connect", "a new session";
        Verify = "verify", "the code of a session";
    }
}

impl RequestKind {
    /// What a request to an endpoint says; `None` if it has no body.
    pub(crate) fn of(method: &str, path: &str) -> Option<Self> {
        Some(match (method, path) {
            ("POST", "/v1/venues/search") => Self::Search,
            ("POST", "/v1/availability/search") => Self::Slots,
            ("POST", "/v1/bookings") => Self::Create,
            // Which answer it is depends on what the booking waits for.
            ("POST", "/v1/bookings/{booking_id}/continue") => Self::Action,
            ("POST", "/v1/bookings/{booking_id}/modify") => Self::Modify,
            ("POST", "/v1/bookings/{booking_id}/cancel") => Self::Cancel,
            ("POST", "/v1/sessions") => Self::Connect,
            ("POST", "/v1/sessions/{id}/verify") => Self::Verify,
            _ => return None,
        })
    }
}

kinds! {
    /// An answer: `[write]` translates the contract's shape into what is sent.
    AnswerKind {
        Index = "index", "the answer to `GET /v1/`";
        Venues = "venues", "the answer to a venue search";
        Slots = "slots", "the answer to an availability search";
        Booking = "booking", "a booking";
        Session = "session", "a session";
        Sessions = "sessions", "the list of sessions";
        Card = "card", "the answer to a card check";
        Error = "error", "a refusal";
        Event = "event", "a webhook delivery";
    }
}
