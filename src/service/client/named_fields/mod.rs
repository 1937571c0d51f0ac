//! Which fields a refusal names, in whatever form, and which settings of a profile gave them.

use serde_json::{Map, Value};

use super::call::Call;
use super::refusal::{self, Refusal};
use crate::json::plain;
use crate::service::mapping::{WriteKind, is_one_of, scalars};
use crate::service::time::text::human;

/// Members of a refusal that name fields: as texts, in lists, as the names of an object, or in objects about one each.
const NAMING: &str = "missing fields errors invalid details problems by_field violations validation_errors \
    invalid_params field_errors";

/// Members of an object about one field that name it.
const ONE: &str = "field name param parameter pointer path property";

/// What is said of a field that the service does not know.
const UNKNOWN: &str =
    "additional,not allowed,not expected,not permitted,unexpected,unknown,unrecogni,unsupported";

/// Further words of a sentence about the name of a field, not about its value.
const ABOUT_NAMES: &str =
    "accepted,allowed,expected,extra,field,missing,parameter,property,required";

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// With dots between the names of nested objects.
    pub(crate) name: String,
    pub(crate) why: String,
}

impl Named {
    /// A field, if this can be the name of one.
    fn new(name: &str, why: String) -> Option<Self> {
        let name = name.trim_start_matches('#').trim_start_matches('/');
        let name = name.replace('/', ".");
        let is_name = !name.is_empty() && name.len() < 80 && !name.contains(char::is_whitespace);
        is_name.then_some(Named { name, why })
    }

    /// `partySize is required`, or a name alone.
    fn of_sentence(text: &str) -> Option<Self> {
        let Some((name, why)) = text.trim().split_once(' ') else {
            return Named::new(text.trim(), String::new());
        };
        let says = "is required,is missing,is unknown,is not ,must ";
        let is_said = says.split(',').any(|says| why.starts_with(says));
        let name = name.trim_matches(['`', '"', '\'', ':']);
        Named::new(name, why.to_owned()).filter(|_| is_said)
    }

    /// Whether this is the field that was sent as `path`, as far as the ends of both say.
    fn is(&self, path: &str) -> bool {
        let (name, path) = (format!(".{}", self.name), format!(".{path}"));
        name.ends_with(&path) || path.ends_with(&name)
    }

    /// Whether it is said to be missing or unknown, and not to have a wrong value.
    fn is_about_the_name(&self) -> bool {
        self.why.is_empty() || is_about_names(&self.why)
    }

    pub(crate) fn is_unknown(&self) -> bool {
        has_one_of(UNKNOWN, &self.why)
    }
}

fn is_about_names(text: &str) -> bool {
    has_one_of(UNKNOWN, text) || has_one_of(ABOUT_NAMES, text)
}

fn has_one_of(words: &str, text: &str) -> bool {
    let text = text.to_lowercase();
    words.split(',').any(|word| text.contains(word))
}

/// The fields that the body of a refusal names, once each. Its sentence is read where nothing else names one.
pub(crate) fn named(body: &Value) -> Vec<Named> {
    let mut found = Vec::new();
    in_document(body, &mut found);
    if found.is_empty() {
        let parts = sentences(body).flat_map(|text| text.split([':', ';', ',']));
        let parts = parts.filter(|part| part.trim().contains(' '));
        found.extend(parts.filter_map(Named::of_sentence));
    }
    let mut once: Vec<Named> = Vec::new();
    for named in found {
        if !once.iter().any(|other| other.name == named.name) {
            once.push(named);
        }
    }
    once
}

fn sentences(body: &Value) -> impl Iterator<Item = &str> {
    refusal::texts(body, &["error", "message", "detail", "title"])
}

fn in_document(body: &Value, found: &mut Vec<Named>) {
    for (key, value) in body.as_object().into_iter().flatten() {
        if is_one_of(NAMING, key) {
            collect(value, found, 0);
        } else if matches!(key.as_str(), "error" | "detail") && value.is_object() {
            in_document(value, found);
        } else if let ("field" | "param" | "parameter", Some(name)) = (key.as_str(), value.as_str())
        {
            let text = |it| body.get(it)?.as_str();
            let why = ["detail", "message"].into_iter().find_map(text);
            found.extend(Named::new(name, why.unwrap_or_default().to_owned()));
        }
    }
}

fn collect(value: &Value, found: &mut Vec<Named>, depth: usize) {
    match value {
        Value::String(text) => found.extend(Named::of_sentence(text)),
        Value::Array(elements) if depth < 4 => {
            for element in elements {
                match element {
                    // In a list, an object without a field is about something else.
                    Value::Object(object) => found.extend(one_field(object)),
                    element => collect(element, found, depth + 1),
                }
            }
        }
        Value::Object(object) => {
            if let Some(named) = one_field(object) {
                found.push(named);
                return;
            }
            for (name, why) in object {
                if why.is_object() && is_one_of(NAMING, name) && depth < 4 {
                    collect(why, found, depth + 1);
                } else {
                    found.extend(Named::new(name, texts(why)));
                }
            }
        }
        _ => {}
    }
}

