//! A report as JUnit XML, which CI shows beside the tests, and as Markdown, for a pull request.

use std::fmt::Write;

use serde_json::json;

use super::{Finding, Report, Situation};

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A text within a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

const JSON: &str = "{\n  \"findings\"";
const XML: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"bookctl sandbox\">\n";
const MARKDOWN: &str = "## Sandbox report\n\n";

impl Finding {
    /// Its evidence: `req_01 POST /v1/bookings (suite 3)`, or only the id once it is gone.
    pub(crate) fn evidence(&self) -> impl Iterator<Item = String> {
        self.requests.iter().map(|id| match self.calls.get(id) {
            Some(call) => format!("{id} {call}"),
            None => id.clone(),
        })
    }
}

/// The extension of a file's name, how each file of the kind begins, and what writes it.
pub(crate) type Format = (&'static str, &'static str, fn(&Report) -> String);

impl Report {
    pub(crate) const FORMATS: [Format; 3] = [
        ("json", JSON, |it| format!("{:#}\n", json!(it))),
        ("xml", XML, Self::junit),
        ("md", MARKDOWN, Self::markdown),
    ];

    pub(crate) fn met(&self) -> impl Iterator<Item = &Situation> {
        self.situations.iter().filter(|it| it.met)
    }

    pub(crate) fn unmet(&self) -> impl Iterator<Item = &Situation> {
        self.situations.iter().filter(|it| !it.met)
    }

    /// `Met: otp, expired`
    pub(crate) fn met_codes(&self) -> String {
        let codes: Vec<_> = self.met().map(|it| it.code.as_str()).collect();
        match codes[..] {
            [] => "Met: nothing".to_owned(),
            _ => format!("Met: {}", codes.join(", ")),
        }
    }

    /// `2 findings`
    pub(crate) fn found(&self) -> String {
        match self.findings.len() {
            1 => "1 finding".to_owned(),
            count => format!("{count} findings"),
        }
    }

    /// `2 findings; 14 of 87 situations met`
    pub(crate) fn summary(&self) -> String {
        let (findings, met, all) = (self.found(), self.met().count(), self.situations.len());
        format!("{findings}; {met} of {all} situations met")
    }

    fn junit(&self) -> String {
        let mut cases = String::new();
        for it in &self.findings {
            let (title, why) = (xml(&it.title), xml(&it.why));
            let section = xml(&it.section);
            let requests = xml(&it.evidence().collect::<Vec<_>>().join("\n"));
            let _ = writeln!(
                cases,
                "    <testcase classname=\"findings\" name=\"{title}\"><failure message=\"{why} ({section})\">{requests}</failure></testcase>",
            );
        }
        let findings = self.findings.len();
        let mut situations = String::new();
        for it in self.met() {
            let name = xml(&it.title);
            let _ =
                writeln!(situations, "    <testcase classname=\"situations\" name=\"{name}\"/>");
        }
        // No test was skipped: what was never met is said beside the tests.
        let unmet: Vec<_> = self.unmet().map(|it| format!("{}: {}", it.title, it.how)).collect();
        let (met, unmet) = (self.met().count(), xml(&unmet.join("\n")));
        format!(
            "{XML}  <testsuite name=\"findings\" tests=\"{findings}\" failures=\"{findings}\">\n{cases}  </testsuite>\n  \
             <testsuite name=\"situations\" tests=\"{met}\" failures=\"0\">\n{situations}    <system-out>never met:\n{unmet}</system-out>\n  </testsuite>\n</testsuites>\n"
        )
    }

    fn markdown(&self) -> String {
        let mut text = format!("{MARKDOWN}{}.\n", self.summary());
        for it in &self.findings {
            let requests = it.evidence().collect::<Vec<_>>().join("`, `");
            let _ = write!(text, "\n- **{}.** {} ({}) `{requests}`", it.title, it.why, it.section);
        }
        let _ = write!(text, "\n\n{}.", self.met_codes());
        text.push_str("\n\n<details><summary>Never met</summary>\n\n| situation | why | how |\n| --- | --- | --- |\n");
        for it in self.unmet() {
            let (title, why, how) = (cell(&it.title), cell(&it.why), cell(&it.how));
            let _ = writeln!(text, "| {title} | {why} | {how} |");
        }
        text.push_str("\n</details>\n");
        for it in &self.situations {
            if let Some(remark) = &it.remark {
                let _ = write!(text, "\n{}: {remark}\n", it.title);
            }
        }
        text
    }
}
