//! Parsing a saved HTTP request.

pub(crate) struct SavedRequest {
    /// Names, and values without surrounding blanks.
    headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
}

impl SavedRequest {
    /// Parses request line, headers, an empty line and the body. Lines may end in CRLF or LF. The `> ` that `curl -v`
    /// puts before each line of the head is removed, and its `* ` lines are skipped. What follows the `Content-Length` is
    /// no part of the body.
    ///
    /// # Errors
    /// Why the text is not a request, as the end of a sentence "the file …".
    pub(crate) fn parse(text: &[u8]) -> Result<Self, &'static str> {
        let mut rest = text;
        let mut headers = None;
        let body = loop {
            let end = rest.iter().position(|byte| *byte == b'\n');
            let (line, after) = rest.split_at(end.ok_or("has no empty line after its headers")?);
            rest = &after[1..];
            let line = line.strip_prefix(b">").unwrap_or(line).trim_ascii();
            if line.starts_with(b"* ") {
                continue;
            }
            let Some(headers) = &mut headers else {
                if !line.windows(6).any(|it| it == b" HTTP/") {
                    return Err(
                        "does not begin with a request line, such as POST /webhooks HTTP/1.1",
                    );
                }
                headers = Some(Vec::new());
                continue;
            };
            if line.is_empty() {
                break rest;
            }
            let colon = line.iter().position(|byte| *byte == b':');
            let (name, value) =
                line.split_at(colon.ok_or("has a line among its headers that is not a header")?);
            let name = String::from_utf8_lossy(name).trim().to_owned();
            headers.push((name, value[1..].trim_ascii().to_owned()));
        };
        let mut request = SavedRequest {
            headers: headers.unwrap_or_default(),
            body: body.to_vec(),
        };
        if request.header("Transfer-Encoding").is_some() {
            return Err("has a body in chunks; save the body alone, and pass --signature");
        }
        if let Some(length) = request.header("Content-Length") {
            let length = str::from_utf8(&length).ok().and_then(|it| it.parse().ok());
            let length = length.ok_or("has a Content-Length that is not a number")?;
            request.body.truncate(length);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_may_end_in_lf_or_crlf_and_have_the_prefixes_of_curl() {
        for text in [
            &b"POST /w HTTP/1.1\r\nA-B:  x \r\na-b: y\r\n\r\nbody\r\n"[..],
            b"POST /w HTTP/1.1\nA-B: x\na-b:y\n\nbody\r\n",
            b"* Connected\n> POST /w HTTP/2\n> A-B: x\n> a-b: y\n>\nbody\r\n",
            b"> POST /w HTTP/1.1\r\n> A-B: x\r\n> a-b: y\r\n> \r\nbody\r\n",
            b"POST / HTTP/1.1\nA-B: x\na-b: y\nContent-Length: 6\n\nbody\r\nmore",
        ] {
            let request = SavedRequest::parse(text).unwrap();
            assert_eq!(request.header("a-B"), Some(b"x,y".to_vec()));
            assert_eq!(request.header("y"), None);
            assert_eq!(request.body, b"body\r\n");
        }
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
            "POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n0\n",
        ] {
            assert!(SavedRequest::parse(text.as_bytes()).is_err(), "{text:.40}");
        }
    }
}
