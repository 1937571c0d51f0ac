//! The kinds of documents that an expression of a profile can translate.

macro_rules! kinds {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal, $meaning:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
        #[serde(rename_all = "lowercase")]
        pub(crate) enum $name {
            $(#[doc = $meaning] $variant,)*
        }

        impl $name {
            /// Every kind with its name and what it is, in the order of the documentation.
            pub(crate) const TABLE: &[($name, &str, &str)] =
                &[$(($name::$variant, $text, $meaning),)*];

            pub(crate) fn parse(text: &str) -> Option<Self> {
                Self::TABLE.iter().find(|(_, name, _)| *name == text).map(|(kind, ..)| *kind)
            }

            pub(crate) fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }
    };
}

kinds! {
    /// A document of the service, which `[profiles.NAME.read]` brings into our shape.
    ReadKind {
        Index = "index", "the response to `GET /v1/`";
        Venues = "venues", "the response to a venue search";
        Slots = "slots", "the response to an availability search";
        Booking = "booking", "a booking";
        Session = "session", "a session";
        Sessions = "sessions", "the list of sessions";
        Card = "card", "the response to a card check";
        Error = "error", "a refusal";
        Event = "event", "a webhook delivery";
    }
}

kinds! {
    /// A request of bookctl, which `[profiles.NAME.write]` brings out of our shape.
    WriteKind {
        Search = "search", "a venue search";
        Slots = "slots", "an availability search";
        Create = "create", "a booking request";
        Otp = "otp", "the answer with a one-time code";
        Payment = "payment", "the answer of the payment vendor";
        Abort = "abort", "the end of a payment";
        Action = "action", "the answer to any other action";
        Modify = "modify", "a change of a booking";
        Cancel = "cancel", "a cancellation";
        Connect = "connect", "a new session";
        Verify = "verify", "the code of a session";
    }
}
