//! The independent service of `tests/foreign` as a process of its own, at one of its variants.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::{HANG, Home, Owned, http, installed, skipped};

/// The key that every variant takes.
pub(crate) const FOREIGN_KEY: &str = "sk_test_of_a_foreign_service";

/// A foreign service; it ends with this value.
pub(crate) struct Foreign {
    child: Owned,
    base_url: String,
    _folder: TempDir,
}

impl Foreign {
    /// The service at a variant. `None`, with a line that says so, where there is no Python.
    #[track_caller]
    pub(crate) fn start(variant: &str) -> Option<Self> {
        Self::with(variant, &[])
    }

    /// The same with more options of `service.py`.
    #[track_caller]
    pub(crate) fn with(variant: &str, more: &[&str]) -> Option<Self> {
        if !installed("python3") {
            skipped("python3 is missing, so the foreign service cannot be started");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let ready = folder.path().join("ready");
        let mut command = Command::new("python3");
        command
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign/service.py"))
            .args(["--variant", variant, "--port", "0", "--key", FOREIGN_KEY])
            .arg("--ready-file")
            .arg(&ready)
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = Owned(command.spawn().unwrap());
        let mut service = Foreign { child, base_url: String::new(), _folder: folder };
        let deadline = Instant::now() + HANG;
        loop {
            let address = std::fs::read_to_string(&ready).unwrap_or_default();
            if address.ends_with('\n') || Self::is_whole(&address) {
                service.base_url = address.trim().to_owned();
                return Some(service);
            }
            assert!(Instant::now() < deadline, "the foreign service does not start");
            assert_eq!(service.child.0.try_wait().unwrap(), None, "it ended");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Whether the ready file is written to its end: an address with a port.
    fn is_whole(address: &str) -> bool {
        let rest = address.trim().strip_prefix("http://127.0.0.1:");
        rest.is_some_and(|rest| rest.split('/').next().is_some_and(|port| port.len() > 3))
    }

    /// The address with the variant's own prefix.
    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// One, and its home.
    #[track_caller]
    pub(crate) fn with_home(variant: &str, mapping: &str) -> Option<(Self, Home)> {
        let service = Self::start(variant)?;
        let home = service.home(mapping);
        Some((service, home))
    }

    /// A home with a profile `foreign` for it, which is used by default, and its key in the
    /// environment.
    pub(crate) fn home(&self, mapping: &str) -> Home {
        Home::new()
            .with_profile("foreign", &self.base_url, mapping)
            .with("BOOKCTL_API_KEY", FOREIGN_KEY)
    }

    /// A call of its control surface.
    pub(crate) fn control(&self, method: &str, path: &str, body: &str) -> Value {
        let root = &self.base_url[.."http://".len()
            + self.base_url["http://".len()..]
                .find('/')
                .unwrap_or(self.base_url.len() - "http://".len())];
        let (status, document) = http::send(root, method, &format!("/__test__/{path}"), &[], body);
        assert_eq!(status, 200, "{method} {path}: {document}");
        document
    }

    /// Every request that it got, in order: method, path, query, headers without the key, body,
    /// status.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let log = self.control("GET", "requests", "");
        let requests = log.get("requests").unwrap_or(&log).as_array();
        requests.cloned().unwrap_or_default()
    }

    /// The requests as `METHOD /path`, without the variant's prefix.
    pub(crate) fn calls(&self) -> Vec<String> {
        let name = |request: &Value| {
            let path = request["path"].as_str().unwrap_or_default();
            let path = path.find("/v1").map_or(path, |at| &path[at..]);
            format!("{} {path}", request["method"].as_str().unwrap_or_default())
        };
        self.requests().iter().map(name).collect()
    }

    /// Fails where a request was not one of the reads that `profile learn` may send.
    #[track_caller]
    pub(crate) fn saw_no_write(&self) {
        for call in self.calls() {
            let is_read = call.starts_with("GET ")
                || call == "POST /v1/venues/search"
                || call == "POST /v1/availability/search";
            assert!(is_read, "{call} was sent");
        }
    }
}
