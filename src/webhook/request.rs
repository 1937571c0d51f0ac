//! Parsing a saved HTTP request.

use std::io::{self, BufRead, BufReader, Read};

/// The largest head, in bytes; servers accept less.
const LARGEST_HEAD: usize = 64 * 1024;

/// A request whose head was parsed; the body is read from the same source.
pub(crate) struct SavedRequest<R> {
    /// Names, and values without surrounding blanks.
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    body: Body<R>,
}

/// Why a file is not a request.
#[derive(Debug)]
pub(crate) enum RequestError {
    Io(io::Error),
    /// The end of a sentence "the file …".
    Invalid(&'static str),
}

impl From<io::Error> for RequestError {
    fn from(error: io::Error) -> Self {
        RequestError::Io(error)
    }
}

impl<R: Read> SavedRequest<R> {
    /// Parses the head: request line, headers, empty line. Lines may end in CRLF or LF. The `> ` that `curl -v` puts
    /// before each line is removed, and its `* ` lines are skipped.
    pub(crate) fn read(from: R) -> Result<Self, RequestError> {
        let mut reader = BufReader::with_capacity(256 * 1024, from);
        let mut left = LARGEST_HEAD;
        let mut next = || loop {
            let line = head_line(&mut reader, &mut left)?;
            if !line.starts_with(b"* ") {
                return Ok::<_, RequestError>(line);
            }
        };
        if !is_request_line(&next()?) {
            return Err(RequestError::Invalid(
                "does not begin with a request line, such as POST /webhooks HTTP/1.1",
            ));
        }
        let mut headers: Vec<(String, Vec<u8>)> = Vec::new();
        loop {
            let line = next()?;
            if line.is_empty() {
                break;
            }
            let colon = line.iter().position(|byte| *byte == b':');
            let (name, value) = match colon {
                Some(colon) if colon > 0 => (&line[..colon], &line[colon + 1..]),
                _ => {
                    return Err(RequestError::Invalid(
                        "has a line among its headers that is not a header",
                    ));
                }
            };
            let name = String::from_utf8_lossy(name).trim().to_owned();
            headers.push((name, value.trim_ascii().to_owned()));
        }
        let framing = framing(&headers)?;
        Ok(SavedRequest {
            headers,
            body: Body { reader, framing },
        })
    }

    /// The value of a header; the values of several with this name are joined by commas, as in HTTP.
    pub(crate) fn header(&self, name: &str) -> Option<Vec<u8>> {
        let values = self
            .headers
            .iter()
            .filter(|(it, _)| it.eq_ignore_ascii_case(name));
        let values: Vec<&[u8]> = values.map(|(_, value)| value.as_slice()).collect();
        (!values.is_empty()).then(|| values.join(&b","[..]))
    }

    /// The body, decoded if it is chunked.
    pub(crate) fn body(&mut self) -> &mut impl Read {
        &mut self.body
    }

    /// How many bytes of the `Content-Length` were missing, after the body was read.
    pub(crate) fn missing(&self) -> u64 {
        match self.body.framing {
            Framing::Length(left) => left,
            Framing::ToTheEnd | Framing::Chunked { .. } => 0,
        }
    }
}

fn is_request_line(line: &[u8]) -> bool {
    let mut words = line.split(|byte| *byte == b' ');
    let method = words.next().unwrap_or_default();
    let version = words.next_back().unwrap_or_default();
    !method.is_empty()
        && method.iter().all(u8::is_ascii_uppercase)
        && words.next().is_some_and(|path| !path.is_empty())
        && version.starts_with(b"HTTP/")
}

/// Reads a line of the head, without its end and without the `> ` of `curl -v`.
fn head_line(reader: &mut impl BufRead, left: &mut usize) -> Result<Vec<u8>, RequestError> {
    let mut line = Vec::new();
    let most = u64::try_from(*left).unwrap_or(u64::MAX);
    let length = reader.take(most).read_until(b'\n', &mut line)?;
    *left -= length;
    if line.pop() != Some(b'\n') {
        return Err(RequestError::Invalid(if *left == 0 {
            "has headers larger than 64 KB"
        } else {
            "has no empty line after its headers"
        }));
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    let unmarked = line.strip_prefix(b">").map(<[u8]>::trim_ascii_start);
    Ok(unmarked.map(<[u8]>::to_vec).unwrap_or(line))
}

/// How the end of the body is found.
enum Framing {
    /// At the end of the file.
    ToTheEnd,
    /// After this many further bytes.
    Length(u64),
    /// After the last chunk; `left` further bytes are in this one.
    Chunked { left: u64, done: bool },
}

fn framing(headers: &[(String, Vec<u8>)]) -> Result<Framing, RequestError> {
    let value = |name: &str| {
        let row = headers.iter().find(|(it, _)| it.eq_ignore_ascii_case(name));
        row.map(|(_, value)| String::from_utf8_lossy(value).to_ascii_lowercase())
    };
    if value("transfer-encoding").is_some_and(|it| it.ends_with("chunked")) {
        return Ok(Framing::Chunked {
            left: 0,
            done: false,
        });
    }
    match value("content-length") {
        None => Ok(Framing::ToTheEnd),
        Some(length) => length
            .parse()
            .map(Framing::Length)
            .map_err(|_| RequestError::Invalid("has a Content-Length that is not a number")),
    }
}

struct Body<R> {
    reader: BufReader<R>,
    framing: Framing,
}

impl<R: Read> Read for Body<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.framing {
            Framing::ToTheEnd => self.reader.read(buffer),
            Framing::Length(left) => read_some(&mut self.reader, buffer, left),
            Framing::Chunked { done: true, .. } => Ok(0),
            Framing::Chunked { left, done } => {
                if *left == 0 {
                    *left = chunk_size(&mut self.reader)?;
                    if *left == 0 {
                        *done = true;
                        return Ok(0);
                    }
                }
                let length = read_some(&mut self.reader, buffer, left)?;
                if length == 0 && !buffer.is_empty() {
                    return Err(bad_chunk("the last chunk is incomplete"));
                }
                if *left == 0 {
                    let mut end = Vec::new();
                    (&mut self.reader).take(2).read_until(b'\n', &mut end)?;
                }
                Ok(length)
            }
        }
    }
}

