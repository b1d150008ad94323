//! Addresses to listen on, and sockets bound to them.

use std::{
    fmt, fs, io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
    str::FromStr,
};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, UnixListener};

/// Connections that may wait to be accepted; the system caps it at its own limit.
const BACKLOG: i32 = 4096;

/// Where to listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListenAddress {
    /// An IP address and a port; port 0 asks the system for a free one.
    Tcp(SocketAddr),
    /// A Unix domain socket.
    Unix(PathBuf),
}

impl FromStr for ListenAddress {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(path) = text.strip_prefix("unix:") {
            return if path.is_empty() { Err("a path follows unix:") } else { Ok(Self::Unix(path.into())) };
        }
        let address = text.parse();
        address.map(Self::Tcp).map_err(|_| "an address is IP:PORT, [IPV6]:PORT or unix:PATH, such as 127.0.0.1:8080")
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl ListenAddress {
    /// The address to give a browser: `http://IP:PORT`, or the path of the socket.
    pub fn url(&self) -> String {
        match self {
            Self::Tcp(address) => format!("http://{address}"),
            Self::Unix(_) => self.to_string(),
        }
    }

    /// The address under which this machine reaches what listens here: any address becomes the loopback one.
    #[must_use]
    pub fn from_here(&self) -> Self {
        let mut address = self.clone();
        if let Self::Tcp(address) = &mut address
            && address.ip().is_unspecified()
        {
            address.set_ip(if address.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() });
        }
        address
    }

    /// Binds and listens. Needs a tokio runtime.
    pub fn bind(&self) -> io::Result<Listener> {
        match self {
            Self::Tcp(address) => bind_tcp(*address).map(Listener::Tcp),
            Self::Unix(path) => bind_unix(path),
        }
    }
}

fn bind_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
    if address.is_ipv6() {
        // [::] takes IPv4 too, whatever the system's default.
        socket.set_only_v6(false)?;
    }
    // A restart need not wait until the connections before it are forgotten.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

fn bind_unix(path: &Path) -> io::Result<Listener> {
    let listener = match UnixListener::bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_left_over(path) => {
            fs::remove_file(path)?;
            UnixListener::bind(path)
        }
        bound => bound,
    }?;
    Ok(Listener::Unix { listener, file: SocketFile(path.to_owned()) })
}

/// Whether there is a socket to which nobody listens any more.
fn is_left_over(path: &Path) -> bool {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.file_type().is_socket());
    let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    is_socket && std::os::unix::net::UnixStream::connect(path).is_err_and(refused)
}

/// A bound socket.
#[derive(Debug)]
pub enum Listener {
    /// Of an IP address.
    Tcp(TcpListener),
    /// Of a path.
    Unix {
        /// The socket.
        listener: UnixListener,
        /// Its place in the file system.
        file: SocketFile,
    },
}

impl Listener {
    /// Where it listens, with the port that the system gave it.
    ///
    /// # Panics
    ///
    /// If the system does not know the address of a socket that it has bound.
    pub fn address(&self) -> ListenAddress {
        match self {
            Self::Tcp(listener) => ListenAddress::Tcp(listener.local_addr().expect("a bound socket has an address")),
            Self::Unix { file, .. } => ListenAddress::Unix(file.0.clone()),
        }
    }
}

/// Removes the socket's file when the listener goes.
#[derive(Debug)]
pub struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_as_they_are_written() {
        for text in ["127.0.0.1:8080", "[::]:8080", "unix:/run/homebody.sock"] {
            assert_eq!(text.parse::<ListenAddress>().map(|address| address.to_string()).as_deref(), Ok(text));
        }
        for bad in ["", "8080", ":8080", "localhost:8080", "127.0.0.1", "127.0.0.1:80800", "unix:"] {
            assert!(bad.parse::<ListenAddress>().is_err(), "{bad}");
        }
    }

    #[test]
    fn any_address_is_reached_from_here_by_loopback() {
        let from_here = |text: &str| text.parse().map(|address: ListenAddress| address.from_here().to_string());
        assert_eq!(from_here("0.0.0.0:8081").as_deref(), Ok("127.0.0.1:8081"));
        assert_eq!(from_here("[::]:8081").as_deref(), Ok("[::1]:8081"));
        assert_eq!(from_here("10.0.0.1:8081").as_deref(), Ok("10.0.0.1:8081"));
    }
}
