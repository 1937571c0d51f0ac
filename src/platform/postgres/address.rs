//! Where a PostgreSQL database is, and how it is connected to: what its URL says.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::outcome::{Error, Result};

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// Whether the connection is encrypted, with the server's certificate and name verified.
    pub(super) is_encrypted: bool,
    /// The authorities that sign the server's certificate, instead of the system's.
    pub(crate) root_file: Option<PathBuf>,
    /// The host as it is shown: a name, an address or the folder of a socket.
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: Option<String>,
    pub(crate) database: Option<String>,
    /// Further settings of the session, as libpq's `options`.
    pub(crate) options: Option<String>,
    pub(crate) password: Option<String>,
}

/// Where a socket is, if the URL names no host.
const SOCKET_FOLDER: &str = "/var/run/postgresql";

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The URL as it may be shown: without its password.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        let database = self.database.as_deref().unwrap_or_default();
        write!(f, "{}/{database}", self.place())
    }
}

impl Address {
    /// `source` is where the URL comes from. The error repeats no part of a password.
    pub(crate) fn parse(text: &str, source: &str) -> Result<Self> {
        let refuse = |why: &str| {
            Error::config(format!("{source} {why}")).hint(
                "write it as postgresql://USER@HOST/DATABASE?sslmode=verify-full, or leave it out for the local file",
            )
        };
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let (base, query) = text.rsplit_once('?').unwrap_or((text, ""));
        let (mut mode, mut root_file, mut others) = ("", None, Vec::new());
        for pair in query.split('&') {
            match pair.split_once('=') {
                Some(("sslmode", value)) => mode = value,
                Some(("sslrootcert", value)) => root_file = Some(decoded(value).into()),
                _ => others.push(pair),
            }
        }
        let is_url = ["postgresql://", "postgres://"].iter().any(|it| base.starts_with(it));
        let read = format!("{base}?{}", others.join("&")).parse::<Config>().ok().filter(|_| is_url);
        let read = read.ok_or_else(|| refuse("is not a postgresql:// URL"))?;
        if read.get_dbname().is_some_and(|name| name.contains('@')) {
            return Err(refuse(
                "has an @ where the name of the database should be; in a user or a password write / as %2F, ? as %3F and @ as %40",
            ));
        }
        let hosts = read.get_hosts().iter().map(|host| match host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(folder) => folder.display().to_string(),
        });
        let hosts: Vec<_> = hosts.filter(|host| !host.is_empty()).collect();
        if hosts.len() > 1 {
            return Err(refuse("names several hosts; name one"));
        }
        let password = read.get_password().map(String::from_utf8_lossy);
        let mut address = Address {
            is_encrypted: true,
            root_file,
            host: hosts.into_iter().next().unwrap_or(SOCKET_FOLDER.to_owned()),
            port: read.get_ports().first().copied().unwrap_or(5432),
            user: read.get_user().map(str::to_owned),
            database: read.get_dbname().map(str::to_owned),
            options: read.get_options().map(str::to_owned),
            password: password.map(Cow::into_owned),
        };
        address.is_encrypted = match mode {
            "" => !address.is_local(),
            "require" | "verify-ca" | "verify-full" => !address.is_socket(),
            "disable" => false,
            mode => {
                return Err(refuse(&format!(
                    "has sslmode={mode}; it is verify-full, or disable for a connection that is not encrypted"
                )));
            }
        };
        Ok(address)
    }

    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// The name under which a keyring keeps its password.
    pub(crate) fn origin(&self) -> String {
        format!("postgresql://{self}")
    }

    pub(crate) fn is_socket(&self) -> bool {
        self.host.starts_with('/')
    }

    fn is_local(&self) -> bool {
        let number = self.host.parse::<std::net::IpAddr>();
        self.is_socket()
            || self.host == "localhost"
            || number.is_ok_and(|number| number.is_loopback())
    }

    /// The password of the line in a `.pgpass` file that fits, as libpq finds it.
    pub(crate) fn password_in(&self, pgpass: &str, user: &str) -> Option<String> {
        let host = if self.is_socket() { "localhost" } else { &self.host };
        let port = self.port.to_string();
        let wanted = [host, &port, self.database.as_deref().unwrap_or(user), user];
        pgpass.lines().filter(|line| !line.starts_with('#')).map(fields).find_map(|mut fields| {
            let password = fields.pop()?;
            let fits = |(field, wanted): (&String, &&str)| field == "*" || field == wanted;
            (fields.len() == 4 && fields.iter().zip(&wanted).all(fits)).then_some(password)
        })
    }
}

