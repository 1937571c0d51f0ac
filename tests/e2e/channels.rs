//! The wheel, the packages of npm and the container image, made of the program under test,
//! installed where nothing else of bookctl is, and used by tests of their own. packaging/check does
//! the same with the programs of a release.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

use crate::clients::{done, node_with, python_with};
use crate::harness::http::{KEY, send};
use crate::harness::listening::until;
use crate::harness::{holds, installed, skipped};
use crate::packaging::root;

const BOOKCTL: &str = env!("CARGO_BIN_EXE_bookctl");
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// An empty folder below `target`.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("channels").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// What `packaging/release` makes of the program under test, which stands for a static one.
fn release() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let made = folder("release");
        let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
        let program = made.join("prebuilt").join(target).join("bookctl");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        // Without what only a debugger reads, it packs in half the time.
        done(Command::new("strip").arg("-o").arg(&program).arg(BOOKCTL));
        let mut release = Command::new(root().join("packaging/release"));
        release.arg("--no-build").arg("--prebuilt").arg(made.join("prebuilt"));
        release.arg("--out").arg(made.join("out")).args(["wheels", "npm", "images"]);
        done(&mut release);
        made.join("out")
    })
}

/// The file of the release whose name has these ends.
fn released(begin: &str, end: &str) -> PathBuf {
    let files = fs::read_dir(release()).unwrap().map(|it| it.unwrap().path());
    let names = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with(begin) && name.ends_with(end)
    };
    files.into_iter().find(names).unwrap()
}

/// A command that knows neither the configuration of who runs the tests nor another bookctl.
fn blank(program: impl AsRef<Path>, folder: &Path) -> Command {
    let mut command = Command::new(program.as_ref());
    command.current_dir(folder).env("HOME", folder.join("home"));
    for name in ["BOOKCTL_HOME", "BOOKCTL_PROFILE", "BOOKCTL_BASE_URL", "BOOKCTL_API_KEY"] {
        command.env_remove(name);
    }
    command
}

/// The Python of a new environment that has the wheel, and beside it the test runner of this
/// computer.
pub(crate) fn python_with_wheel() -> Option<&'static Path> {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    let python = python_with("pip, pytest, xdist, mypy")?;
    let made = MADE.get_or_init(|| {
        let made = folder("python");
        done(Command::new(&python).args(["-m", "venv", "--without-pip"]).arg(&made));
        let own = made.join("bin/python");
        let packages = |python: &Path| {
            let print = "import sysconfig; print(sysconfig.get_path('purelib'))";
            done(Command::new(python).args(["-c", print])).0.trim().to_owned()
        };
        let link = Path::new(&packages(&own)).join("runner.pth");
        fs::write(link, packages(Path::new(&python))).unwrap();
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "--python"]).arg(&own).args(["install", "--quiet"]);
        done(install.args(["--no-index", "--no-deps"]).arg(released("bookctl-", ".whl")));
        own
    });
    Some(made)
}

