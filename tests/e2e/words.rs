//! One word for each concept, and plain English: what messages, help and documents do not say.

use std::path::Path;

use crate::rooms;

/// What does not appear, and what does instead. A phrase stands between spaces or punctuation.
const WRONG: &[(&str, &str)] = &[
    (
        "no answer, did not answer, the answer has, the answer is, answered with",
        "response, respond",
    ),
    ("in doubt, unsettled, under way, open attempt, open attempts, intent", "unresolved"),
    ("this attempt, an attempt, the attempts", "the request"),
    ("settle, settled, settles", "resolve"),
    ("speech, speaks, spoken, adapter, contract", "mapping"),
    ("your app, the app, consumers", "handler"),
    ("this machine, another machine, other machines, the machine", "this computer"),
    ("the person, a person, person's", "guest"),
    ("allowance, test allowance", "test quota"),
    ("this window, of the window", "rate limit"),
    ("once_corrected, check_first, not_needed, useless", "after_fix, after_check, no"),
    (
        "embedded sandbox, offline sandbox, ephemeral sandbox, served sandbox",
        "sandbox, sandbox server",
    ),
    (
        "somebody, nobody, whoever, anybody, everybody, what came",
        "who it is: the guest, the service, you",
    ),
    ("says, tells, told", "shows, prints, reports"),
    ("a yes, a no", "after you confirm, unless you confirm"),
    ("at once", "immediately, at the same time"),
    ("where a, where an, where no, where none, where nothing", "if"),
    (
        "is no key, is no file, is no booking, is no id, is no kind, is no setting, is no time",
        "is not a",
    ),
    ("takes a, takes no, take another, taken by, was taken", "book, choose, use, accept"),
    ("blanks, spelling", "spaces"),
    ("impossible, unusable", "invalid"),
    ("colour, behaviour, recognise, organisation, licence, favour, grey", "US spelling"),
];

/// The phrases of a text that do not appear, each with what does instead.
fn wrong(text: &str) -> Vec<String> {
    let letter = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let words = text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let stands = |phrase: &str| {
        words.match_indices(phrase).any(|(at, _)| {
            !words[..at].ends_with(letter) && !words[at + phrase.len()..].starts_with(letter)
        })
    };
    let mut found = Vec::new();
    for (phrases, instead) in WRONG {
        let phrases = phrases.split(", ").filter(|phrase| stands(phrase));
        found.extend(phrases.map(|phrase| format!("{phrase:?} (use: {instead}) in: {text}")));
    }
    found
}

/// The lines of a document without its code.
fn prose(document: &str) -> impl Iterator<Item = String> {
    let outside = document.split("```").step_by(2).flat_map(str::lines);
    outside.map(|line| line.split('`').step_by(2).collect::<Vec<_>>().join("it"))
}

#[test]
fn messages_use_one_word_for_each_concept() {
    let found: Vec<String> = rooms::modules()
        .into_iter()
        .filter(|(module, _)| !module.contains("_model"))
        .flat_map(|(module, code)| {
            let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            let code = code.collect::<Vec<_>>().join(" ");
            let code = code
                .replace("\\\\", "")
                .replace("\\\"", "'")
                .replace("'\"'", "")
                .replace("\\n", " ");
            let strings = code.split('"').skip(1).step_by(2).map(|it| it.replace('\\', ""));
            // The keys of a batch depend on it.
            let of_keys = |it: &str| it == "embedded sandbox" && module.ends_with("keys");
            let sentences =
                strings.filter(|it| it.contains(' ') && !it.contains("SELECT") && !of_keys(it));
            sentences
                .flat_map(|it| wrong(&it))
                .map(|it| format!("{module}: {it}"))
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn help_and_documents_use_one_word_for_each_concept() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = ["docs", "docs/man"].map(|folder| std::fs::read_dir(root.join(folder)).unwrap());
    let files = files.into_iter().flatten().map(|file| file.unwrap().path());
    let mut found = Vec::new();
    for file in files.chain([root.join("README.md")]) {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let name = file.file_name().unwrap().to_str().unwrap();
        let lines: Vec<String> = match name.rsplit_once('.') {
            _ if name == "spec.md" => continue,
            Some((_, "md")) => prose(&text).collect(),
            Some((_, "1")) => text.lines().map(|line| line.replace("\\-", "-")).collect(),
            _ => continue,
        };
        let lines = lines.iter().flat_map(|line| wrong(line));
        found.extend(lines.map(|it| format!("{name}: {it}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
