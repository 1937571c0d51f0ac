//! The layout of a JSON document. Every token stays byte for byte: the spelling of numbers, the
//! order of keys, duplicate keys, escapes. Only the white space between tokens changes. One
//! exception does not change the document's meaning: a character that [`visible`](super::visible)
//! would escape becomes a `\uXXXX` escape, so that the document is harmless to a terminal.

use std::str::Chars;

use super::visible::InvisibleFilter;
use crate::json::escape;
use crate::platform::hidden::is_hidden;

/// The deepest indented level: else the output would grow with the square of the depth.
const DEEPEST_INDENT: usize = 64;

pub(crate) fn compact(raw: &str) -> String {
    lay_out(raw, false)
}

/// A valid JSON text with one member or element per line, indented, without a final line feed.
pub(crate) fn pretty(raw: &str) -> String {
    lay_out(raw, true)
}

fn lay_out(raw: &str, is_pretty: bool) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut depth = 0usize;
    // The innermost container is still empty; an empty one stays on one line.
    let mut empty = false;
    let new_line = |out: &mut String, depth: usize| {
        if is_pretty {
            out.push('\n');
            out.push_str(&"  ".repeat(depth.min(DEEPEST_INDENT)));
        }
    };
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' | '\r' => continue,
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                if !empty {
                    new_line(&mut out, depth);
                }
            }
            _ if empty => new_line(&mut out, depth),
            _ => {}
        }
        empty = false;
        if is_hidden(c) {
            out.push_str(&escape(c));
        } else {
            out.push(c);
        }
        match c {
            '"' => rest_of_string(&mut chars, &mut out),
            '{' | '[' => {
                depth += 1;
                empty = true;
            }
            ',' => new_line(&mut out, depth),
            ':' if is_pretty => out.push(' '),
            _ => {}
        }
    }
    out
}

fn rest_of_string(chars: &mut Chars<'_>, out: &mut String) {
    let mut eye = InvisibleFilter::default();
    while let Some(c) = chars.next() {
        let next = chars.as_str().chars().next();
        if eye.hides(c, next) {
            out.push_str(&escape(c));
            continue;
        }
        out.push(c);
        match c {
            '"' => return,
            '\\' => {
                match chars.next() {
                    Some(c) if is_hidden(c) => out.push_str(&escape(c)),
                    escaped => out.extend(escaped),
                }
                // An escape is no letter that a joiner could join.
                eye = InvisibleFilter::default();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::arbitrary;
    use crate::terminal::output::visible::visible_rows;
    use proptest::prelude::*;

    const DOCUMENT: &str = r#" { "b" : 1.0e+2 , "a":[ ] ,"a": [ -0, 1.10, {} , "x , y : { \" \\" ],
        "\u0041\/" : { "n":null , "t" :true } } "#;

    #[test]
    fn pretty_lays_out_one_member_a_line_as_serde_does() {
        let tame = r#"{"b":[1,{"c":"x"},[]],"a":{},"z":[[2],null]}"#;
        let value: Value = serde_json::from_str(tame).unwrap();
        assert_eq!(pretty(tame), serde_json::to_string_pretty(&value).unwrap());
        assert_eq!(pretty(DOCUMENT).lines().nth(1), Some(r#"  "b": 1.0e+2,"#));
        assert_eq!(pretty(r#""x""#), r#""x""#);
    }

    #[test]
    fn what_would_drive_a_terminal_becomes_an_escape() {
        assert_eq!(
            compact("{\"a\u{9b}\":\"\u{202e}\u{7f} \u{e0041} é🍣\"}"),
            r#"{"a\u009b":"\u202e\u007f \udb40\udc41 é🍣"}"#
        );
        let joined = "{\"a\":\"ක\u{dca}\u{200d}රීම ❤\u{fe0f}\"}";
        assert_eq!(compact(joined), joined);
        assert_eq!(
            compact("\"a\u{fe0f} \u{200d}b\\n\u{200d}c\u{e0100}\""),
            r#""a\ufe0f \u200db\n\u200dc\udb40\udd00""#
        );
    }

    fn is_harmless(laid_out: &str) -> bool {
        visible_rows(laid_out) == laid_out
    }

    proptest! {
        #[test]
        fn any_document_laid_out_is_the_same_document_and_harmless(value in arbitrary::json()) {
            let raw = value.to_string();
            for laid_out in [compact(&raw), pretty(&raw)] {
                prop_assert!(is_harmless(&laid_out), "{}", laid_out);
                prop_assert_eq!(&serde_json::from_str::<Value>(&laid_out).unwrap(), &value);
            }
            prop_assert_eq!(compact(&pretty(&raw)), compact(&raw));
        }

        #[test]
        fn what_is_no_document_does_no_harm(text in any::<String>()) {
            prop_assert!(is_harmless(&compact(&text)));
        }
    }
}
