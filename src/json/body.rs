//! The text of a body: compression, charset and byte order mark are undone.

use std::borrow::Cow;

use miniz_oxide::inflate::decompress_to_vec_with_limit;

use super::document::{Document, Unread};

/// The most bytes that a compressed body is unpacked to.
const LARGEST: usize = 16 * 1024 * 1024;

/// Reads a body whose headers `header` gives by their names.
pub(crate) fn read_body(
    body: &[u8],
    header: impl Fn(&str) -> Option<String>,
) -> Result<Document, Unread> {
    let text = body_text(body, header);
    // Bytes that were damaged on the way are no answer.
    let is_changed = text.contains('\u{fffd}') && str::from_utf8(body).is_err();
    match is_changed {
        true => Err(Unread { text, why: "it is not valid in its charset".to_owned() }),
        false => Document::parse(text),
    }
}

/// The text of a body. What its charset does not explain becomes U+FFFD.
pub(crate) fn body_text(body: &[u8], header: impl Fn(&str) -> Option<String>) -> String {
    let unpacked = gunzipped(body).map_or(Cow::Borrowed(body), Cow::Owned);
    let kind = header("content-type").unwrap_or_default().to_ascii_lowercase();
    let charset = kind.split_once("charset=").map_or("", |(_, charset)| charset);
    let charset = charset.split(';').next().unwrap_or_default().trim_matches([' ', '"', '\'']);
    let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match (&*unpacked, charset) {
        ([0xef, 0xbb, 0xbf, rest @ ..], _) => String::from_utf8_lossy(rest).into_owned(),
        ([0xff, 0xfe, rest @ ..], _) | (rest, "utf-16le") => utf16(rest, u16::from_le_bytes),
        ([0xfe, 0xff, rest @ ..], _) | (rest, "utf-16be" | "utf-16") => {
            utf16(rest, u16::from_be_bytes)
        }
        (bytes, "iso-8859-1" | "latin1" | "iso-8859-15" | "windows-1252" | "us-ascii")
            if str::from_utf8(bytes).is_err() =>
        {
            bytes.iter().copied().map(char::from).collect()
        }
        (bytes, _) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// The body unpacked, if it is gzip (RFC 1952).
pub(crate) fn gunzipped(body: &[u8]) -> Option<Vec<u8>> {
    let [0x1f, 0x8b, 8, flags, rest @ ..] = body else { return None };
    let mut rest = rest.get(6..)?;
    if flags & 4 != 0 {
        let length = usize::from(u16::from_le_bytes([*rest.first()?, *rest.get(1)?]));
        rest = rest.get(2 + length..)?;
    }
    for _ in 0..(flags >> 3 & 1) + (flags >> 4 & 1) {
        let end = rest.iter().position(|byte| *byte == 0)?;
        rest = &rest[end + 1..];
    }
    let rest = if flags & 2 != 0 { rest.get(2..)? } else { rest };
    decompress_to_vec_with_limit(rest, LARGEST).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZIPPED: &str =
        "1f8b0800000000000203ab56ca4c51b2524a2d2b893754d2514a04b213a140a916004ca856ba1d000000";

    #[test]
    fn a_body_is_read_by_its_charset_mark_and_compression() {
        let utf16: Vec<u8> =
            "\u{feff}{\"a\":\"é\"}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for (bytes, kind, text) in [
            (
                &b"{\"a\":\"Caf\xe9\"}"[..],
                "application/json; charset=iso-8859-1",
                "{\"a\":\"Café\"}",
            ),
            (
                "{\"a\":\"Café\"}".as_bytes(),
                "application/json; charset=ISO-8859-1",
                "{\"a\":\"Café\"}",
            ),
            (b"\xef\xbb\xbf{}", "", "{}"),
            (b"\xef\xbb\xbf{}", "application/json; charset=\"utf-8\"", "{}"),
            (&utf16, "", "{\"a\":\"é\"}"),
            (b"{\"a\":\"\xe9\"}", "application/json", "{\"a\":\"\u{fffd}\"}"),
        ] {
            assert_eq!(body_text(bytes, |_| Some(kind.to_owned())), text, "{kind}");
        }
        let zipped = hex::decode(ZIPPED).unwrap();
        assert_eq!(body_text(&zipped, |_| None), r#"{"id":"evt_1","a":"aaaaaaaa"}"#);
        let damaged = read_body(b"{\"id\":\"b\xe9\"}", |_| None).unwrap_err();
        assert!(damaged.why.contains("charset"));
        assert_eq!(gunzipped(&zipped[..8]), None);
        assert!(gunzipped(b"{}").is_none());
    }
}
