//! Lists in pages, with the way to the next one in the body or in a `Link` header.

use serde_json::{Value, json};

use super::kind::AnswerKind;
use super::speech::{Paging, Speech};

/// The page that a request asks for: what stood under `cursor` and `page`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PageQuery {
    pub(crate) cursor: Option<String>,
    pub(crate) page: Option<String>,
}

/// Which elements of a list are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    first: usize,
}

/// What a cursor begins with. The rest says where the page begins.
const CURSOR: &str = "after_";

impl Speech {
    /// The page that is asked for. The error names the field and says what it must be.
    pub(crate) fn page(&self, query: &PageQuery) -> Result<Page, (&'static str, &'static str)> {
        let first = match self.paging {
            Paging::None => Some(0),
            Paging::Cursor => match &query.cursor {
                None => Some(0),
                Some(cursor) => {
                    let first = cursor.strip_prefix(CURSOR).and_then(|it| it.parse().ok());
                    return first
                        .map(|first| Page { first })
                        .ok_or(("cursor", "must be a cursor of an earlier answer"));
                }
            },
            Paging::Link => match &query.page {
                None => Some(0),
                Some(page) => page
                    .parse::<usize>()
                    .ok()
                    .and_then(|page| page.checked_sub(1)?.checked_mul(self.page_size)),
            },
        };
        first
            .map(|first| Page { first })
            .ok_or(("page", "must be the number of a page"))
    }

    /// Leaves one page of a list in the document. Returns the number of the next page if a `Link` leads there.
    pub(super) fn leave_page(
        &self,
        document: &mut Value,
        kind: AnswerKind,
        page: Page,
    ) -> Option<usize> {
        let list = match kind {
            AnswerKind::Venues => "venues",
            AnswerKind::Sessions => "sessions",
            _ => return None,
        };
        if self.paging == Paging::None {
            return None;
        }
        let elements = document.get_mut(list)?.as_array_mut()?;
        let total = elements.len();
        let first = page.first.min(total);
        let next = first.saturating_add(self.page_size);
        elements.truncate(next);
        elements.drain(..first);
        if self.paging == Paging::Cursor {
            document["total"] = json!(total);
            document["next_cursor"] = match next < total {
                true => json!(format!("{CURSOR}{next}")),
                false => Value::Null,
            };
        }
        (self.paging == Paging::Link && next < total).then(|| next / self.page_size + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speech(paging: Paging) -> Speech {
        Speech {
            paging,
            page_size: 2,
            ..Speech::default()
        }
    }

    fn query(cursor: Option<&str>, page: Option<&str>) -> PageQuery {
        PageQuery {
            cursor: cursor.map(str::to_owned),
            page: page.map(str::to_owned),
        }
    }

    #[test]
    fn cursors_lead_through_every_element_once() {
        let speech = speech(Paging::Cursor);
        let (mut found, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let page = speech.page(&query(cursor.as_deref(), None)).unwrap();
            let mut document = json!({"venues": [1, 2, 3, 4, 5]});
            assert_eq!(
                speech.leave_page(&mut document, AnswerKind::Venues, page),
                None
            );
            assert_eq!(document["total"], 5);
            found.extend(document["venues"].as_array().unwrap().clone());
            match document["next_cursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => break,
            }
        }
        assert_eq!(found, [1, 2, 3, 4, 5]);
        for wrong in ["", "2", "after_", "after_x"] {
            assert!(speech.page(&query(Some(wrong), None)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn links_lead_through_every_element_once_and_leave_the_body_alone() {
        let speech = speech(Paging::Link);
        let (mut found, mut next) = (Vec::new(), Some(1));
        while let Some(number) = next {
            let page = speech
                .page(&query(None, Some(&number.to_string())))
                .unwrap();
            let mut document = json!({"sessions": [1, 2, 3, 4]});
            next = speech.leave_page(&mut document, AnswerKind::Sessions, page);
            found.extend(document["sessions"].as_array().unwrap().clone());
            assert_eq!(document.as_object().unwrap().len(), 1);
        }
        assert_eq!(found, [1, 2, 3, 4]);
        for wrong in ["0", "-1", "x", "99999999999999999999"] {
            assert!(speech.page(&query(None, Some(wrong))).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_list_is_whole_without_paging_and_slots_always_are() {
        let whole = json!({"venues": [1, 2, 3], "slots": [1, 2, 3]});
        let mut document = whole.clone();
        speech(Paging::None).leave_page(&mut document, AnswerKind::Venues, Page::default());
        speech(Paging::Cursor).leave_page(&mut document, AnswerKind::Slots, Page::default());
        assert_eq!(document, whole);
    }
}
