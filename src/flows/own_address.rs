use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The address at which this machine reaches a server: one that listens on every address has none of its own.
pub(crate) fn own_address(listens_on: SocketAddr) -> SocketAddr {
    let loopback: IpAddr = match listens_on {
        SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    match listens_on.ip().is_unspecified() {
        true => SocketAddr::new(loopback, listens_on.port()),
        false => listens_on,
    }
}

#[cfg(test)]
mod tests {
    use super::own_address;

    #[test]
    fn a_server_on_every_address_is_reached_on_loopback_of_its_family() {
        for (listens_on, own) in [
            ("0.0.0.0:4010", "127.0.0.1:4010"),
            ("[::]:4010", "[::1]:4010"),
            ("192.0.2.1:4010", "192.0.2.1:4010"),
            ("127.0.0.1:4010", "127.0.0.1:4010"),
        ] {
            let listens_on = listens_on.parse().unwrap();
            assert_eq!(own_address(listens_on).to_string(), own);
        }
    }
}
