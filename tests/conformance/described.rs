//! Every answer that a test gets is what the OpenAPI documents describe.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde_json::Value;

use crate::schema::differences;

static DOCUMENTS: LazyLock<[Value; 2]> = LazyLock::new(|| {
    [include_str!("../../docs/openapi.json"), include_str!("../../docs/sandbox-openapi.json")]
        .map(|it| serde_json::from_str(it).unwrap())
});

/// An operation, and the document that describes it.
pub(crate) struct Described {
    document: &'static Value,
    operation: &'static Value,
    /// Its method and the path with parameters.
    pub(crate) name: String,
}

/// Whether each field of the controls' good answers was seen in one, by its schema and name. What
/// the service's own document has is seen by the tests of the service.
#[derive(Default)]
pub(crate) struct Fields(BTreeMap<String, bool>);

impl Fields {
    /// The answer to a call has the schema of its document.
    pub(crate) fn see(&mut self, call: &Described, body: &Value) {
        let responses = call.operation["responses"].as_object().unwrap();
        let (_, good) = responses.iter().find(|(status, _)| status.starts_with('2')).unwrap();
        self.compare(&good["content"]["application/json"]["schema"], body);
    }

    /// Those that no answer had.
    pub(crate) fn unseen(&self) -> Vec<&str> {
        let unseen = self.0.iter().filter(|(_, seen)| !**seen);
        unseen.map(|(name, _)| name.as_str()).collect()
    }

    fn compare(&mut self, schema: &Value, body: &Value) {
        let target = schema["$ref"].as_str().unwrap_or("#");
        let name = target.rsplit('/').next().unwrap_or_default();
        if DOCUMENTS[0]["components"]["schemas"].get(name).is_some() {
            return;
        }
        let schema = match target {
            "#" => schema,
            target => DOCUMENTS[1].pointer(&target[1..]).unwrap(),
        };
        for part in schema["allOf"].as_array().into_iter().flatten() {
            self.compare(part, body);
        }
        for (field, of) in schema["properties"].as_object().into_iter().flatten() {
            let value = body.get(field);
            *self.0.entry(format!("{name}.{field}")).or_default() |= value.is_some();
            if let Some(value) = value {
                self.compare(of, value);
            }
        }
        for item in body.as_array().into_iter().flatten() {
            self.compare(&schema["items"], item);
        }
    }
}

/// The schema of a name in the document of the controls.
pub(crate) fn schema(name: &str) -> &'static Value {
    &DOCUMENTS[1]["components"]["schemas"][name]
}

/// Every call of the controls.
pub(crate) fn controls() -> BTreeSet<String> {
    let paths = DOCUMENTS[1]["paths"].as_object().unwrap();
    let calls = paths.iter().flat_map(|(path, calls)| {
        let methods = calls.as_object().unwrap().keys();
        methods.map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    calls.collect()
}

/// What a document says of a call; `None` where it is no call of the service or of the sandbox.
pub(crate) fn find(method: &str, path: &str) -> Option<Described> {
    let path = path.split('?').next().unwrap_or(path);
    let fits = |template: &str| {
        let (mut parts, mut came) = (template.split('/'), path.split('/'));
        loop {
            match (parts.next(), came.next()) {
                (None, None) => return true,
                (Some(part), Some(came))
                    if part == came || part.starts_with('{') && !came.is_empty() => {}
                _ => return false,
            }
        }
    };
    DOCUMENTS.iter().find_map(|document| {
        let paths = document["paths"].as_object().unwrap().iter();
        let (template, calls) = paths
            .filter(|(template, _)| fits(template))
            // A path without parameters comes first, as in the router.
            .min_by_key(|(template, _)| template.contains('{'))?;
        let operation = calls.get(method.to_lowercase())?;
        Some(Described { document, operation, name: format!("{method} {template}") })
    })
}

impl Described {
    /// The media type of the answer with a status.
    pub(crate) fn media_type(&self, status: u16) -> &str {
        let content = &self.operation["responses"][status.to_string()]["content"];
        let mut kinds = content.as_object().unwrap().keys();
        kinds.next().unwrap()
    }

    /// What the answer has that is not described.
    pub(crate) fn differences(&self, status: u16, body: &Value) -> Vec<String> {
        let answer = &self.operation["responses"][status.to_string()];
        let answer = match answer["$ref"].as_str() {
            Some(target) => self.document.pointer(&target[1..]).unwrap(),
            None => answer,
        };
        let schema = &answer["content"]["application/json"]["schema"];
        if schema.is_null() {
            return vec![format!("the status {status} is not described")];
        }
        differences(self.document, schema, body)
    }
}

/// The names of a control's query parameters.
pub(crate) fn parameters(method: &str, path: &str) -> Vec<String> {
    let operation = &DOCUMENTS[1]["paths"][path][method.to_lowercase()];
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let in_query = parameters.filter(|it| it["in"] == "query");
    in_query.map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn control_14_every_example_is_what_its_schema_describes() {
    for document in &*DOCUMENTS {
        compare_examples(document, &document["components"]["schemas"], "");
    }
}

fn compare_examples(document: &Value, value: &Value, at: &str) {
    // A field that is named `examples` would be no list.
    for example in value["examples"].as_array().into_iter().flatten() {
        let wrong = differences(document, value, example);
        assert!(wrong.is_empty(), "{at}: {example}: {wrong:?}");
    }
    for (name, part) in value.as_object().into_iter().flatten() {
        compare_examples(document, part, &format!("{at}/{name}"));
    }
    for part in value.as_array().into_iter().flatten() {
        compare_examples(document, part, at);
    }
}
