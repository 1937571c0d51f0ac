//! Clients that others' generators make from the OpenAPI documents: their names, their types, and
//! the whole life cycle.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::{Served, skipped};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// What each document's client is called: in Python, and in TypeScript.
const DOCUMENTS: [(&str, &str, &str); 2] = [
    ("openapi.json", "booking_service", "service.d.ts"),
    ("sandbox-openapi.json", "sandbox_controls", "controls.d.ts"),
];

/// What a command wrote to stdout and to stderr, or why it failed.
fn ran(command: &mut Command) -> Result<(String, String), String> {
    let output = command.output();
    let output = output.map_err(|error| format!("{command:?} cannot be run: {error}"))?;
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
    if output.status.success() {
        Ok((stdout, stderr))
    } else {
        Err(format!("{command:?} failed:\n{stdout}{stderr}"))
    }
}

pub(crate) fn done(command: &mut Command) -> (String, String) {
    ran(command).unwrap_or_else(|why| panic!("{why}"))
}

/// The Python that has these modules. `BOOKCTL_TEST_PYTHON` names another than `python3`.
pub(crate) fn python_with(modules: &str) -> Option<String> {
    let python = std::env::var("BOOKCTL_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    match ran(Command::new(&python).args(["-c", &format!("import {modules}")])) {
        Ok(_) => Some(python),
        Err(why) => {
            skipped(&format!("pip install -r tests/peers/requirements.txt: {why}"));
            None
        }
    }
}

/// A Node, and the folder in which `npm install` brought these packages
/// (`BOOKCTL_TEST_NODE_STRIPE`).
pub(crate) fn node_with(packages: &[&str]) -> Option<(String, PathBuf)> {
    let node = std::env::var("BOOKCTL_TEST_NODE").unwrap_or_else(|_| "node".to_owned());
    let folder = std::env::var("BOOKCTL_TEST_NODE_STRIPE").unwrap_or_default();
    let modules = Path::new(&folder).join("node_modules");
    let missing = packages.iter().find(|it| !modules.join(it).is_dir());
    match missing {
        None => Some((node, modules)),
        Some(missing) => {
            skipped(&format!(
                "BOOKCTL_TEST_NODE_STRIPE names no folder with {missing}: npm install {missing}"
            ));
            None
        }
    }
}

/// The last line that a walk through the life cycle prints: how many of its answers had the
/// promised type.
fn answers(stdout: &str) -> usize {
    stdout.trim().parse().unwrap()
}

/// Both walks send booking requests without a key, and break no other rule.
fn finds_the_missing_keys_alone(served: &Served) {
    let output = served.home().ok(["sandbox", "report", "--json"]);
    let found = super::report::codes(&output.json());
    assert_eq!(found, ["no_idempotency_key"], "{output}");
}

#[test]
#[ignore = "needs other languages' clients"]
fn a_generated_python_client_is_strictly_typed_and_walks_the_whole_life_cycle() {
    let Some(python) = python_with("openapi_python_client, mypy") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for (document, package, _) in DOCUMENTS {
        let mut generate = Command::new(&python);
        generate.args(["-m", "openapi_python_client", "generate", "--meta", "none"]);
        generate.args(["--path", &format!("{ROOT}/docs/{document}")]);
        generate.args(["--output-path", package]);
        // Its hooks call ruff, which is beside Python.
        let beside = Path::new(&python).parent().unwrap().display().to_string();
        let path = std::env::var("PATH").unwrap_or_default();
        generate.env("PATH", format!("{beside}:{path}"));
        let (stdout, stderr) = done(generate.current_dir(&folder));
        let all = format!("{stdout}{stderr}");
        assert!(!all.contains("WARNING") && !all.contains("Unable"), "{all}");
        let models = std::fs::read_dir(folder.path().join(package).join("models")).unwrap();
        for model in models {
            let name = model.unwrap().file_name().into_string().unwrap();
            let is_made_up = name.contains("_type_") || name.contains("_response_");
            assert!(!is_made_up, "the generator had to make up {name}");
        }
    }
    std::fs::copy(format!("{ROOT}/tests/peers/life.py"), folder.path().join("life.py")).unwrap();
    let mut types = Command::new(&python);
    types.args(["-m", "mypy", "--strict", "--config-file"]);
    types.arg(format!("{ROOT}/tests/peers/mypy.ini"));
    types.args(["life.py", "booking_service", "sandbox_controls"]);
    done(types.current_dir(&folder));

    let served = Served::start();
    let mut life = Command::new(&python);
    life.args(["life.py", served.base_url()]);
    let (stdout, _) = done(life.current_dir(&folder));
    assert!(answers(&stdout) > 35, "{stdout}");
    finds_the_missing_keys_alone(&served);
}

/// Java, Kotlin, C#, Go, Ruby, PHP and Swift are generated by it. It needs Java itself.
#[test]
#[ignore = "needs other languages' clients"]
fn openapi_generator_takes_both_documents() {
    let Some(python) = python_with("openapi_generator_cli") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for (document, package, _) in DOCUMENTS {
        let mut generate = Command::new(Path::new(&python).with_file_name("openapi-generator-cli"));
        generate.args(["generate", "-g", "go", "-o", package]);
        generate.args(["-i", &format!("{ROOT}/docs/{document}")]);
        let (stdout, stderr) = done(generate.current_dir(&folder));
        let all = format!("{stdout}{stderr}");
        assert!(!all.contains("ERROR") && !all.contains("SpecValidation"), "{all}");
        assert!(folder.path().join(package).join("client.go").exists(), "{all}");
    }
}

#[test]
#[ignore = "needs other languages' clients"]
fn a_generated_typescript_client_is_strictly_typed_and_walks_the_whole_life_cycle() {
    let packages = ["typescript", "@types/node", "openapi-typescript", "openapi-fetch"];
    let Some((node, modules)) = node_with(&packages) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(modules.canonicalize().unwrap(), folder.path().join("node_modules"))
        .unwrap();
    std::fs::write(folder.path().join("package.json"), r#"{"type": "module"}"#).unwrap();
    for file in ["life.ts", "tsconfig.json"] {
        std::fs::copy(format!("{ROOT}/tests/peers/{file}"), folder.path().join(file)).unwrap();
    }
    let run = |script: &str, arguments: &[&str]| {
        let mut command = Command::new(&node);
        command.arg(script).args(arguments);
        done(command.current_dir(&folder))
    };
    for (document, _, types) in DOCUMENTS {
        let document = format!("{ROOT}/docs/{document}");
        run("node_modules/openapi-typescript/bin/cli.js", &[&document, "-o", types]);
    }
    run("node_modules/typescript/bin/tsc", &["-p", "."]);
    let served = Served::start();
    let (stdout, _) = run("life.ts", &[served.base_url()]);
    assert!(answers(&stdout) > 30, "{stdout}");
    finds_the_missing_keys_alone(&served);
}
