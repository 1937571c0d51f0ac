//! Reading a body as raw bytes, from a file or standard input, in pieces so that it need not fit into memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

/// The size of a piece in bytes.
const PIECE: usize = 256 * 1024;

/// The source of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Stdin,
    File(PathBuf),
}

impl Source {
    /// Parses `FILE`, or `-` for standard input.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "" => Err("the file's name is empty".to_owned()),
            "-" => Ok(Source::Stdin),
            path => Ok(Source::File(path.into())),
        }
    }

    /// Its name in messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Source::Stdin => "standard input".to_owned(),
            Source::File(path) => path.display().to_string(),
        }
    }

    /// Opens it for reading.
    pub(crate) fn open(&self) -> io::Result<Box<dyn Read>> {
        Ok(match self {
            Source::Stdin => Box::new(io::stdin().lock()),
            Source::File(path) => {
                // Opening a folder succeeds; only reading it fails, with a worse message.
                if path.is_dir() {
                    return Err(io::ErrorKind::IsADirectory.into());
                }
                Box::new(File::open(path)?)
            }
        })
    }
}

/// Reads to the end and passes each piece to `take`.
pub(crate) fn each_piece(mut body: impl Read, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        match body.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(length) => take(&piece[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
