//! [`NameServer`]: a DNS server on loopback that answers as a test says.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

/// A DNS server. It ends with the process.
pub struct NameServer {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

/// What it says of a name.
pub enum NameReply {
    /// It has these addresses, for so many seconds.
    Addresses(Vec<Ipv4Addr>, u32),
    /// There is no such name.
    NoName,
    /// The name has no address.
    Nothing,
    /// The server fails (2) or refuses (5).
    Code(u8),
    /// No answer at all.
    Silence,
}

impl NameServer {
    /// Starts one that answers each name as `answer` says; names are in lower case, without a dot at the end.
    ///
    /// # Errors
    /// When no port can be had.
    pub fn start(answer: impl Fn(&str) -> NameReply + Send + 'static) -> io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let (address, asked) = (socket.local_addr()?, Arc::new(Mutex::new(Vec::new())));
        let log = Arc::clone(&asked);
        thread::spawn(move || {
            let mut buffer = [0; 1_500];
            while let Ok((length, from)) = socket.recv_from(&mut buffer) {
                let Some(question) = Question::read(&buffer[..length]) else { continue };
                log.lock().unwrap_or_else(PoisonError::into_inner).push(question.name.clone());
                if let Some(reply) = question.reply(&answer(&question.name)) {
                    let _ = socket.send_to(&reply, from);
                }
            }
        });
        Ok(Self { address, asked })
    }

    /// `ADDRESS:PORT`, as `--resolver` takes it.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// The questions for this name so far.
    pub fn count(&self, name: &str) -> usize {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).iter().filter(|asked| *asked == name).count()
    }
}

/// A question (RFC 1035 4.1).
struct Question<'a> {
    id: &'a [u8],
    bytes: &'a [u8],
    name: String,
    is_v4: bool,
}

impl<'a> Question<'a> {
    fn read(message: &'a [u8]) -> Option<Self> {
        let (mut at, mut labels) = (12, Vec::new());
        while *message.get(at)? > 0 {
            let end = at + 1 + usize::from(message[at]);
            labels.push(String::from_utf8_lossy(message.get(at + 1..end)?).to_lowercase());
            at = end;
        }
        let bytes = message.get(12..at + 5)?;
        Some(Self { id: &message[..2], bytes, name: labels.join("."), is_v4: message[at + 1..at + 3] == [0, 1] })
    }

    fn reply(&self, reply: &NameReply) -> Option<Vec<u8>> {
        let (code, addresses, seconds): (u8, &[Ipv4Addr], u32) = match reply {
            NameReply::Addresses(addresses, seconds) if self.is_v4 => (0, addresses, *seconds),
            NameReply::Addresses(..) | NameReply::Nothing => (0, &[], 0),
            NameReply::NoName => (3, &[], 0),
            NameReply::Code(code) => (*code, &[], 0),
            NameReply::Silence => return None,
        };
        let count = u8::try_from(addresses.len()).ok()?;
        let mut message = [self.id, &[0x81, 0x80 | code, 0, 1, 0, count, 0, 0, 0, 0], self.bytes].concat();
        for address in addresses {
            message.extend([0xc0, 12, 0, 1, 0, 1]);
            message.extend(seconds.to_be_bytes());
            message.extend([0, 4]);
            message.extend(address.octets());
        }
        Some(message)
    }
}

#[test]
fn answers_what_it_is_asked() {
    let server = NameServer::start(|_| NameReply::Addresses(vec![Ipv4Addr::new(127, 0, 0, 9)], 60)).unwrap();
    let query = [b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00".as_slice(), b"\x01a\x04TEST\x00\x00\x01\x00\x01"];
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.send_to(&query.concat(), server.address()).unwrap();
    let mut answer = [0; 100];
    let length = socket.recv(&mut answer).unwrap();
    assert_eq!(answer[length - 4..length], [127, 0, 0, 9]);
    assert_eq!((&answer[..2], server.count("a.test")), (b"\x12\x34".as_slice(), 1));
}
