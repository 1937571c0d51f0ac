//! The venue search, from what its refusals name.

use super::paths::jq_path;
use super::time_form::Time;
use super::{Certainty, Finding};
use crate::adapter::Dialect;

/// The venue search as far as it is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct SearchRequest {
    /// The form of the time where it is not the contract's.
    pub(crate) form: Option<Time>,
    /// Whether the service refuses the party size.
    pub(crate) without_party: bool,
    /// The dialect's name for the providers. An expression has to say it as well, because it writes the whole request.
    providers: String,
}

impl SearchRequest {
    /// A request that is not known to differ from the dialect's.
    pub(crate) fn of(dialect: &Dialect) -> Self {
        SearchRequest {
            providers: dialect.providers_field.clone(),
            ..SearchRequest::default()
        }
    }

    /// A request that the service took with its time in this form.
    pub(super) fn recorded(form: Time) -> Self {
        SearchRequest {
            form: Some(form),
            ..SearchRequest::default()
        }
    }

    /// The expression that writes the request, where it differs from the contract's.
    pub(crate) fn finding(&self) -> Option<Finding> {
        let mut steps = Vec::new();
        let mut why = Vec::new();
        if self.without_party {
            steps.push("del(.party_size)".to_owned());
            why.push("refuses `party_size`".to_owned());
        }
        if let Some(form) = self.form {
            steps.push(format!(".datetime = {}", form.expression()));
            why.push(format!("wants {}", form.says()));
        }
        if steps.is_empty() {
            return None;
        }
        if !["", "providers"].contains(&self.providers.as_str()) {
            let path: Vec<String> = self.providers.split('.').map(str::to_owned).collect();
            steps.push(format!(
                "if .providers then .providers as $p | del(.providers) | {} = $p else . end",
                jq_path(&path)
            ));
        }
        let why = format!("the venue search {}", why.join(" and "));
        let expression = steps.join(" | ");
        Some(Finding::new(
            Certainty::Certain,
            "write.search",
            expression,
            why,
        ))
    }
}
