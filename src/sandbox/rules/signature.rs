//! The signature of webhook deliveries ("Events", 5).

use jiff::Timestamp;
use ring::hmac::{Context, HMAC_SHA256, Key};

/// The signature header of an attempt: `t=<unix_seconds>,v1=<hex>` over `<t>.<body>`.
pub(crate) fn sign(secret: &str, at: Timestamp, body: &[u8]) -> String {
    let at = at.as_second();
    let mut mac = Context::with_key(&Key::new(HMAC_SHA256, secret.as_bytes()));
    mac.update(at.to_string().as_bytes());
    mac.update(b".");
    mac.update(body);
    format!("t={at},v1={}", hex::encode(mac.sign().as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    // printf '1795262400.{"id":"evt_1"}' | openssl dgst -sha256 -hmac whsec_sandbox
    #[test]
    fn the_signature_is_the_one_that_openssl_makes() {
        let at = Timestamp::from_second(1_795_262_400).unwrap();
        assert_eq!(
            sign("whsec_sandbox", at, br#"{"id":"evt_1"}"#),
            "t=1795262400,v1=f9f4161f28f04c681f4d05a30c98d0b2369011702b14be98e486f76bbbdcb269"
        );
    }
}
