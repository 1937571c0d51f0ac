//! The page: one HTML document, put together from its parts, with a policy that lets only its own script run.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::platform::crypto::sha256;

const HTML: &str = include_str!("index.html");
const STYLE: &str = include_str!("style.css");
/// One script in several files: they share a scope.
const SCRIPT: &str = concat!(
    include_str!("base.js"),
    include_str!("state.js"),
    include_str!("bookings.js"),
    include_str!("requests.js"),
    include_str!("webhooks.js"),
    include_str!("setup.js"),
    include_str!("main.js"),
);

/// The document and its `Content-Security-Policy`.
pub(crate) struct Page {
    pub(crate) html: String,
    pub(crate) policy: String,
}

impl Page {
    pub(crate) fn assemble() -> Self {
        let html = HTML
            .replace("/* style */", STYLE)
            .replace("/* script */", SCRIPT);
        let policy = format!(
            "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; \
             img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            STANDARD.encode(sha256([SCRIPT.as_bytes()])),
            STANDARD.encode(sha256([STYLE.as_bytes()])),
        );
        Self { html, policy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hashes are those of the whole content of the elements.
    #[test]
    fn the_elements_contain_the_script_and_the_style_and_nothing_else() {
        let page = Page::assemble();
        let style = format!("<style>{STYLE}</style>");
        let script = format!("<script type=\"module\">{SCRIPT}</script>");
        assert!(page.html.contains(&style) && page.html.contains(&script));
        assert_eq!(page.html.matches("<script").count(), 1);
        assert!(!SCRIPT.contains("</script") && !STYLE.contains("</style"));
    }

    #[test]
    fn text_becomes_a_page_by_text_content_alone_and_nothing_is_loaded_from_elsewhere() {
        let page = Page::assemble();
        for name in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "style=",
        ] {
            assert!(!page.html.contains(name), "{name}");
        }
        let elsewhere = ["src=", "@import", " url(", "https://"];
        assert!(elsewhere.iter().all(|it| !page.html.contains(it)));
    }
}
