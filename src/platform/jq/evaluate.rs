//! Compiling and evaluating a filter.

use jaq_core::compile::Compiler;
use jaq_core::data::JustLut;
use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Ctx, Native, Vars};
use jaq_json::Val;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

const NO_EXPRESSION: &str = "is not a jq expression";
/// The most bytes that a filter may output.
const LONGEST_TEXT: usize = 64 * 1024 * 1024;
/// Functions that read the environment (with secrets) or the streams, or end the process.
const KEPT_AWAY: &str = "env input inputs halt halt_error debug debug_empty stderr stderr_empty";
/// Functions that jq has and jaq lacks or names differently.
const FORMATS: &str = r#"
def _cells(text):
  if isarray then .[] else error("\(tojson) is not an array, so it cannot be a row") end
  | if isstring then text
    elif . == null then ""
    elif isarray or isobject then error("\(tojson) cannot be in a row")
    else tojson end;
def _replaced($from; $to): if . == "" then . else split($from) | join($to) end;
def @csv: [_cells("\"" + _replaced("\""; "\"\"") + "\"")] | join(",");
def @tsv: [_cells(_replaced("\\"; "\\\\") | _replaced("\t"; "\\t") | _replaced("\n"; "\\n") | _replaced("\r"; "\\r"))]
  | join("\t");
def @html: tostring | escape_html | _replaced("&apos;"; "&#39;");
"#;

/// Variables with their `$`, each with its value as JSON.
pub(super) type Variables = [(String, String)];

type Compiled = jaq_core::compile::Filter<Native<JustLut<Val>>>;

/// `env`, for an expression that may see the environment.
const ENV: &str = "def env: $ENV;";

/// Compiles an expression with the definitions of jq and these, and the names of variables, such as
/// `$ENV`. The error says why it does not compile.
pub(super) fn compile(source: &str, variables: &Variables) -> Result<Compiled, String> {
    let stored = |name: &str| !KEPT_AWAY.split(' ').any(|it| it == name);
    let parsed = |text| jaq_core::load::parse(text, |parser| parser.defs()).unwrap_or_default();
    let has_env = variables.iter().any(|(name, _)| name == "$ENV");
    let defs = jaq_core::defs()
        .chain(jaq_std::defs())
        .chain(jaq_json::defs())
        .chain(parsed(FORMATS))
        .filter(|def| stored(def.name))
        .chain(has_env.then(|| parsed(ENV)).into_iter().flatten());
    let funs = jaq_core::funs()
        .chain(jaq_std::funs())
        .chain(jaq_json::funs())
        .filter(|(name, ..)| stored(name));
    let arena = Arena::default();
    let file = File { code: source, path: () };
    let modules = Loader::new(defs).load(&arena, file).map_err(|_| NO_EXPRESSION.to_owned())?;
    jaq_core::load::import(&modules, |_| Err(String::new()))
        .map_err(|_| format!("{NO_EXPRESSION}: it cannot import a file"))?;
    let names = variables.iter().map(|(name, _)| name.as_str());
    Compiler::default().with_funs(funs).with_global_vars(names).compile(modules).map_err(|errors| {
        let unknown = errors.first().and_then(|(_, errors)| errors.first());
        unknown.map_or(NO_EXPRESSION.to_owned(), |(name, _)| {
            format!("{} is not defined", name.escape_debug())
        })
    })
}

