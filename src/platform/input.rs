//! Reads standard input or a file, up to a limit, as spreadsheets and PowerShell encode it.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Stdin,
    File(PathBuf),
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Self {
        if path.as_os_str() == "-" { Source::Stdin } else { Source::File(path) }
    }
}

impl Source {
    /// Parses `FILE`, or `-` for standard input.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "" => Err("the file's name is empty".to_owned()),
            path => Ok(PathBuf::from(path).into()),
        }
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Source::Stdin => "standard input".to_owned(),
            Source::File(path) => path.display().to_string(),
        }
    }

    pub(crate) fn open(&self) -> io::Result<Box<dyn Read>> {
        Ok(match self {
            Source::Stdin => Box::new(io::stdin().lock()),
            Source::File(path) => Box::new(File::open(path)?),
        })
    }
}

/// The whole text of a source of at most `most` bytes (else `FileTooLarge`), without a byte order
/// mark. It is UTF-8, or UTF-16 with a byte order mark (else `InvalidData`).
pub(crate) async fn read_text(source: Source, most: u64) -> io::Result<String> {
    text(read_bytes(source, most).await?)
}

/// The bytes of a source. A thread reads them, so that Ctrl-C works while a pipe is silent.
pub(crate) async fn read_bytes(source: Source, most: u64) -> io::Result<Vec<u8>> {
    let read = tokio::task::spawn_blocking(move || bounded(source.open()?, most));
    read.await.unwrap_or_else(|_| Err(ErrorKind::Interrupted.into()))
}

/// Everything that `from` holds, if that is at most `most` bytes.
pub(crate) fn bounded(from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let why = format!("it is larger than {} MB", most / 1024 / 1024);
        return Err(io::Error::new(ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}

/// The bytes as text, without a byte order mark.
pub(super) fn text(bytes: Vec<u8>) -> io::Result<String> {
    let invalid = |why: &str| io::Error::new(ErrorKind::InvalidData, why);
    let utf16 = |unit: fn([u8; 2]) -> u16| {
        let pairs = bytes.chunks_exact(2);
        if !pairs.remainder().is_empty() {
            return Err(invalid("it ends in the middle of a UTF-16 character"));
        }
        let units = pairs.map(|pair| unit([pair[0], pair[1]]));
        let text: Result<String, _> = char::decode_utf16(units).collect();
        text.map_err(|_| invalid("it begins as UTF-16 and is not valid UTF-16"))
    };
    let text = match bytes.as_slice() {
        [0xff, 0xfe, ..] => utf16(u16::from_le_bytes)?,
        [0xfe, 0xff, ..] => utf16(u16::from_be_bytes)?,
        _ => String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
            invalid(&format!("line {line} is not UTF-8"))
        })?,
    };
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn encodings_of_spreadsheets_are_read() {
        let little: Vec<u8> = "\u{feff}Zoë 🍣".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = "\u{feff}Zoë 🍣".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(text(little).unwrap(), "Zoë 🍣");
        assert_eq!(text(big).unwrap(), "Zoë 🍣");
        assert_eq!(text("Zoë".into()).unwrap(), "Zoë");
        assert_eq!(text("a\0b".into()).unwrap(), "a\0b");
        for (bytes, sentence) in [
            (&b"a\nb\nZo\xeb\n"[..], "line 3"),
            (b"\xff\xfeA\0B", "in the middle"),
            (b"\xff\xfe\x00\xd8", "UTF-16"),
        ] {
            let reported = text(bytes.to_vec()).unwrap_err().to_string();
            assert!(reported.contains(sentence), "{reported}");
        }
    }
}