/// A Node, and a new folder that has the packages of npm, and above it the test runner of this
/// computer.
pub(crate) fn node_with_package() -> Option<(String, &'static Path)> {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    let (node, modules) = node_with(&["vitest", "jest", "typescript", "@types/node"])?;
    let made = MADE.get_or_init(|| {
        let made = folder("node");
        symlink(modules.canonicalize().unwrap(), made.join("node_modules")).unwrap();
        let project = made.join("project");
        fs::create_dir(&project).unwrap();
        fs::write(project.join("package.json"), r#"{"type": "module"}"#).unwrap();
        let beside = Path::new(&node).with_file_name("npm");
        let npm = if beside.exists() { beside } else { PathBuf::from("npm") };
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", npm.parent().unwrap().display());
        let mut install = Command::new(&npm);
        install.args(["install", "--offline", "--no-audit", "--no-fund", "--silent"]);
        install.arg(released("bookctl-0", ".tgz")).arg(released("bookctl-linux", ".tgz"));
        done(install.current_dir(&project).env("PATH", path));
        project
    });
    Some((node, made))
}

/// The tests of tests/channels that are in a file, copied to a folder.
fn copy_tests(file: &str, folder: &Path) {
    fs::copy(root().join("tests/channels").join(file), folder.join(file)).unwrap();
}

#[test]
#[ignore = "builds and installs packages"]
fn wheel_in_new_environment_passes_strict_typed_parallel_tests() {
    let Some(python) = python_with_wheel() else { return };
    let folder = folder("pytest");
    copy_tests("test_bookings.py", &folder);
    let bookctl = python.with_file_name("bookctl");
    let (example, _) = done(blank(&bookctl, &folder).args(["sandbox", "load", "--example"]));
    fs::write(folder.join("venues.toml"), example).unwrap();
    let pytest = ["-m", "pytest", "-q", "-n", "4", "--strict-markers", "test_bookings.py"];
    let (stdout, _) = done(blank(python, &folder).args(pytest));
    assert!(stdout.contains("20 passed"), "{stdout}");

    // All four processes in one sandbox, whose report counts them all.
    let mut together = blank(&bookctl, &folder);
    together.args(["sandbox", "run", "--report=report.json", "--"]).arg(python).args(pytest);
    let (stdout, _) = done(&mut together);
    assert!(stdout.contains("20 passed"), "{stdout}");
    let report = fs::read(folder.join("report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    let situations = report["situations"].as_array().unwrap();
    let met = situations.iter().filter(|it| it["met"] == true).count();
    assert!(met > 10, "{report}");
    assert!(!folder.join("home").exists(), "the tests wrote into the home of who runs them");

    let package = ["-m", "mypy", "--strict", "-p", "bookctl"];
    done(blank(python, &folder).args(package));
    done(blank(python, &folder).args(["-m", "mypy", "--strict", "test_bookings.py"]));
}

#[test]
#[ignore = "builds and installs packages"]
fn sandbox_ends_with_the_tests_that_were_killed() {
    let Some(python) = python_with_wheel() else { return };
    let folder = folder("killed");
    let script = "import os, bookctl; sandbox = bookctl.Sandbox.start(); print(sandbox.base_url, flush=True); os.kill(os.getpid(), 9)";
    let killed = blank(python, &folder).args(["-c", script]).output().unwrap();
    let url = String::from_utf8(killed.stdout).unwrap();
    let address = url.trim().strip_prefix("http://").unwrap().to_owned();
    until("the sandbox ends", || std::net::TcpStream::connect(&address).is_err());
}

#[test]
#[ignore = "builds and installs packages"]
fn npm_package_in_a_new_folder_passes_typed_parallel_tests() {
    let Some((node, project)) = node_with_package() else { return };
    copy_tests("bookings.test.ts", project);
    let modules = project.join("../node_modules");
    let mut vitest = blank(&node, project);
    vitest.arg(modules.join("vitest/vitest.mjs")).args(["run", "--root", ".", "bookings.test.ts"]);
    let (stdout, _) = done(vitest.env("NO_COLOR", "1"));
    assert!(stdout.contains("20 passed"), "{stdout}");
    copy_tests("bookings.jest.cjs", project);
    let mut jest = blank(&node, project);
    jest.arg(modules.join("jest/bin/jest.js")).args(["--ci", "--testMatch", "**/*.jest.cjs"]);
    let (_, stderr) = done(&mut jest);
    assert!(stderr.contains("4 passed, 4 total"), "{stderr}");
    let mut types = blank(&node, project);
    types.arg(modules.join("typescript/bin/tsc")).args(["--noEmit", "--strict", "--skipLibCheck"]);
    done(types.args(["--module", "nodenext", "--types", "node", "bookings.test.ts"]));
    let shim = project.join("node_modules/.bin/bookctl");
    let (version, _) = done(blank(&node, project).arg(&shim).arg("--version"));
    assert_eq!(version.trim(), format!("bookctl {VERSION}"));
    let unknown = blank(&node, project).arg(&shim).arg("unknown").output().unwrap();
    assert_eq!(unknown.status.code(), Some(2), "{unknown:?}");
}

fn each_text(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect()
}

/// The image's configuration, and its layers unpacked, with the libraries that the program under
/// test needs and a static one does not.
fn unpack(image: &Path, folder: &Path) -> Value {
    done(Command::new("tar").arg("-xf").arg(image).arg("-C").arg(folder));
    let read = |path: &str| -> Value {
        serde_json::from_slice(&fs::read(folder.join(path)).unwrap()).unwrap()
    };
    let blob = |described: &Value| {
        format!("blobs/{}", described["digest"].as_str().unwrap().replace(':', "/"))
    };
    let manifest = read(&blob(&read("index.json")["manifests"][0]));
    let system = folder.join("system");
    fs::create_dir(&system).unwrap();
    for layer in manifest["layers"].as_array().unwrap() {
        let layer = folder.join(blob(layer));
        done(Command::new("tar").arg("-xpzf").arg(layer).arg("-C").arg(&system));
    }
    let (libraries, _) = done(Command::new("ldd").arg(BOOKCTL));
    for library in libraries.split_whitespace().filter(|it| it.starts_with('/')) {
        let place = system.join(&library[1..]);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::copy(library, place).unwrap();
    }
    read(&blob(&manifest["config"]))["config"].take()
}

#[test]
#[ignore = "builds and installs packages"]
fn image_serves_as_its_own_user_and_tells_its_health() {
    if !rustix::process::geteuid().is_root() || !installed("skopeo") {
        return skipped("this needs root and skopeo");
    }
    let image = released("bookctl-", ".tar");
    for kind in ["oci-archive", "docker-archive"] {
        let mut inspect = Command::new("skopeo");
        inspect.args(["inspect", &format!("{kind}:{}", image.display())]);
        let seen: Value = serde_json::from_str(&done(&mut inspect).0).unwrap();
        holds!(seen["Labels"], {"org.opencontainers.image.version": VERSION});
    }
    let folder = folder("image");
    let config = unpack(&image, &folder);
    let inside = |words: &[&Value], more: &[&str]| {
        let mut command = Command::new("/usr/sbin/chroot");
        command.arg(format!("--userspec={}", config["User"].as_str().unwrap()));
        command.arg(folder.join("system"));
        command.args(words.iter().flat_map(|it| each_text(it))).args(more);
        let variables = each_text(&config["Env"]);
        command.env_clear().envs(variables.iter().map(|it| it.split_once('=').unwrap()));
        command
    };
    let mut serve = inside(&[&config["Entrypoint"], &config["Cmd"]], &["--port", "0", "--json"]);
    let mut server = serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut ready = String::new();
    let stdout = server.stdout.take().unwrap();
    BufReader::new(stdout).read_line(&mut ready).unwrap();
    let ready: Value = serde_json::from_str(&ready).unwrap();
    let port = ready["base_url"].as_str().unwrap().rsplit(':').next().unwrap();
    let base_url = format!("http://127.0.0.1:{port}");
    let owner = fs::metadata(format!("/proc/{}", server.id())).unwrap().uid();
    assert_eq!(config["User"], format!("{owner}:{owner}"));
    assert_ne!(owner, 0);
    assert_eq!(send(&base_url, "GET", "/v1/", &[KEY], "").0, 200);
    let health = &config["Healthcheck"]["Test"];
    assert_eq!(health[0], "CMD");
    let health = Value::from(&health.as_array().unwrap()[1..]);
    let is_healthy = || {
        let mut check = inside(&[&health], &[]);
        check.env("BOOKCTL_BASE_URL", &base_url).output().unwrap().status.success()
    };
    assert!(is_healthy());
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(!is_healthy());
}

#[test]
#[ignore = "builds and installs packages"]
fn crate_is_refused_without_a_repository() {
    let out = folder("crate");
    let mut release = Command::new(root().join("packaging/release"));
    let refused = release.arg("--out").arg(&out).arg("crate").output().unwrap();
    let text = String::from_utf8_lossy(&refused.stderr);
    let manifest: toml::Table =
        fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    let is_named = manifest["package"].get("repository").is_some();
    assert_eq!(refused.status.success(), is_named, "{text}");
    assert!(is_named || text.contains("set `repository ="), "{text}");
}