/// The fields of a line of `.pgpass`, in which `\\:` and `\\\\` stand for themselves.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut field) = (Vec::new(), String::new());
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        match sign {
            ':' if fields.len() < 4 => fields.push(std::mem::take(&mut field)),
            '\\' => field.extend(signs.next()),
            sign => field.push(sign),
        }
    }
    fields.push(field);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Address> {
        Address::parse(text, "journal")
    }

    #[test]
    fn connection_is_verified_unless_local_or_disabled() {
        for (url, is_encrypted) in [
            ("postgresql://u@db.internal/b", true),
            ("postgresql://u@db.internal/b?sslmode=require", true),
            ("postgresql://u@db.internal/b?sslmode=disable", false),
            ("postgresql://u@127.0.0.1/b", false),
            ("postgresql://u@[::1]:6432/b", false),
            ("postgresql://u@localhost/b?sslmode=verify-full", true),
            ("postgresql:///b?host=/tmp/s&sslmode=verify-full", false),
            ("postgresql://u@%2Ftmp%2Fs/b", false),
            ("postgresql://u@:6432/b?host=/tmp/s", false),
        ] {
            assert_eq!(read(url).unwrap().is_encrypted, is_encrypted, "{url}");
        }
        for mode in ["prefer", "allow", "verify"] {
            let url = format!("postgresql://db.internal/b?sslmode={mode}");
            assert!(read(&url).unwrap_err().message.contains("verify-full"));
        }
    }

    #[test]
    fn shown_url_has_its_host_and_never_its_password() {
        let address = read("postgresql://ada:geheim@db.internal:6432/bookctl").unwrap();
        assert_eq!(address.password.as_deref(), Some("geheim"));
        assert_eq!(address.to_string(), "ada@db.internal:6432/bookctl");
        assert!(!format!("{address:?}").contains("geheim"));
        assert_eq!(read("postgresql://ada@db/b").unwrap().password, None);
        let given = read("postgresql://db/b?password=a%2Bb").unwrap();
        assert_eq!(given.password.as_deref(), Some("a+b"));
        // What a person writes who does not know that a password has to be encoded.
        for url in
            ["postgresql://u:1:2@x/geheim@127.0.0.1/b", "postgresql://u@x/b?password=a&geheim"]
        {
            let refused = read(url).unwrap_err();
            assert!(!refused.message.contains("geheim"), "{}", refused.message);
        }
        for wrong in ["mysql://db/b", "db.internal", "postgresql://db:port/b", "postgresql://a,b/c"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_first_line_of_pgpass_that_fits_has_the_password() {
        let pgpass = "# comment\ndb.internal:5432:other:ada:no\n*:*:bookctl:ada:a\\:b\\\\c:d\n*:*:*:*:last\n";
        let found = |url: &str, user: &str| read(url).unwrap().password_in(pgpass, user);
        let first = Some("a:b\\c:d".to_owned());
        assert_eq!(found("postgresql://db.internal/bookctl", "ada"), first);
        assert_eq!(found("postgresql:///bookctl", "bob").as_deref(), Some("last"));
        let address = read("postgresql://x/y").unwrap();
        assert_eq!(address.password_in("x:1:y:u:p", "u"), None);
    }
}
