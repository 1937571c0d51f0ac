use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The address at which this machine reaches a server: one that listens on every address has none of its own.
pub(crate) fn own_address(listens_on: SocketAddr) -> SocketAddr {
    let loopback: IpAddr = match listens_on {
        SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    if listens_on.ip().is_unspecified() {
        SocketAddr::new(loopback, listens_on.port())
    } else {
        listens_on
    }
}