fn one_field(object: &Map<String, Value>) -> Option<Named> {
    let name_in = |object: &Map<String, Value>| {
        ONE.split(' ').find_map(|key| match object.get(key)? {
            Value::String(name) => Some(name.clone()),
            Value::Array(path) => Some(path.iter().map(plain).collect::<Vec<_>>().join(".")),
            _ => None,
        })
    };
    let name = name_in(object).or_else(|| name_in(object.get("source")?.as_object()?))?;
    let is_other = |key: &str| !ONE.split(' ').any(|it| it == key) && key != "source";
    let others = object.iter().filter(|(key, _)| is_other(key));
    let why: Vec<String> = others.map(|(_, value)| texts(value)).collect();
    Named::new(&name, why.join(" "))
}

fn texts(value: &Value) -> String {
    let texts = scalars(value).into_iter().map(|(_, text)| text);
    texts.collect::<Vec<_>>().join(" ")
}

/// What to do about a refusal (400 or 422) that a name can have caused: the settings that change the name, or how to add
/// a field that was not sent.
pub(crate) fn name_hint(refusal: &Refusal, call: &Call) -> Option<String> {
    let is_of_input = matches!(refusal.status, 400 | 422);
    let written = call.written.as_ref().filter(|_| is_of_input)?;
    let body = refusal.said().value();
    let named = named(body);
    let command = written.command.trim_end();
    let (names, settings): (Vec<String>, Vec<String>) = written
        .keys
        .iter()
        .filter(|(path, _)| !written.has_expression && is_meant(path, &named, body))
        .map(|(path, key)| (format!("`{path}`"), format!("dialect.{key}=NAME")))
        .unzip();
    if !names.is_empty() {
        return Some(format!(
            "if the service names {} otherwise: {command} {}",
            names.join(", "),
            settings.join(" ")
        ));
    }
    let is_unsent = |field: &&Named| {
        let pointer = format!("/{}", field.name.replace('.', "/"));
        let sent = call.body.as_ref().and_then(|body| body.pointer(&pointer));
        sent.is_none() && flag_of(&field.name).is_none()
    };
    let name = &named.iter().find(is_unsent)?.name;
    let by_flag = match written.kind {
        WriteKind::Search | WriteKind::Slots | WriteKind::Create | WriteKind::Action => {
            format!("`-F {name}=VALUE`, or always with ")
        }
        _ => String::new(),
    };
    Some(format!(
        "bookctl did not send `{name}`: add it with {by_flag}`{command} write.{}=EXPRESSION`",
        written.kind.as_str()
    ))
}

/// Whether a refusal is about the name of the field that was sent as `path`: it names the field so, or one of its sentences
/// about names has the word.
fn is_meant(path: &str, named: &[Named], body: &Value) -> bool {
    if named.iter().any(|it| it.is(path) && it.is_about_the_name()) {
        return true;
    }
    let path = path.to_lowercase();
    let last = path.rsplit('.').next();
    let is_sign = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.');
    sentences(body).filter(|it| is_about_names(it)).any(|text| {
        let text = text.to_lowercase();
        let mut words = text.split(is_sign).map(|word| word.trim_matches('.'));
        words.any(|word| word == path || Some(word) == last)
    })
}

fn flag_of(field: &str) -> Option<&'static str> {
    Some(match field {
        "datetime" => "--at",
        "party_size" => "--party",
        "customer.name" => "--name",
        "customer.email" => "--email",
        "customer.phone" | "phone" => "--phone",
        "availability_id" => "--slot",
        "location" => "--near",
        "provider" => "--provider",
        "end_user" => "--end-user",
        _ => return None,
    })
}

/// Which values to correct, if the refusal names fields that have flags: `check the value of --party`.
pub(crate) fn values_to_correct(refusal: &Refusal) -> Option<String> {
    let fields = named(refusal.said().value());
    let of = |field: &Named| flag_of(&field.name).filter(|_| !field.why.is_empty());
    let flags: Vec<&str> = fields.iter().map(of).collect::<Option<_>>()?;
    let values = if flags.len() == 1 { "value" } else { "values" };
    let time = refusal.other_time.filter(|_| flags.contains(&"--at"));
    let time = time.map_or(String::new(), |time| {
        let time = human(&time.strftime("%FT%TZ").to_string());
        format!("; by the service's clock it is {time}")
    });
    (!flags.is_empty()).then(|| format!("check the {values} of {}{time}", flags.join(", ")))
}

#[cfg(test)]
mod tests;
