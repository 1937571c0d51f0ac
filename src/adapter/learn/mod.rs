//! What a service's own documents say about its names: pure, nothing here sends anything.

mod answers;
mod events;
mod fields;
mod meaning;
mod paths;
mod recorded;
mod refused;
mod requests;
mod schema;
mod search_request;
mod slots_request;
mod small;
mod terms;
mod time_form;
mod words;
mod written;

pub(crate) use events::{Delivery, of_delivery};
pub(crate) use fields::{of_documents, unnamed};
pub(crate) use recorded::{Recorded, of_har};
pub(crate) use refused::{header_names, named_in, parameter_names};
pub(crate) use requests::of_request;
pub(crate) use schema::of_openapi;
pub(crate) use search_request::SearchRequest;
pub(crate) use slots_request::SlotsRequest;
pub(crate) use time_form::Time;

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Certainty {
    /// The service has said or shown it.
    Certain,
    /// A name that other services use for it, with a value that fits.
    Likely,
    /// Only a person knows.
    ToBeAsked,
    /// It cannot be learned by reading, or not be said in a profile.
    Open,
}

impl Certainty {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Certainty::Certain => "certain",
            Certainty::Likely => "likely",
            Certainty::ToBeAsked => "to be asked",
            Certainty::Open => "open",
        }
    }
}

/// Something that was found out, and the setting that would say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) certainty: Certainty,
    /// The setting's key, such as `read.venues`; empty where no setting says it.
    pub(crate) key: String,
    /// The setting's value; empty where a person has to give it. Where no setting says it, the shape of what came.
    pub(crate) value: String,
    /// What was seen, as a sentence. It holds names, never values.
    pub(crate) why: String,
}

impl Finding {
    pub(crate) fn new(
        certainty: Certainty,
        key: impl Into<String>,
        value: impl Into<String>,
        why: impl Into<String>,
    ) -> Self {
        Finding {
            certainty,
            key: key.into(),
            value: value.into(),
            why: why.into(),
        }
    }

    /// Whether it is written after a yes.
    pub(crate) fn is_sure(&self) -> bool {
        self.certainty <= Certainty::Likely && !self.key.is_empty()
    }
}
