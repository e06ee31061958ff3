//! nginx on a free loopback port, for sites on disk; it is judged by its access log.

use std::{
    fs,
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener},
    os::{
        fd::OwnedFd,
        unix::net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

use crate::skip::skip;

/// A running nginx with one worker; it stops when this is dropped.
#[derive(Debug)]
pub struct Nginx {
    process: Child,
    folder: TempDir,
    scheme: &'static str,
    port: u16,
}

/// What a server proves itself with, both in PEM.
#[derive(Debug, Clone)]
pub struct Identity {
    /// Its certificate.
    pub certificate: String,
    /// The key to it.
    pub key: String,
}

/// One line of the access log.
#[derive(Debug, Clone, PartialEq)]
pub struct Access {
    /// End of the request, in seconds since 1970 with milliseconds.
    pub at: f64,
    /// The method.
    pub method: String,
    /// The status.
    pub status: u16,
    /// Bytes of the body as sent.
    pub bytes: u64,
    /// `HTTP/1.1`, `HTTP/2.0`.
    pub protocol: String,
    /// The request target as it was sent.
    pub uri: String,
}

impl Nginx {
    /// Serves a folder, `index.html` standing for a folder's address; `None` after saying `skipped: …`, when nginx is
    /// not here.
    ///
    /// # Errors
    /// When no port can be had or nginx does not start.
    pub fn serve(root: &Path) -> Result<Option<Self>> {
        Self::start(root, None)
    }

    /// The same by https alone, with HTTP/2. `/break` ends the connection without an answer.
    ///
    /// # Errors
    /// As [`Self::serve`].
    pub fn serve_secure(root: &Path, identity: &Identity) -> Result<Option<Self>> {
        Self::start(root, Some(identity))
    }

    fn start(root: &Path, identity: Option<&Identity>) -> Result<Option<Self>> {
        let Some(program) = program() else {
            skip("nginx is not here (tests/prepare installs it)");
            return Ok(None);
        };
        let folder = tempfile::tempdir()?;
        // The sockets listen before nginx starts, which inherits them as its descriptors 0 and 1: no other process can
        // take the port, and whoever connects is answered as soon as nginx is up.
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let socket = UnixListener::bind(folder.path().join("socket"))?;
        listener.set_nonblocking(true)?;
        socket.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        if let Some(identity) = identity {
            fs::write(folder.path().join("certificate"), &identity.certificate)?;
            fs::write(folder.path().join("key"), &identity.key)?;
        }
        let scheme = if identity.is_some() { "https" } else { "http" };
        fs::write(folder.path().join("conf"), config(folder.path(), root, scheme, port))?;
        let process = Command::new(program)
            .arg("-c")
            .arg(folder.path().join("conf"))
            .env("NGINX", "0;1;")
            .stdin(Stdio::from(OwnedFd::from(listener)))
            .stdout(Stdio::from(OwnedFd::from(socket)))
            .stderr(fs::File::create(folder.path().join("stderr"))?)
            .spawn()
            .context("start nginx")?;
        let nginx = Self { process, folder, scheme, port };
        nginx.round_trip()?;
        Ok(Some(nginx))
    }

    /// `http://127.0.0.1:PORT/`, or `https`.
    pub fn url(&self) -> String {
        format!("{}://127.0.0.1:{}/", self.scheme, self.port)
    }

    /// The access log so far: every request whose answer a client has read is in it.
    ///
    /// # Errors
    /// When nginx has gone, or the log cannot be read.
    pub fn log(&self) -> Result<Vec<Access>> {
        self.round_trip()?;
        let text = fs::read_to_string(self.folder.path().join("access"))?;
        text.lines().map(|line| access(line).with_context(|| format!("access log line {line:?}"))).collect()
    }

    /// Asks the one worker something on a socket of its own and waits for the answer: then it is up, and has written the
    /// log lines of all requests it has answered before.
    fn round_trip(&self) -> Result<()> {
        let mut answer = String::new();
        let mut ask = || -> Result<()> {
            let mut socket = UnixStream::connect(self.folder.path().join("socket"))?;
            socket.write_all(b"GET / HTTP/1.0\r\n\r\n")?;
            socket.read_to_string(&mut answer)?;
            ensure!(answer.contains(" 204 "), "nginx answered {answer:?}");
            Ok(())
        };
        let complaint = || fs::read_to_string(self.folder.path().join("stderr")).unwrap_or_default();
        ask().with_context(|| format!("nginx does not answer: {}", complaint()))
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // One that has gone already needs no signal.
        if kill_process(Pid::from_child(&self.process), Signal::TERM).is_ok() {
            drop(self.process.wait());
        }
    }
}

/// nginx, where Debian puts it or on the path.
fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
    folders.map(|folder| folder.join("nginx")).find(|program| program.exists())
}

fn config(folder: &Path, root: &Path, scheme: &str, port: u16) -> String {
    let (folder, root) = (folder.display(), root.display());
    let (listen, secure) = if scheme == "https" {
        let identity = format!("ssl_certificate {folder}/certificate; ssl_certificate_key {folder}/key;");
        (" ssl http2", format!("{identity} location = /break {{ return 444; }}"))
    } else {
        ("", String::new())
    };
    // The worker must be able to read what the tests unpacked, wherever that is.
    let user = if geteuid().is_root() { "user root;" } else { "" };
    format!(
        "{user} daemon off; pid {folder}/pid; error_log {folder}/err warn; worker_processes 1;
events {{ worker_connections 4096; }}
http {{
  types {{ text/html html htm; text/css css; application/javascript js; image/png png; }}
  default_type application/octet-stream;
  client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  keepalive_requests 1000000;
  log_format r '$msec $request_method $status $body_bytes_sent $server_protocol $request_uri';
  server {{ listen 127.0.0.1:{port}{listen}; {secure} root {root}; index index.html; access_log {folder}/access r; }}
  server {{ listen unix:{folder}/socket; access_log off; return 204; }}
}}
"
    )
}

fn access(line: &str) -> Result<Access> {
    let fields: Vec<_> = line.splitn(6, ' ').collect();
    let [at, method, status, bytes, protocol, uri] = fields[..] else { bail!("is too short") };
    let [method, protocol, uri] = [method, protocol, uri].map(str::to_owned);
    Ok(Access { at: at.parse()?, method, status: status.parse()?, bytes: bytes.parse()?, protocol, uri })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_its_log_lines() {
        let read = access("1700000000.123 GET 404 153 HTTP/2.0 /a b?c").unwrap();
        assert_eq!(read.protocol, "HTTP/2.0");
        assert_eq!((read.method.as_str(), read.status, read.bytes, read.uri.as_str()), ("GET", 404, 153, "/a b?c"));
        assert!(access("1700000000.123 GET 404").is_err());
    }
}
