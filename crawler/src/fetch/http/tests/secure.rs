//! Over TLS, by HTTP/2, which the server speaks as far as one answer needs it.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

use super::*;
use crate::fetch::Keep;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Types of frames (RFC 9113 6).
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// `:status: 203`, `x-odd: 1` and `date: now` as literals (RFC 7541 6.2.2), the first and the last with a name by its index.
const HEAD: &[u8] = b"\x08\x03203\x00\x05x-odd\x011\x0f\x12\x03now";

/// A server for `secure.test` that speaks HTTP/2, and a fetcher that trusts it.
fn scene() -> (SocketAddr, HttpFetcher) {
    let made = rcgen::generate_simple_self_signed(vec!["secure.test".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let config = ServerConfig::builder_with_provider(rustls::crypto::ring::default_provider().into());
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let mut config = config.with_single_cert(vec![made.cert.der().clone()], key).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, config) = (listener.local_addr().unwrap(), Arc::new(config));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let tls = ServerConnection::new(Arc::clone(&config)).unwrap();
            // A client that goes away is none of a test's business.
            thread::spawn(move || serve(StreamOwned::new(tls, stream?)));
        }
    });
    let names = FixedNames(HashMap::from([("secure.test", vec![address.ip()])]));
    (address, HttpFetcher::trusting(roots, settings(), Arc::new(names)).unwrap())
}

/// Answers each request with the same head and the number of its stream.
fn serve(mut stream: StreamOwned<ServerConnection, TcpStream>) -> io::Result<()> {
    stream.read_exact(&mut [0; PREFACE.len()])?;
    stream.write_all(&frame(SETTINGS, 0, 0, b""))?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head)?;
        let [a, b, c, kind, _, number @ ..] = head;
        io::copy(&mut (&mut stream).take(u32::from_be_bytes([0, a, b, c]).into()), &mut io::sink())?;
        let number = u32::from_be_bytes(number);
        if kind == HEADERS {
            stream.write_all(&frame(HEADERS, END_HEADERS, number, HEAD))?;
            stream.write_all(&frame(DATA, END_STREAM, number, number.to_string().as_bytes()))?;
        }
        stream.flush()?;
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

#[tokio::test]
async fn a_head_of_http_2_is_put_in_the_older_form() {
    let (address, fetcher) = scene();
    let head = "HTTP/1.1 203 Non Authoritative Information\r\nx-odd: 1\r\ndate: now\r\n\r\n";
    for stream in ["1", "3"] {
        let url = format!("https://secure.test:{}/", address.port());
        let keep = Keep { raw_head: true, body_as_sent: true };
        let response = fetcher.fetch(FetchRequest { keep, ..request(&url) }).await.unwrap();
        let raw = response.raw_head.as_ref().unwrap();
        assert_eq!((std::str::from_utf8(&raw.bytes).unwrap(), raw.as_sent), (head, false));
        assert_eq!((response.body_as_sent(), response.remote), (Some(stream.as_bytes()), Some(address)));
        let timings = response.timings;
        let connected = timings.connect.is_some_and(|took| took > Duration::ZERO);
        assert_eq!(connected, stream == "1", "the second takes the first one's connection");
        assert_eq!((timings.look_up.is_some(), timings.tls), (connected, None));
    }
}

#[tokio::test]
async fn a_pinned_address_does_not_replace_the_name_in_a_certificate() {
    let (address, fetcher) = scene();
    let pinned = Some(Arc::from([address.ip()]));
    let ask = |host: &str| FetchRequest {
        addresses: pinned.clone(),
        ..request(&format!("https://{host}:{}/", address.port()))
    };
    assert_eq!(fetcher.fetch(ask("secure.test")).await.unwrap().body, b"1");
    assert_eq!(fetcher.fetch(ask("secure.test")).await.unwrap().body, b"1", "each has its own connection");
    let failure = fetcher.fetch(ask("other.test")).await.unwrap_err();
    assert_eq!((failure.error.name(), failure.requests), ("tls_name", 0), "{failure}");
}