/// The filter's outputs as JSON, one per line.
pub(super) fn evaluate(source: &str, variables: &Variables, input: &str) -> Result<String, String> {
    let filter = compile(source, variables)?;
    let parse = |text: &str| {
        jaq_json::read::parse_single(text.as_bytes()).map_err(|error| error.to_string())
    };
    let input = parse(input)?;
    let values = variables.iter().map(|(_, value)| parse(value));
    let values = values.collect::<Result<Vec<Val>, String>>()?;
    let context = Ctx::<JustLut<Val>>::new(&filter.lut, Vars::new(values));
    let mut lines = String::new();
    for output in filter.id.run((context, input)) {
        let output = output.map_err(|exception| match exception.get_err() {
            Ok(error) => without_document(&error.to_string()),
            Err(_) => "ended early".to_owned(),
        })?;
        let line = output.to_string();
        // jaq has values that JSON has not: NaN, infinities, bytes, keys other than strings.
        if serde_json::from_str::<&RawValue>(&line).is_err() {
            return Err(format!("returns {line}, which is not JSON"));
        }
        lines = lines + &line + "\n";
        if lines.len() > LONGEST_TEXT {
            return Err("returns more than 64 MB".to_owned());
        }
    }
    Ok(lines)
}

/// An error of jaq with the kind of a list or object in place of its content.
fn without_document(message: &str) -> String {
    let Some(start) = message.find(['[', '{']) else { return message.to_owned() };
    let (before, rest) = message.split_at(start);
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => {
            let kind = if rest.starts_with('[') { "an array" } else { "an object" };
            format!("{before}{kind}{}", &rest[values.byte_offset()..])
        }
        _ => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(source: &str) -> Result<String, String> {
        evaluate(source, &[], r#"{"id": "bk_1", "n": 1, "list": [{"b": 1, "a": 2}]}"#)
    }

    /// One output that is a string, without its quotes; any other as JSON.
    fn one(source: &str) -> Result<String, String> {
        let output = lines(source)?;
        let string = serde_json::from_str::<String>(&output);
        Ok(string.unwrap_or_else(|_| output.trim_end().to_owned()))
    }

    #[test]
    fn error_names_a_document_by_its_kind() {
        for (source, why) in [
            (".list.id", "cannot index an array with \"id\""),
            (".id.x", "cannot index \"bk_1\" with \"x\""),
        ] {
            assert_eq!(lines(source).unwrap_err(), why);
        }
    }

    #[test]
    fn outputs_are_json_in_their_own_order_one_a_line() {
        assert_eq!(lines(".id, .n, .list[0]").unwrap(), "\"bk_1\"\n1\n{\"b\":1,\"a\":2}\n");
        assert_eq!(lines("empty").unwrap(), "");
    }

    /// As jq 1.7 writes them.
    #[test]
    fn formats_that_jaq_lacks_or_writes_otherwise_are_there() {
        let row = r#"[1, "a\"b\tc\\", "", null, true, 1.5]"#;
        for (filter, line) in [
            ("@csv", "1,\"a\"\"b\tc\\\",\"\",,true,1.5"),
            ("@tsv", "1\ta\"b\\tc\\\\\t\t\ttrue\t1.5"),
            ("@html", r#"[1,&quot;a\&quot;b\tc\\&quot;,&quot;&quot;,null,true,1.5]"#),
        ] {
            let written = one(&format!("{row} | {filter}"));
            assert_eq!(written, Ok(line.to_owned()), "{filter}");
        }
        for (filter, line) in [
            (r#"["a\nb\r"] | @tsv"#, r"a\nb\r"),
            (r#"[[1, "x"], []] | map(@csv) | tojson"#, r#"["1,\"x\"",""]"#),
            (r#""é&<'\">" | @html"#, "é&amp;&lt;&#39;&quot;&gt;"),
            (r#"@tsv "\([.id, .n])!""#, "bk_1\t1!"),
        ] {
            assert_eq!(one(filter), Ok(line.to_owned()), "{filter}");
        }
        assert!(lines("@csv").unwrap_err().contains("not an array"));
        assert!(lines("[{}] | @tsv").unwrap_err().contains("row"));
    }

    #[test]
    fn what_json_cannot_hold_is_an_error() {
        assert_eq!(lines("[1.0, 0.1, 1e1000]").unwrap(), "[1.0,0.1,1e1000]\n");
        for source in ["nan", "[infinite]", "{(1, null): 2}"] {
            assert!(lines(source).unwrap_err().contains("not JSON"), "{source}");
        }
    }
}
