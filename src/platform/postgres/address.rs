//! Where a PostgreSQL database is, and how it is connected to: what its URL says.

use std::fmt;
use std::path::PathBuf;

use crate::outcome::{Error, Result};

/// A database's URL, without its password.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address {
    encryption: Encryption,
    /// The authorities that sign the server's certificate, instead of the system's.
    pub(crate) root_file: Option<PathBuf>,
    /// The host as it is shown: a name, an address or the folder of a socket.
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: Option<String>,
    pub(crate) database: Option<String>,
    /// Further settings of the session, as libpq's `options`.
    pub(crate) options: Option<String>,
    password: Option<String>,
}

/// Whether the connection is encrypted. There is no mode in which it may or may not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encryption {
    /// With the server's certificate and name verified.
    Verified,
    None,
}

/// Where a socket is, if the URL names no host.
const SOCKET_FOLDER: &str = "/var/run/postgresql";

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The URL as it may be shown.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = self.user.as_ref().map(|user| format!("{user}@"));
        let database = self.database.as_deref().unwrap_or_default();
        write!(f, "{}{}/{database}", user.unwrap_or_default(), self.place())
    }
}

impl Address {
    /// Reads a URL. `source` is what it comes from, for the error.
    pub(crate) fn parse(text: &str, source: &str) -> Result<Self> {
        let refuse = |why: &str| {
            Error::config(format!("{source} {why}")).hint(
                "write it as postgresql://USER@HOST/DATABASE?sslmode=verify-full, or leave it out for the local file",
            )
        };
        let rest = ["postgresql://", "postgres://"]
            .iter()
            .find_map(|scheme| text.strip_prefix(scheme))
            .ok_or_else(|| refuse("is not a postgresql:// URL"))?;
        let (base, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = base.split_once('/').unwrap_or((base, ""));
        let (login, place) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        if database.contains('@') {
            return Err(refuse(
                "has an @ where the name of the database should be; in a user or a password write / as %2F, ? as %3F and @ as %40",
            ));
        }
        if place.contains(',') {
            return Err(refuse("names several hosts; name one"));
        }
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, port),
            _ => (place, ""),
        };
        let decoded = |text: &str| decoded(text).ok_or_else(|| refuse("has a wrong % in it"));
        let mut address = Address {
            encryption: Encryption::Verified,
            root_file: None,
            host: decoded(host.trim_matches(['[', ']']))?,
            port: match port {
                "" => 5432,
                port => port.parse().map_err(|_| refuse("has an impossible port"))?,
            },
            user: Some(decoded(user)?).filter(|user| !user.is_empty()),
            database: Some(decoded(database)?).filter(|name| !name.is_empty()),
            options: None,
            password: Some(decoded(password)?).filter(|password| !password.is_empty()),
        };
        let mut mode = None;
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            match key {
                "sslmode" => mode = Some(value.to_owned()),
                "sslrootcert" => address.root_file = Some(PathBuf::from(decoded(value)?)),
                "host" => address.host = decoded(value)?,
                "password" => address.password = Some(decoded(value)?),
                "options" => address.options = Some(decoded(value)?),
                // The name is not repeated: it may be a part of a password.
                _ => {
                    return Err(refuse(
                        "has a parameter that is not known here; known are sslmode, sslrootcert, host, password and options",
                    ));
                }
            }
        }
        if address.host.is_empty() {
            SOCKET_FOLDER.clone_into(&mut address.host);
        }
        address.encryption = match mode.as_deref() {
            None if address.is_local() => Encryption::None,
            None | Some("require" | "verify-ca" | "verify-full") => Encryption::Verified,
            Some("disable") => Encryption::None,
            Some(mode) => {
                return Err(refuse(&format!(
                    "has sslmode={mode}; it is verify-full, or disable for a connection that is not encrypted"
                )));
            }
        };
        Ok(address)
    }

    pub(crate) fn password(&self) -> Option<&str> {
        self.password.as_deref()
    }

    pub(super) fn encryption(&self) -> Encryption {
        if self.is_socket() {
            Encryption::None
        } else {
            self.encryption
        }
    }

    /// The host and the port, as they are shown.
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
        let is_loopback = |host: &str| {
            host.parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback())
        };
        self.is_socket() || self.host == "localhost" || is_loopback(&self.host)
    }

    /// The password of the line in a `.pgpass` file that fits, as libpq finds it.
    pub(crate) fn password_in(&self, pgpass: &str, user: &str) -> Option<String> {
        let host = if self.is_socket() {
            "localhost"
        } else {
            &self.host
        };
        let port = self.port.to_string();
        let database = self.database.as_deref().unwrap_or(user);
        let wanted = [host, &port, database, user];
        let lines = pgpass.lines().filter(|line| !line.starts_with('#'));
        lines.map(fields).find_map(|fields| {
            let [.., password] = fields.as_slice() else {
                return None;
            };
            let fits = |(field, wanted): (&String, &&str)| field == "*" || field == wanted;
            (fields.len() == 5 && fields.iter().zip(&wanted).all(fits)).then(|| password.clone())
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

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let (high, low) = (digit(rest.next())?, digit(rest.next())?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Address> {
        Address::parse(text, "journal")
    }

    #[test]
    fn a_connection_is_verified_unless_it_stays_on_this_machine_or_disable_is_said() {
        for (url, encryption) in [
            ("postgresql://u@db.internal/b", Encryption::Verified),
            (
                "postgresql://u@db.internal/b?sslmode=require",
                Encryption::Verified,
            ),
            (
                "postgresql://u@db.internal/b?sslmode=disable",
                Encryption::None,
            ),
            ("postgresql://u@127.0.0.1/b", Encryption::None),
            ("postgresql://u@[::1]:6432/b", Encryption::None),
            (
                "postgresql://u@localhost/b?sslmode=verify-full",
                Encryption::Verified,
            ),
            (
                "postgresql:///b?host=/tmp/s&sslmode=verify-full",
                Encryption::None,
            ),
            ("postgresql://u@%2Ftmp%2Fs/b", Encryption::None),
        ] {
            assert_eq!(read(url).unwrap().encryption(), encryption, "{url}");
        }
        for mode in ["prefer", "allow", "verify"] {
            let url = format!("postgresql://db.internal/b?sslmode={mode}");
            assert!(read(&url).unwrap_err().message.contains("verify-full"));
        }
    }

    #[test]
    fn what_is_shown_of_a_url_is_where_it_leads_and_never_a_password() {
        let address = read("postgresql://ada:geheim@db.internal:6432/bookctl").unwrap();
        assert_eq!(address.password(), Some("geheim"));
        assert_eq!(address.to_string(), "ada@db.internal:6432/bookctl");
        assert!(!format!("{address:?}").contains("geheim"));
        assert_eq!(read("postgresql://ada@db/b").unwrap().password(), None);
        assert!(
            read("postgresql://db/b?password=x")
                .unwrap()
                .password()
                .is_some()
        );
        // What a person writes who does not know that a password has to be encoded.
        for url in [
            "postgresql://u:1234/geheim@127.0.0.1/b",
            "postgresql://u:12?geheim@127.0.0.1/b",
            "postgresql://u:1:2@x/geheim@127.0.0.1/b",
            "postgresql://u@x/b?password=a&geheim",
        ] {
            let refused = read(url).unwrap_err();
            assert!(!refused.message.contains("geheim"), "{}", refused.message);
        }
        for wrong in [
            "mysql://db/b",
            "db.internal",
            "postgresql://db:port/b",
            "postgresql://a,b/c",
            "postgresql://%zz/c",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_first_line_of_pgpass_that_fits_has_the_password() {
        let pgpass = "# comment\ndb.internal:5432:other:ada:no\n*:*:bookctl:ada:a\\:b\\\\c:d\n*:*:*:*:last\n";
        let found = |url: &str, user: &str| read(url).unwrap().password_in(pgpass, user);
        let first = Some("a:b\\c:d".to_owned());
        assert_eq!(found("postgresql://db.internal/bookctl", "ada"), first);
        assert_eq!(
            found("postgresql:///bookctl", "bob").as_deref(),
            Some("last")
        );
        assert_eq!(
            read("postgresql://x/y")
                .unwrap()
                .password_in("x:1:y:u:p", "u"),
            None
        );
    }
}
