//! Whom to trust: the authorities that browsers trust, built in, or those of a file.

use std::{io, path::Path, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};

/// The configuration of a client that trusts whom `roots` (a PEM file of certificates) vouches for, or without it the
/// authorities that browsers trust.
pub(super) fn client(roots: Option<&Path>) -> io::Result<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has what TLS 1.2 and 1.3 need")
        .with_root_certificates(trusted(roots)?)
        .with_no_client_auth())
}

fn trusted(roots: Option<&Path>) -> io::Result<RootCertStore> {
    let Some(file) = roots else {
        return Ok(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.into() });
    };
    let mut store = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(file).map_err(io::Error::other)?;
    for certificate in certificates {
        store.add(certificate.map_err(io::Error::other)?).map_err(io::Error::other)?;
    }
    if store.is_empty() {
        return Err(io::Error::other("no certificate in it"));
    }
    Ok(store)
}
