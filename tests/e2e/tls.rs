//! TLS: each failure in our words with what mends it, for the service and for a handler.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::harness::{Home, Owned, has, installed, skipped};

/// An authority, and what it signs; and a certificate that is its own authority.
const CERTIFICATES: &str = r#"cd "$0"; touch index
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=tests -addext subjectAltName=IP:127.0.0.1 -keyout own.key -out own.crt
printf '[ca]\ndatabase=index\nnew_certs_dir=.\nserial=serial\ndefault_md=sha256\npolicy=any\ncopy_extensions=copy\n[any]\n' > conf
for made in good/IP:127.0.0.1/300101 other/DNS:o.example/300101 expired/IP:127.0.0.1/210101; do
  IFS=/ read -r name host end <<< "$made"
  openssl req -newkey rsa:2048 -nodes -subj "/CN=$name" -addext "subjectAltName=$host" -keyout "$name.key" -out "$name.csr"
  openssl ca -batch -config conf -name ca -cert own.crt -keyfile own.key -rand_serial -notext \
    -startdate 200101000000Z -enddate "${end}000000Z" -in "$name.csr" -out "$name.crt"
done"#;

/// Answers each request with a booking; over TLS if it gets a certificate with its key.
const SERVER: &str = r#"import http.server, ssl, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.rfile.read(int(self.headers.get("content-length") or 0))
        body = b'{"id":"bk_1","object":"booking","status":"confirmed","provider":"a"}'
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_POST = do_GET
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
if sys.argv[1:]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*sys.argv[1:])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()"#;

struct Server {
    _child: Owned,
    url: String,
}

impl Server {
    fn start(folder: &Path, certificate: &str) -> Self {
        let mut command = Command::new("python3");
        command.args(["-c", SERVER]).current_dir(folder);
        if !certificate.is_empty() {
            command.args([format!("{certificate}.crt"), format!("{certificate}.key")]);
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Server { _child: Owned(child), url: format!("https://127.0.0.1:{}", port.trim()) }
    }
}

#[test]
fn tls_failure_is_named_with_what_mends_it() {
    if ["openssl", "python3", "bash"].iter().any(|it| !installed(it)) {
        return skipped("openssl or python3 is missing");
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let made = Command::new("bash").args(["-ec", CERTIFICATES]).arg(folder).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let authority = folder.join("own.crt");
    let authority = authority.to_str().unwrap();
    for (certificate, is_trusted, why, hint) in [
        ("own", true, "self-signed", "CA:FALSE"),
        ("good", false, "an authority that this computer does not trust", "ca_file=FILE"),
        ("other", true, "for another host", "host name"),
        ("expired", true, "expired", "clock"),
        ("", true, "does not speak TLS", "http"),
        ("good", true, "", ""),
    ] {
        let server = Server::start(folder, certificate);
        let trust = format!("ca_file = '{authority}'\n");
        let home = Home::new()
            .with_profile("acme", &server.url, if is_trusted { &trust } else { "" })
            .with("BOOKCTL_API_KEY", "sk_test_tls_0001")
            .with("BOOKCTL_WEBHOOK_SECRET", "whsec_tls");
        let show = home.run(["show", "bk_1", "--json"]);
        let send = ["webhook", "send", "booking.confirmed", "--to", &server.url, "--json"];
        let sent = home.run(send);
        if why.is_empty() {
            show.exits(0);
            sent.exits(0);
            let other = Home::new().with("BOOKCTL_WEBHOOK_SECRET", "whsec_tls");
            let ca_file = ["--ca-file", authority];
            other.ok(send.iter().chain(&ca_file));
            continue;
        }
        let of_handler: serde_json::Value =
            serde_json::from_str(sent.stderr.lines().last().unwrap()).unwrap();
        for error in [show.refused(15, "network"), of_handler["error"].clone()] {
            has(&error, "message", why);
            has(&error, "hint", hint);
        }
    }
}
