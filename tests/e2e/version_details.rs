//! `--version --verbose`: what a report of a bug says about the program.

use crate::harness::Home;

#[test]
fn version_with_verbose_tells_how_the_program_was_built() {
    let home = Home::new();
    for arguments in [["--version", "--verbose"], ["-v", "-V"]] {
        let details = home.ok(arguments).stdout;
        let version = concat!("bookctl ", env!("CARGO_PKG_VERSION"), "\ncommit ");
        assert!(details.starts_with(version), "{details}");
        let tls = format!("rustls {} with ring {}", locked("rustls"), locked("ring"));
        for told in ["sqlite 3.", std::env::consts::ARCH, &tls] {
            assert!(details.contains(told), "{told} in {details}");
        }
    }
    assert!(!home.path().exists(), "it needs no home");
}

#[test]
fn version_without_verbose_is_one_line_in_any_company() {
    let home = Home::new();
    for arguments in [&["--version"][..], &["-V"], &["--version", "--json"], &["-qV"]] {
        let version = concat!("bookctl ", env!("CARGO_PKG_VERSION"), "\n");
        assert_eq!(home.ok(arguments).stdout, version);
    }
}

/// The version of a package in Cargo.lock.
fn locked(package: &str) -> &'static str {
    let lock = include_str!("../../Cargo.lock");
    let name = format!("name = \"{package}\"\nversion = \"");
    let (_, after) = lock.split_once(&name).unwrap();
    after.split('"').next().unwrap()
}
