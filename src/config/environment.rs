//! The environment variables that bookctl reads, in one table.

use std::ffi::OsString;

macro_rules! variables {
    ($($field:ident = $name:literal, $meaning:literal;)* -- $($also:literal, $read:literal;)*) => {
        /// The environment as it was when the process started.
        #[derive(Clone, Debug, Default)]
        pub(crate) struct Environment {
            $(#[doc = $meaning] pub(crate) $field: Option<OsString>,)*
        }

        impl Environment {
            /// Each variable and its meaning, in the order of the documentation.
            pub(crate) const TABLE: &[(&str, &str)] = &[$(($name, $meaning),)* $(($also, $read),)*];

            /// Reads the variables through `lookup`. An empty variable counts as unset.
            pub(crate) fn read(lookup: impl Fn(&str) -> Option<OsString>) -> Self {
                let set = |name| lookup(name).filter(|value| !value.is_empty());
                let mut environment = Environment { $($field: set($name),)* };
                // An empty pager is none, and an empty journal the local file.
                environment.journal = lookup("BOOKCTL_JOURNAL");
                environment.bookctl_pager = lookup("BOOKCTL_PAGER");
                environment.pager = lookup("PAGER");
                environment
            }
        }
    };
}

variables! {
    profile = "BOOKCTL_PROFILE", "profile to use";
    base_url = "BOOKCTL_BASE_URL", "address of the service, instead of the profile's";
    api_key = "BOOKCTL_API_KEY", "API key for that address or profile";
    webhook_secret = "BOOKCTL_WEBHOOK_SECRET", "secret that signs webhooks";
    journal = "BOOKCTL_JOURNAL", "postgresql:// URL of the journal that a team shares, instead of the profile's; empty for the local file";
    no_input = "BOOKCTL_NO_INPUT", "never prompt; fail if something required is missing";
    home = "BOOKCTL_HOME", "folder for config.toml, journal.db, recent.db and sandbox.db, instead of the platform's folders";
    accessible = "BOOKCTL_ACCESSIBLE", "numbered prompts without redrawing, for screen readers";
    no_sandbox = "BOOKCTL_NO_SANDBOX", "fail instead of falling back to the sandbox";
    sandbox_no_limits = "BOOKCTL_SANDBOX_NO_LIMITS", "turn off the sandbox's rate limits and test quota";
    pgpassword = "PGPASSWORD", "password of the user in BOOKCTL_JOURNAL";
    pgpassfile = "PGPASSFILE", "file with that password, instead of ~/.pgpass";
    user = "USER", "your name in a shared journal; also the PostgreSQL user if the URL has none";
    computername = "COMPUTERNAME", "name of this computer in a shared journal, on Windows";
    no_color = "NO_COLOR", "disable color";
    clicolor_force = "CLICOLOR_FORCE", "use color even if the output is not a terminal";
    complete = "BOOKCTL_COMPLETE", "set only by the completion scripts: the shell to complete for";
    ci = "CI", "set by continuous integration; disables prompts";
    term = "TERM", "`dumb` disables color and redrawing";
    bookctl_pager = "BOOKCTL_PAGER", "pager for lists longer than the screen; `cat` or empty for none";
    pager = "PAGER", "pager if BOOKCTL_PAGER is not set";
    less = "LESS", "options of less; `FRX` if not set";
    browser = "BROWSER", "program that `sandbox open` opens the page with";
    visual = "VISUAL", "editor for payment answers";
    editor = "EDITOR", "editor for payment answers if VISUAL is not set";
    // Those that only the HTTP client and TLS read.
    --
    "HTTPS_PROXY", "proxy for the service; loopback addresses never go through one";
    "NO_PROXY", "hosts, domains and networks that no proxy is used for, or `*`";
    "SSL_CERT_FILE", "file with certificate authorities to trust instead of the system's; a profile's ca_file adds some";
}

/// Variables with secrets. A journal's address may have a password.
const SECRET: [&str; 4] =
    ["BOOKCTL_API_KEY", "BOOKCTL_WEBHOOK_SECRET", "BOOKCTL_JOURNAL", "PGPASSWORD"];

impl Environment {
    /// All variables of this process but bookctl's secrets, also where another variable holds one.
    pub(crate) fn without_secrets() -> Vec<(String, String)> {
        let secrets: Vec<String> =
            SECRET.iter().filter_map(|name| std::env::var(name).ok()).collect();
        let is_open = |name: &str, value: &str| {
            !SECRET.contains(&name)
                && !secrets.iter().any(|secret| !secret.is_empty() && value.contains(secret))
        };
        let all = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        all.filter(|(name, value)| is_open(name, value)).collect()
    }

    /// A variable as text. Invalid UTF-8 is replaced, and then matches nothing.
    pub(crate) fn text(value: &Option<OsString>) -> Option<String> {
        Some(value.as_ref()?.to_string_lossy().into_owned())
    }

    /// Whether a switch is on: any value except `0`, `false`, `no` and `off`.
    pub(crate) fn on(value: &Option<OsString>) -> bool {
        let value = Self::text(value).map(|value| value.to_ascii_lowercase());
        value.is_some_and(|value| !matches!(value.as_str(), "0" | "false" | "no" | "off"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_counts_as_not_set() {
        let environment = Environment::read(|_| Some(OsString::new()));
        assert!(environment.api_key.is_none());
    }

    #[test]
    fn a_switch_is_off_where_its_value_says_so() {
        for (value, on) in
            [("1", true), ("yes", true), ("0", false), ("false", false), ("No", false)]
        {
            assert_eq!(Environment::on(&Some(value.into())), on, "{value}");
        }
        assert!(!Environment::on(&None));
    }
}
