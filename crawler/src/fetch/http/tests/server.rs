//! A server that plays a script.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What a server does with a connection once a request is there.
#[derive(Clone)]
pub(super) enum Act {
    /// Sends this.
    Send(Vec<u8>),
    /// Sends this again and again until the other side has had enough.
    Flood(Vec<u8>),
    /// Sends this bit by bit, for ever, with a pause before each.
    Drip(&'static str, Duration),
    /// Waits until the other side closes.
    Hold,
    /// Closes with a reset.
    Reset,
    /// Waits for the next request on the same connection.
    Next,
    /// Waits for it, and closes without reading it.
    CloseOnNext,
}

/// Plays its scripts, one a connection, the last for all that follow.
pub(super) struct Server {
    address: SocketAddr,
    heard: Arc<Mutex<Heard>>,
}

/// What came in.
#[derive(Default)]
pub(super) struct Heard {
    pub(super) connections: usize,
    /// Request heads, as received.
    pub(super) requests: Vec<String>,
    /// Of each connection that has ended, whether all that the script sends was sent.
    pub(super) ended: Vec<bool>,
}

/// A whole plain response.
pub(super) fn plain(status: &str, headers: &str, body: &[u8]) -> Act {
    let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    Act::Send([head.as_bytes(), body].concat())
}

pub(super) fn send(text: &str) -> Act {
    Act::Send(text.as_bytes().to_vec())
}

impl Server {
    pub(super) async fn start(scripts: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Arc::new(Mutex::new(Heard::default()));
        let log = Arc::clone(&heard);
        tokio::spawn(async move {
            for connection in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                log.lock().unwrap().connections += 1;
                let script = scripts[connection.min(scripts.len() - 1)].clone();
                // A client that goes away in the middle is what many of these tests are about.
                let log = Arc::clone(&log);
                tokio::spawn(async move {
                    let played = play(stream, script, Arc::clone(&log)).await;
                    log.lock().unwrap().ended.push(played.is_ok());
                });
            }
        });
        Self { address, heard }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(super) fn connections(&self) -> usize {
        self.heard.lock().unwrap().connections
    }

    /// Whether the scripts of the first connections were played to their ends, once so many are over.
    pub(super) async fn ended(&self, connections: usize) -> Vec<bool> {
        loop {
            let ended = self.heard.lock().unwrap().ended.clone();
            if ended.len() >= connections {
                return ended;
            }
            tokio::task::yield_now().await;
        }
    }

    pub(super) fn requests(&self) -> Vec<String> {
        self.heard.lock().unwrap().requests.clone()
    }
}

async fn play(mut stream: TcpStream, script: Vec<Act>, heard: Arc<Mutex<Heard>>) -> std::io::Result<()> {
    hear(&mut stream, &heard).await?;
    for act in script {
        match act {
            Act::Send(bytes) => stream.write_all(&bytes).await?,
            Act::Flood(bytes) => loop {
                stream.write_all(&bytes).await?;
            },
            Act::Drip(bytes, pause) => loop {
                tokio::time::sleep(pause).await;
                stream.write_all(bytes.as_bytes()).await?;
            },
            Act::Hold => {
                tokio::io::copy(&mut stream, &mut tokio::io::sink()).await?;
            }
            Act::Reset => stream.set_zero_linger()?,
            Act::Next => hear(&mut stream, &heard).await?,
            Act::CloseOnNext => {
                stream.peek(&mut [0]).await?;
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Reads one request head.
async fn hear(stream: &mut TcpStream, heard: &Mutex<Heard>) -> std::io::Result<()> {
    let mut read = Vec::new();
    while !read.ends_with(b"\r\n\r\n") {
        // What is no HTTP (a TLS greeting) counts as a request too.
        if read.first().is_some_and(|byte| !byte.is_ascii_uppercase()) {
            break;
        }
        read.push(stream.read_u8().await?);
    }
    heard.lock().unwrap().requests.push(String::from_utf8_lossy(&read).into_owned());
    Ok(())
}
