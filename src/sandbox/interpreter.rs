//! Gives documents their spoken form: what a [`Speech`] says, with the numbers that the store keeps.

use std::collections::BTreeMap;

use serde_json::Value;

use super::speak::{AnswerKind, Page, RequestKind, Speech, Spoken};
use super::store::Store;

/// A document as the service sends it. The error says what failed, as a sentence.
pub(crate) async fn write(
    store: &Store,
    speech: &Speech,
    kind: AnswerKind,
    asked: Option<RequestKind>,
    mut document: Value,
    page: Page,
) -> Result<Spoken, String> {
    let ids = speech.ids(&mut document);
    let numbers = if ids.is_empty() {
        BTreeMap::new()
    } else {
        let wanted = ids.clone();
        let known = store.read(move |tx| Ok(tx.known_numbers(&wanted)?)).await;
        match known {
            Ok(known) if known.len() == ids.len() => known,
            _ => store
                .write(move |tx| Ok(tx.numbers(&ids)?))
                .await
                .map_err(|error| error.answer().1.to_string())?,
        }
    };
    speech.write(kind, asked, document, &numbers, page).await
}

/// An event as the service delivers it.
pub(crate) async fn event(store: &Store, speech: &Speech, body: &str) -> Result<String, String> {
    let event = serde_json::from_str(body).map_err(|error| error.to_string())?;
    let spoken = write(
        store,
        speech,
        AnswerKind::Event,
        None,
        event,
        Page::default(),
    )
    .await?;
    Ok(spoken.document.to_string())
}

/// The ids that numbers stand for.
pub(crate) async fn ids(store: &Store, numbers: Vec<i64>) -> BTreeMap<i64, String> {
    if numbers.is_empty() {
        return BTreeMap::new();
    }
    // A number that cannot be looked up is refused like one that stands for nothing.
    let found = store.read(move |tx| Ok(tx.numbered(&numbers)?)).await;
    found.unwrap_or_default()
}
