//! The keys of a file, as the documentation lists them.

/// The keys at the top of the file: name, values, default and meaning, in the order of the documentation.
pub(crate) const SETTINGS: &[(&str, &str, &str, &str)] = &[
    (
        "base_path",
        "a path",
        "none",
        "stands before `/v1`, as `/partner-api`",
    ),
    (
        "number_ids",
        "`true`, `false`",
        "`false`",
        "ids of venues, slots, bookings, sessions and events are whole numbers, which the sandbox's database keeps",
    ),
    (
        "times",
        "`\"rfc3339\"`, `\"epoch\"`, `\"epoch_ms\"`",
        "`\"rfc3339\"`",
        "times are text, or seconds or milliseconds since 1970; in requests too",
    ),
    (
        "local_times",
        "`true`, `false`",
        "`false`",
        "times at the venue (`datetime`, `free_until`) have no offset; in requests they may",
    ),
    (
        "money",
        "`\"minor\"`, `\"decimal\"`, `\"object\"`",
        "`\"minor\"`",
        "amounts are minor units, text as `\"25.00\"`, or `{amount, currency}` with such a text; what the vendor needs stays as it is",
    ),
    (
        "created_status",
        "`200`, `201`",
        "`201`",
        "the status of a fresh booking or session",
    ),
    (
        "paging",
        "`\"none\"`, `\"cursor\"`, `\"link\"`",
        "`\"none\"`",
        "how venues and sessions lead to the next page: `next_cursor` (and `total`) in the body, sent back as `cursor` in the body or the query; or a `Link` header with `rel=\"next\"`, to which the same request is sent again",
    ),
    (
        "page_size",
        "1 to 1000",
        "`10`",
        "how many elements a page has",
    ),
];

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::sandbox::speak::{AnswerKind, RequestKind};

    /// The tables of docs/sandbox.md.
    fn tables() -> String {
        let mut tables =
            String::from("| key | values | default | meaning |\n| --- | --- | --- | --- |\n");
        for (key, values, default, meaning) in SETTINGS {
            tables.push_str(&format!("| `{key}` | {values} | {default} | {meaning} |\n"));
        }
        let reads = RequestKind::TABLE
            .iter()
            .map(|(_, kind, meaning)| ("read", *kind, *meaning));
        let writes = AnswerKind::TABLE
            .iter()
            .map(|(_, kind, meaning)| ("write", *kind, *meaning));
        tables.push_str("\n| expression | document |\n| --- | --- |\n");
        for (table, kind, meaning) in reads.chain(writes) {
            tables.push_str(&format!("| `{table}.{kind}` | {meaning} |\n"));
        }
        tables
    }

    /// `UPDATE_DOCS=1` writes them anew.
    #[test]
    fn the_page_of_the_sandbox_lists_every_key_of_the_file() {
        const BEGIN: &str = "<!-- generated: the keys of a --speak file -->\n";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/sandbox.md");
        let page = fs::read_to_string(&path).unwrap();
        let (before, rest) = page.split_once(BEGIN).unwrap();
        let (stands, after) = rest.split_once("<!-- end -->").unwrap();
        if stands == tables() {
            return;
        }
        let is_updated = std::env::var_os("UPDATE_DOCS").is_some();
        assert!(
            is_updated,
            "docs/sandbox.md has drifted from the code; UPDATE_DOCS=1 writes it anew"
        );
        fs::write(
            &path,
            format!("{before}{BEGIN}{}<!-- end -->{after}", tables()),
        )
        .unwrap();
    }
}
