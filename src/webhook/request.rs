//! Parsing a saved HTTP request.

pub(crate) struct SavedRequest {
    /// Names, and values without surrounding blanks.
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    /// The body, decoded if it is chunked.
    pub(crate) body: Vec<u8>,
    /// How many bytes of the `Content-Length` are missing.
    pub(crate) missing: usize,
}

impl SavedRequest {
    /// Parses request line, headers, an empty line and the body. Lines may end in CRLF or LF. The `> ` that `curl -v`
    /// puts before each line of the head is removed, and its `* ` lines are skipped.
    ///
    /// # Errors
    /// Why the text is not a request, as the end of a sentence "the file …".
    pub(crate) fn parse(text: &[u8]) -> Result<Self, &'static str> {
        let mut rest = text;
        let mut next = || loop {
            let line = head_line(&mut rest)?;
            if !line.starts_with(b"* ") {
                return Ok::<_, &'static str>(line);
            }
        };
        if !is_request_line(next()?) {
            return Err("does not begin with a request line, such as POST /webhooks HTTP/1.1");
        }
        let mut headers: Vec<(String, Vec<u8>)> = Vec::new();
        loop {
            let line = next()?;
            if line.is_empty() {
                break;
            }
            let colon = line.iter().position(|byte| *byte == b':');
            let colon = colon
                .filter(|colon| *colon > 0)
                .ok_or("has a line among its headers that is not a header")?;
            let name = String::from_utf8_lossy(&line[..colon]).trim().to_owned();
            headers.push((name, line[colon + 1..].trim_ascii().to_owned()));
        }
        let mut request = SavedRequest {
            headers,
            body: rest.to_vec(),
            missing: 0,
        };
        let text_of = |name| {
            let value = request.header(name)?;
            Some(String::from_utf8_lossy(&value).to_ascii_lowercase())
        };
        if text_of("transfer-encoding").is_some_and(|it| it.ends_with("chunked")) {
            request.body = joined_chunks(rest)?;
        } else if let Some(length) = text_of("content-length") {
            let length: usize = length
                .parse()
                .map_err(|_| "has a Content-Length that is not a number")?;
            request.body.truncate(length);
            request.missing = length - request.body.len();
        }
        Ok(request)
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

/// Takes a line, without its end.
fn line<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let (line, after) = rest.split_at(end);
    *rest = &after[1..];
    Some(line.strip_suffix(b"\r").unwrap_or(line))
}

/// Takes a line of the head, without the `> ` of `curl -v`.
fn head_line<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], &'static str> {
    let line = line(rest).ok_or("has no empty line after its headers")?;
    let unmarked = line.strip_prefix(b">").map(<[u8]>::trim_ascii_start);
    Ok(unmarked.unwrap_or(line))
}

fn joined_chunks(mut rest: &[u8]) -> Result<Vec<u8>, &'static str> {
    let mut body = Vec::new();
    loop {
        let size = line(&mut rest).and_then(|line| {
            let line = str::from_utf8(line).ok()?;
            usize::from_str_radix(line.split(';').next()?.trim(), 16).ok()
        });
        let size = size.ok_or("has a chunk whose size is not a number")?;
        if size == 0 {
            return Ok(body);
        }
        let (chunk, after) = rest
            .split_at_checked(size)
            .ok_or("has an incomplete last chunk")?;
        body.extend_from_slice(chunk);
        rest = after;
        // The line end after the chunk.
        line(&mut rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> SavedRequest {
        SavedRequest::parse(text).unwrap()
    }

    #[test]
    fn lines_may_end_in_lf_or_crlf_and_have_the_prefixes_of_curl() {
        for text in [
            &b"POST /w HTTP/1.1\r\nA-B:  x \r\n\r\nbody\r\n"[..],
            b"POST /w HTTP/1.1\nA-B: x\n\nbody\r\n",
            b"* Connected\n> POST /w HTTP/2\n> A-B: x\n>\nbody\r\n",
            b"> POST /w HTTP/1.1\r\n> A-B: x\r\n> \r\nbody\r\n",
        ] {
            let request = read(text);
            assert_eq!(request.headers, [("A-B".to_owned(), b"x".to_vec())]);
            assert_eq!(request.body, b"body\r\n");
        }
    }

    #[test]
    fn a_body_is_as_long_as_its_length_says_and_what_is_missing_is_counted() {
        let request = read(b"POST / HTTP/1.1\nContent-Length: 4\n\nbody\n");
        assert_eq!((&request.body[..], request.missing), (&b"body"[..], 0));
        let request = read(b"POST / HTTP/1.1\nContent-Length: 9\n\nbody");
        assert_eq!((&request.body[..], request.missing), (&b"body"[..], 5));
    }

    #[test]
    fn chunks_are_joined() {
        let head = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        let chunks = b"3;x=y\r\nbod\r\nA\r\ny\n\r\n456789\r\n0\r\n\r\n";
        let request = read(&[&head[..], chunks].concat());
        assert_eq!(request.body, b"body\n\r\n456789");
        let cut = [&head[..], b"5\r\nbo"].concat();
        assert!(SavedRequest::parse(&cut).is_err());
    }

    #[test]
    fn several_headers_of_one_name_are_joined_by_commas() {
        let request = read(b"POST / HTTP/1.1\nX: 1\nx: 2\n\n");
        assert_eq!(request.header("X"), Some(b"1,2".to_vec()));
        assert_eq!(request.header("y"), None);
    }

    #[test]
    fn what_is_not_a_request_is_refused() {
        for text in [
            "",
            "{\"id\":1}\n",
            "HTTP/1.1 200 OK\n\n",
            "POST / HTTP/1.1\nA: b\n",
            "POST / HTTP/1.1\nno header\n\n",
            "POST / HTTP/1.1\nContent-Length: -1\n\n",
        ] {
            assert!(SavedRequest::parse(text.as_bytes()).is_err(), "{text:.40}");
        }
    }
}