fn read_some(reader: &mut impl Read, buffer: &mut [u8], left: &mut u64) -> io::Result<usize> {
    let length = reader.take(*left).read(buffer)?;
    *left -= u64::try_from(length).unwrap_or(*left);
    Ok(length)
}

fn chunk_size(reader: &mut impl BufRead) -> io::Result<u64> {
    let mut line = Vec::new();
    reader.take(1024).read_until(b'\n', &mut line)?;
    let line = String::from_utf8_lossy(&line);
    let size = line.split(';').next().unwrap_or_default().trim();
    u64::from_str_radix(size, 16).map_err(|_| bad_chunk("the size of a chunk is not a number"))
}

fn bad_chunk(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> (SavedRequest<&[u8]>, Vec<u8>) {
        let mut request = SavedRequest::read(text).unwrap();
        let mut body = Vec::new();
        request.body().read_to_end(&mut body).unwrap();
        (request, body)
    }

    #[test]
    fn lines_may_end_in_lf_or_crlf_and_have_the_prefixes_of_curl() {
        for text in [
            &b"POST /w HTTP/1.1\r\nA-B:  x \r\n\r\nbody\r\n"[..],
            b"POST /w HTTP/1.1\nA-B: x\n\nbody\r\n",
            b"* Connected\n> POST /w HTTP/2\n> A-B: x\n>\nbody\r\n",
            b"> POST /w HTTP/1.1\r\n> A-B: x\r\n> \r\nbody\r\n",
        ] {
            let (request, body) = read(text);
            assert_eq!(request.headers, [("A-B".to_owned(), b"x".to_vec())]);
            assert_eq!(body, b"body\r\n");
        }
    }

    #[test]
    fn a_body_is_as_long_as_its_length_says_and_what_is_missing_is_counted() {
        let (request, body) = read(b"POST / HTTP/1.1\nContent-Length: 4\n\nbody\n");
        assert_eq!((&body[..], request.missing()), (&b"body"[..], 0));
        let (request, body) = read(b"POST / HTTP/1.1\nContent-Length: 9\n\nbody");
        assert_eq!((&body[..], request.missing()), (&b"body"[..], 5));
    }

    #[test]
    fn chunks_are_joined() {
        let head = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        let chunks = b"3;x=y\r\nbod\r\nA\r\ny\n\r\n456789\r\n0\r\n\r\n";
        let (_, body) = read(&[&head[..], chunks].concat());
        assert_eq!(body, b"body\n\r\n456789");
        let cut = [&head[..], b"5\r\nbo"].concat();
        let mut request = SavedRequest::read(&cut[..]).unwrap();
        assert!(request.body().read_to_end(&mut Vec::new()).is_err());
    }

    #[test]
    fn several_headers_of_one_name_are_joined_by_commas() {
        let request = SavedRequest::read(&b"POST / HTTP/1.1\nX: 1\nx: 2\n\n"[..]).unwrap();
        assert_eq!(request.header("X"), Some(b"1,2".to_vec()));
        assert_eq!(request.header("y"), None);
    }

    #[test]
    fn what_is_not_a_request_is_refused() {
        let long = format!("POST / HTTP/1.1\nX: {}\n\n", "x".repeat(70_000));
        for text in [
            "",
            "{\"id\":1}\n",
            "HTTP/1.1 200 OK\n\n",
            "POST / HTTP/1.1\nA: b\n",
            "POST / HTTP/1.1\nno header\n\n",
            "POST / HTTP/1.1\nContent-Length: -1\n\n",
            &long,
        ] {
            assert!(SavedRequest::read(text.as_bytes()).is_err(), "{text:.40}");
        }
    }
}
