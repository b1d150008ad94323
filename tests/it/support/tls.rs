//! A source over TLS, vouched for by an authority of its own.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    sync::Arc,
    thread,
};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};

/// Serves until the test ends.
pub struct TlsUpstream {
    address: String,
    authority: String,
}

impl TlsUpstream {
    /// Answers every request with this text.
    pub fn start(text: &'static str) -> Self {
        let mut authority = CertificateParams::new([]).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate =
            CertificateParams::new(["127.0.0.1".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();

        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = config.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key).unwrap();
        let config = Arc::new(config);

        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("https://{}/links", listener.local_addr().unwrap());
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
                // A client that does not trust the certificate ends the connection here.
                let _ = answer(StreamOwned::new(connection, stream), text);
            }
        });
        Self { address, authority: authority.pem() }
    }

    pub fn url(&self) -> &str {
        &self.address
    }

    /// The certificate of the authority, as PEM.
    pub fn authority(&self) -> &str {
        &self.authority
    }
}

fn answer(stream: StreamOwned<ServerConnection, std::net::TcpStream>, text: &str) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    while stream.read_line(&mut line)? > 2 {
        line.clear();
    }
    let length = text.len();
    let mut stream = stream.into_inner();
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}")?;
    stream.conn.send_close_notify();
    stream.flush()
}
