use serde::Serialize;

use super::change::known;
use crate::app::Startup;
use crate::outcome::{Exit, Result};
use crate::platform::shell;
use crate::service::mapping::set_command;
use crate::terminal::output::{Draw, Page};

/// Print expressions for a style of service, to copy and edit
///
/// Prints one command for each kind of document and writes nothing. bookctl reads most services of these styles without
/// them: choose the lines for what it does not read, and change the names in them.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  bookctl profile template live jsonapi")]
pub(crate) struct Args {
    /// Profile
    name: String,
    /// Style of the service's documents
    #[arg(value_enum)]
    style: Style,
}

#[derive(Clone, Copy, Debug, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
enum Style {
    Jsonapi,
    Hal,
    Envelope,
}

const JSON_API: &[&str] = &[
    "read.index=.data.attributes",
    "read.venues={venues: [.data[] | {venue_id: .id} + .attributes]}",
    "read.slots=(.included // []) as $all | {slots: [.data[] | {availability_id: .id} + .attributes + ((.relationships // {}) \
     | map_values(.data as $to | [$all[] | select(.type == $to.type and .id == $to.id)][0].attributes))]}",
    "read.booking=.data | {id} + .attributes",
    "read.session=.data | {id} + .attributes",
    "read.sessions={sessions: [.data[] | {id} + .attributes]}",
    "read.card=.data.attributes",
    "read.error=. + {error: (.error // .errors[0].title), error_code: (.error_code // .errors[0].code)}",
    "write.search={data: {type: \"searches\", attributes: .}}",
    "write.slots={data: {type: \"searches\", attributes: .}}",
    "write.create={data: {type: \"bookings\", attributes: .}}",
    "write.otp={data: {type: \"answers\", attributes: .}}",
    "write.modify={data: {type: \"bookings\", attributes: .}}",
    "write.connect={data: {type: \"sessions\", attributes: .}}",
    "write.verify={data: {type: \"sessions\", attributes: .}}",
];

const HAL: &[&str] = &[
    "read.index=del(._links)",
    "read.venues={venues: [._embedded.venues[] | del(._links, ._embedded) + (._embedded // {})]}",
    "read.slots={slots: [._embedded.slots[] | del(._links, ._embedded) + (._embedded // {})]}",
    "read.booking=del(._links, ._embedded) + (._embedded // {})",
    "read.session=del(._links)",
    "read.sessions={sessions: [._embedded.sessions[] | del(._links)]}",
    "read.error=. + {error: (.error // .title // .message)}",
];

const ENVELOPE: &[&str] = &[
    "read.index=.data",
    "read.venues={venues: .data.results}",
    "read.slots={slots: [.data.days[][]]}",
    "read.booking=.data.booking",
    "read.session=.data.session",
    "read.sessions={sessions: .data.results}",
    "read.card=.data",
    "read.error=. + {error: (.error.message? // .error), error_code: (.error.code? // .error_code)}",
    "read.event=. + {type: .event, data: {object: .data.booking}}",
];

impl Style {
    fn settings(self) -> &'static [&'static str] {
        match self {
            Style::Jsonapi => JSON_API,
            Style::Hal => HAL,
            Style::Envelope => ENVELOPE,
        }
    }
}

#[derive(Serialize)]
struct Template {
    profile: String,
    style: Style,
    settings: &'static [&'static str],
}

impl Draw for Template {
    fn draw(&self, page: &mut Page) {
        for setting in self.settings {
            page.command(set_command(Some(&self.profile), &shell::word(setting)));
        }
    }
}

pub(crate) fn run(setup: &Startup, args: Args) -> Result<Exit> {
    known(setup, &args.name)?;
    setup.emit(&Template { settings: args.style.settings(), profile: args.name, style: args.style })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::mapping::Adapter;
    use serde_json::json;

    #[test]
    fn each_style_of_document_is_read_with_its_expressions() {
        let slot = json!({"availability_id": "a", "datetime": "2026-12-01T19:30:00Z"});
        let booking = json!({"id": "b", "status": "confirmed"});
        for (style, slots, booking) in [
            (
                Style::Jsonapi,
                json!({
                    "data": [{"type": "slots", "id": "a", "attributes": {"datetime": "2026-12-01T19:30:00Z"},
                              "relationships": {"card_terms": {"data": {"type": "t", "id": 1}}}}],
                    "included": [{"type": "t", "id": 1, "attributes": {"text": "x"}}],
                }),
                json!({"data": {"id": "b", "attributes": {"status": "confirmed"}}}),
            ),
            (
                Style::Hal,
                json!({"_embedded": {"slots": [{"availability_id": "a", "datetime": "2026-12-01T19:30:00Z", "_links": {},
                                                "_embedded": {"card_terms": {"text": "x"}}}]}}),
                json!({"_links": {}, "id": "b", "status": "confirmed"}),
            ),
            (
                Style::Envelope,
                json!({"data": {"days": {"2026-12-01": [{"availability_id": "a", "datetime": "2026-12-01T19:30:00Z",
                                                         "card_terms": {"text": "x"}}]}}}),
                json!({"data": {"booking": booking}}),
            ),
        ] {
            let mut adapter = Adapter::default();
            for setting in style.settings() {
                let (key, value) = setting.split_once('=').unwrap();
                assert_eq!(adapter.set(key, value), Ok(()), "{setting}");
            }
            let mut wanted = slot.clone();
            wanted["card_terms"] = json!({"text": "x"});
            let read = adapter.slots(&slots.into()).unwrap().item.items;
            assert_eq!(read[0].value, wanted, "{style:?}");
            let read = adapter.booking(booking.into(), false).unwrap().item;
            assert_eq!((read.id(), read.status().as_str()), ("b", "confirmed"));
        }
    }
}
