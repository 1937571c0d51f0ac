//! Debian's Chromium, driven by chromedriver over plain WebDriver.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::http::exchange;
use super::{HANG, installed, skipped};

/// The name of an element in WebDriver's documents.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser with one window; it ends with this value.
pub(crate) struct Browser {
    driver: Child,
    address: String,
    session: String,
    /// The browser's profile, which goes with it.
    _folder: TempDir,
}

impl Browser {
    /// Starts one; `None`, with a word to whoever runs the tests, where there is none.
    pub(crate) fn start() -> Option<Self> {
        for program in ["chromium", "chromedriver"] {
            if !installed(program) {
                skipped(&format!(
                    "{program} is not installed: apt-get install chromium chromium-driver"
                ));
                return None;
            }
        }
        let folder = tempfile::Builder::new().prefix("bookctl-browser-").tempdir().unwrap();
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").env("HOME", folder.path());
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut driver = command.spawn().unwrap();
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines.find_map(|line| {
            let line = line.ok()?;
            let (_, port) = line.split_once("started successfully on port ")?;
            Some(port.trim_end_matches('.').to_owned())
        });
        // What it says later must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let mut browser = Browser {
            driver,
            address: format!("http://127.0.0.1:{}", port.unwrap()),
            session: String::new(),
            _folder: folder,
        };
        let profile = format!("--user-data-dir={}", browser._folder.path().display());
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--force-color-profile=srgb",
            "--lang=en-GB",
            &profile,
        ];
        let options = json!({"args": arguments});
        let wanted = json!({"browserName": "chrome", "goog:chromeOptions": options});
        let made = browser.driver_call(
            "POST",
            "/session",
            &json!({"capabilities": {"alwaysMatch": wanted}}),
        );
        browser.session = made["sessionId"].as_str().unwrap().to_owned();
        browser.resize(1100, 900);
        Some(browser)
    }

    #[track_caller]
    fn driver_call(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = exchange(&self.address, method, path, &[], &body.to_string());
        let document = answer.json();
        assert_eq!(answer.status(), 200, "{method} {path}: {document}");
        document["value"].clone()
    }

    #[track_caller]
    fn call(&self, path: &str, body: &Value) -> Value {
        self.driver_call("POST", &format!("/session/{}{path}", self.session), body)
    }

    /// Sets the size of the page's area, which can be narrower than a window.
    pub(crate) fn resize(&self, width: u32, height: u32) {
        self.resize_to_scale(width, height, 1);
    }

    /// The same with so many pixels of a picture for each of the page.
    pub(crate) fn resize_to_scale(&self, width: u32, height: u32, scale: u32) {
        let metrics =
            json!({"width": width, "height": height, "deviceScaleFactor": scale, "mobile": false});
        self.devtools("Emulation.setDeviceMetricsOverride", &metrics);
    }

    /// Makes the page believe that its reader likes `dark` or `light`, and nothing that moves.
    pub(crate) fn prefers(&self, scheme: &str) {
        let features = [("prefers-color-scheme", scheme), ("prefers-reduced-motion", "reduce")];
        let features = features.map(|(name, value)| json!({"name": name, "value": value}));
        self.devtools("Emulation.setEmulatedMedia", &json!({"features": features}));
        self.devtools("Emulation.setScrollbarsHidden", &json!({"hidden": true}));
    }

    fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.call("/goog/cdp/execute", &json!({"cmd": command, "params": parameters}))
    }

    pub(crate) fn open(&self, url: &str) {
        self.call("/url", &json!({"url": url}));
    }

    /// What a function body returns in the page.
    #[track_caller]
    pub(crate) fn run(&self, script: &str, arguments: &[Value]) -> Value {
        self.call("/execute/sync", &json!({"script": script, "args": arguments}))
    }

    /// What a function body hands to its last argument.
    #[track_caller]
    pub(crate) fn run_async(&self, script: &str, arguments: &[Value]) -> Value {
        self.call("/execute/async", &json!({"script": script, "args": arguments}))
    }

    /// Waits until an expression of the page is true, no longer than `limit`; returns how long it
    /// took.
    #[track_caller]
    pub(crate) fn until(&self, limit: Duration, expression: &str) -> Duration {
        let began = Instant::now();
        loop {
            if self.run(&format!("return Boolean({expression})"), &[]) == true {
                return began.elapsed();
            }
            if began.elapsed() > limit {
                let page = self.text();
                panic!("not within {limit:?}: {expression}\n{page}");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until the page shows this text.
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) {
        let text = json!(text);
        self.until(HANG, &format!("document.body.innerText.includes({text})"));
    }

    /// What the page shows.
    pub(crate) fn text(&self) -> String {
        let text = self.run("return document.body.innerText", &[]);
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Clicks as a person does: what is covered cannot be clicked.
    #[track_caller]
    pub(crate) fn click(&self, selector: &str) {
        let quoted = json!(selector);
        self.until(HANG, &format!("document.querySelector({quoted})"));
        let found = json!({"using": "css selector", "value": selector});
        let element = self.call("/element", &found);
        let id = element[ELEMENT].as_str().unwrap();
        self.call(&format!("/element/{id}/click"), &json!({}));
    }

    /// Clicks the button with this text.
    #[track_caller]
    pub(crate) fn press(&self, text: &str) {
        let mark = "const wanted = [...document.querySelectorAll('button, summary')]\
                    .find((it) => it.textContent === arguments[0]); wanted?.setAttribute('data-wanted', arguments[0]); \
                    return Boolean(wanted)";
        let deadline = Instant::now() + HANG;
        while self.run(mark, &[json!(text)]) != true {
            assert!(Instant::now() < deadline, "no button {text}\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
        self.click(&format!("[data-wanted={}]", json!(text)));
    }

    /// Types keys, wherever the focus is. `\u{e004}` is Tab, `\u{e007}` is Enter.
    pub(crate) fn keys(&self, keys: &str) {
        let press = |key: char| {
            let key = key.to_string();
            [json!({"type": "keyDown", "value": key}), json!({"type": "keyUp", "value": key})]
        };
        let actions: Vec<Value> = keys.chars().flat_map(press).collect();
        let keyboard = json!({"type": "key", "id": "keyboard", "actions": actions});
        self.call("/actions", &json!({"actions": [keyboard]}));
    }

    /// A picture of the page, as PNG in Base64.
    pub(crate) fn picture(&self) -> String {
        let path = format!("/session/{}/screenshot", self.session);
        let picture = self.driver_call("GET", &path, &json!({}));
        picture.as_str().unwrap().to_owned()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            let path = format!("/session/{}", self.session);
            exchange(&self.address, "DELETE", &path, &[], "");
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
