//! Status lines, headers and lengths that are wrong, slow or endless; connections that end where they should not.

use std::{
    io::{self, Write},
    net::TcpStream,
    thread,
    time::Duration,
};

use webloom_tests::server::Reply;

use super::{
    behaviour::{Behaviour, usual},
    raw,
};

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/html";
const LINK: &str = "<a href=/there>x</a>";
/// What makes waiting short.
const QUICK: &[(&str, &str)] =
    &[("FETCH_FIRST_BYTE_TIMEOUT", "300ms"), ("FETCH_TOTAL_TIMEOUT", "600ms"), ("RETRY_ATTEMPTS", "2")];
const PAUSE: Duration = Duration::from_millis(20);

fn script(write: impl FnOnce(&mut TcpStream) -> io::Result<()> + Send + 'static) -> Reply {
    Reply::Script(Box::new(write))
}

/// Writes these, and then the same for ever until the client goes.
fn then_drip(first: &'static str, drop: &'static str) -> Reply {
    script(move |stream| {
        stream.write_all(first.as_bytes())?;
        loop {
            stream.write_all(drop.as_bytes())?;
            thread::sleep(PAUSE);
        }
    })
}

/// Writes these, and then keeps the connection open without a word.
fn then_silence(first: &'static str) -> Reply {
    script(move |stream| {
        stream.write_all(first.as_bytes())?;
        io::copy(stream, &mut io::sink()).map(drop)
    })
}

/// Writes these, and then resets the connection.
fn then_reset(first: &'static str) -> Reply {
    script(move |stream| {
        stream.write_all(first.as_bytes())?;
        // What was written arrives before the reset does.
        thread::sleep(PAUSE);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let _entered = runtime.enter();
        stream.set_nonblocking(true)?;
        tokio::net::TcpStream::from_std(stream.try_clone()?)?.set_zero_linger()
    })
}

/// A page with a link, under one more header line.
fn linked(header: &str) -> Reply {
    raw(&format!("{OK}\r\n{header}"), LINK)
}

fn chunked(chunks: &str) -> Reply {
    raw(&format!("{OK}\r\ntransfer-encoding: chunked"), chunks)
}

/// A page with so many more header lines.
fn with_headers(number: usize, length: usize) -> Reply {
    let lines = (0..number).map(|line| format!("x-{line}: {}\r\n", "v".repeat(length)));
    raw(&format!("{OK}\r\n{}content-length: 20", lines.collect::<String>()), LINK)
}

pub(super) const HEADS: &[Behaviour] = &[
    Behaviour::page("no-reason", |_| raw("HTTP/1.1 200\r\ncontent-type: text/html\r\ncontent-length: 20", LINK))
        .gives(&["/x stored 200", "/there stored 200"]),
    Behaviour::page("long-reason", |_| {
        raw(&format!("HTTP/1.1 200 {}\r\ncontent-type: text/html", "so ".repeat(9_000)), LINK)
    })
    .gives(&["/x stored 200", "/there stored 200"]),
    Behaviour::page("http-1-0", |_| raw("HTTP/1.0 200 OK\r\ncontent-type: text/html", LINK))
        .gives(&["/x stored 200", "/there stored 200"]),
    Behaviour::page("http-0-9", |_| Reply::Raw(LINK.into())).gives(&["/x failed - protocol"]),
    Behaviour::page("http-2-in-words", |_| raw("HTTP/2.0 200 OK\r\ncontent-length: 20", LINK))
        .gives(&["/x failed - protocol"]),
    Behaviour::page("not-http", |_| Reply::Raw(b"SSH-2.0-server\r\n".to_vec())).gives(&["/x failed - protocol"]),
    Behaviour::page("empty-lines-first", |_| raw(&format!("\r\n\r\n{OK}\r\ncontent-length: 20"), LINK))
        .gives(&["/x stored 200", "/there stored 200"]),
    Behaviour::page("bare-line-feeds", |_| {
        Reply::Raw(
            format!("HTTP/1.1 200 OK\nconnection: close\ncontent-type: text/html\ncontent-length: 20\n\n{LINK}").into(),
        )
    })
    .gives(&["/x stored 200", "/there stored 200"]),
    Behaviour::page("header-without-colon", |_| linked("this is no header\r\ncontent-length: 20"))
        .gives(&["/x stored 200", "/there stored 200"]),
    Behaviour::page("header-without-name", |_| linked(": x\r\ncontent-length: 20"))
        .gives(&["/x stored 200", "/there stored 200"]),
    Behaviour::page("header-with-space", |_| {
        raw("HTTP/1.1 200 OK\r\nContent-Type : text/html\r\nContent-Length : 20", LINK)
    })
    .gives(&["/x stored 200", "/there stored 200"]),
    Behaviour::page("header-folded", |_| {
        raw("HTTP/1.1 200 OK\r\ncontent-type:\r\n text/html\r\ncontent-length: 20", LINK)
    })
    .gives(&["/x stored 200", "/there stored 200"]),
    Behaviour::page("header-with-nul", |_| linked("x-a: b\0c\r\ncontent-length: 20")).gives(&["/x failed - protocol"]),
    Behaviour::page("header-in-latin1", |_| {
        Reply::Raw(
            [OK.as_bytes(), b"\r\nconnection: close\r\nx-a: caf\xe9\r\ncontent-length: 20\r\n\r\n", LINK.as_bytes()]
                .concat(),
        )
    })
    .gives(&["/x stored 200", "/there stored 200"]),
    Behaviour::page("headers-90", |_| with_headers(90, 9)).gives(&["/x stored 200", "/there stored 200"]),
    Behaviour::page("headers-10000", |_| with_headers(10_000, 9)).gives(&["/x failed - protocol"]),
    Behaviour::page("head-of-a-megabyte", |_| with_headers(1, 1 << 20)).gives(&["/x failed - protocol"]),
    Behaviour::page("head-slow", |_| then_drip("HTTP/1.1 200 OK\r\n", "x"))
        .set(QUICK)
        .gives(&["/x failed - timeout"])
        .retries(3),
    Behaviour::page("head-cut", |_| Reply::Raw(b"HTTP/1.1 200 OK\r\ncontent-ty".to_vec()))
        .gives(&["/x failed - closed"])
        .retries(10),
    Behaviour::page("silent", |_| then_silence("")).set(QUICK).gives(&["/x failed - timeout"]).retries(3),
    Behaviour::page("hangs-up", |_| Reply::hang_up()).gives(&["/x failed - closed"]).retries(9),
    Behaviour::page("hangs-up-once", |asked| if asked.before == 0 { Reply::hang_up() } else { Reply::html(LINK) })
        .gives(&["/x stored 200", "/there stored 200"])
        .retries(2),
    // A request that a kept connection takes, and then resets, counts as none: each has one of its own here.
    Behaviour::site("resets", |asked| match asked.target.as_str() {
        "/x" => then_reset(""),
        _ => usual(asked).header("connection: close"),
    })
    .gives(&["/x failed - closed"])
    .retries(9),
    Behaviour::page("half-open", |_| {
        then_silence("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 20\r\n\r\n")
    })
    .set(QUICK)
    .gives(&["/x failed - timeout"])
    .retries(4),
    Behaviour::page("half-open-part", |_| {
        then_silence("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 900\r\n\r\n<a href=/there>x</a>")
    })
    .set(QUICK)
    .gives(&["/x stored 200 cut:time", "/there stored 200"])
    .retries(2),
    Behaviour::page("body-slow", |_| {
        then_drip("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<a href=/there>x</a>", "x")
    })
    .set(QUICK)
    .gives(&["/x stored 200 cut:time", "/there stored 200"])
    .retries(2),
    Behaviour::page("body-endless", |_| {
        script(|stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n")?;
            while stream.write_all(&[b'x'; 9000]).is_ok() {}
            Ok(())
        })
    })
    .set(&[("FETCH_MAX_BODY", "1MB")])
    .gives(&["/x stored 200 cut:size"]),
    Behaviour::page("body-reset", |_| {
        then_reset("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 900\r\n\r\n<a href=/there>x</a>")
    })
    .gives(&["/x stored 200 cut:disconnect", "/there stored 200"])
    .retries(3),
    Behaviour::page("length-too-long", |_| linked("content-length: 900"))
        .gives(&["/x stored 200 cut:disconnect", "/there stored 200"])
        .retries(3),
    Behaviour::page("length-too-long-no-body", |_| raw(&format!("{OK}\r\ncontent-length: 900"), ""))
        .gives(&["/x failed - closed"])
        .retries(10),
    Behaviour::page("length-too-short", |_| {
        raw(&format!("{OK}\r\ncontent-length: 20"), format!("{LINK}<a href=/hidden>"))
    })
    .gives(&["/x stored 200", "/there stored 200"]),
    Behaviour::page("length-zero", |_| linked("content-length: 0")).gives(&["/x stored 200"]),
    Behaviour::page("length-negative", |_| linked("content-length: -1")).gives(&["/x failed - protocol"]),
    Behaviour::page("length-in-words", |_| linked("content-length: twenty")).gives(&["/x failed - protocol"]),
    Behaviour::page("length-beyond-bounds", |_| linked("content-length: 99999999999999999999999"))
        .gives(&["/x failed - protocol"]),
    Behaviour::page("length-of-petabytes", |_| linked("content-length: 4611686018427387904"))
        .gives(&["/x stored 200 cut:disconnect", "/there stored 200"])
        .retries(3),
    Behaviour::page("two-lengths", |_| linked("content-length: 20\r\ncontent-length: 5"))
        .gives(&["/x failed - protocol"]),
    Behaviour::page("two-equal-lengths", |_| linked("content-length: 20\r\ncontent-length: 20"))
        .gives(&["/x stored 200", "/there stored 200"]),
    Behaviour::page("length-and-chunks", |_| linked("content-length: 5\r\ntransfer-encoding: chunked"))
        .gives(&["/x failed - protocol"])
        .retries(9),
    Behaviour::page("no-length", |_| raw(OK, LINK)).gives(&["/x stored 200", "/there stored 200"]),
    Behaviour::page("chunks", |_| chunked("7;name=value\r\n<a href\r\nd\r\n=/there>x</a>\r\n0\r\n\r\n"))
        .gives(&["/x stored 200", "/there stored 200"]),
    Behaviour::page("chunks-and-trailers", |_| {
        chunked("14\r\n<a href=/there>x</a>\r\n0\r\nlocation: /hidden\r\nx-a: b\r\n\r\n")
    })
    .gives(&["/x stored 200", "/there stored 200"]),
    Behaviour::page("chunks-without-end", |_| chunked("14\r\n<a href=/there>x</a>\r\n"))
        .gives(&["/x stored 200 cut:disconnect", "/there stored 200"])
        .retries(3),
    Behaviour::page("chunks-broken", |_| chunked("14\r\n<a href=/there>x</a>\r\nzz\r\nmore\r\n"))
        .gives(&["/x stored 200 cut:disconnect", "/there stored 200"])
        .retries(3),
    Behaviour::page("chunk-huge", |_| chunked("fffffffffffffff0\r\n<a href=/there>x</a>"))
        .gives(&["/x stored 200 cut:disconnect", "/there stored 200"])
        .retries(3),
    Behaviour::page("chunk-beyond-bounds", |_| chunked("ffffffffffffffffff\r\n<a href=/there>x</a>"))
        .gives(&["/x failed - protocol"])
        .retries(3),
    Behaviour::page("continue-first", |_| {
        raw(&format!("HTTP/1.1 100 Continue\r\n\r\n{OK}\r\ncontent-length: 20"), LINK)
    })
    .gives(&["/x stored 200", "/there stored 200"]),
    Behaviour::page("hints-first", |_| {
        let hints = "HTTP/1.1 103 Early Hints\r\nlink: </style>; rel=preload\r\n\r\n".repeat(50);
        raw(&format!("{hints}{OK}\r\ncontent-length: 20"), LINK)
    })
    .gives(&["/x stored 200", "/there stored 200"]),
    Behaviour::page("continue-for-ever", |_| then_drip("", "HTTP/1.1 100 Continue\r\n\r\n"))
        .set(QUICK)
        .gives(&["/x failed - timeout"])
        .retries(3),
    Behaviour::page("switches-protocols", |_| {
        Reply::Raw(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: other\r\nconnection: upgrade\r\n\r\nother".to_vec())
    })
    .gives(&["/x broken 101"]),
    Behaviour::page("answers-twice", |_| {
        script(|stream| {
            let whole = |body: &str| format!("{OK}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            stream.write_all((whole(LINK) + &whole("<title>to nobody</title>")).as_bytes())?;
            // Open long enough for another request.
            thread::sleep(PAUSE * 10);
            Ok(())
        })
    })
    .gives(&["/x stored 200", "/there stored 200"])
    .retries(2)
    .unseen(2),
    Behaviour::site("closes-after-each", |asked| usual(asked).header("connection: close")).gives(&["/x broken 404"]),
    Behaviour::site("closes-without-a-word", |asked| match usual(asked) {
        Reply::Whole(status, headers, body) => {
            let lines = headers.iter().fold(String::new(), |lines, line| lines + line + "\r\n");
            let head = format!("HTTP/1.1 {status} Test\r\n{lines}content-length: {}\r\n\r\n", body.len());
            Reply::Raw([head.into_bytes(), body].concat())
        }
        other => other,
    })
    .gives(&["/x broken 404"])
    .retries(5)
    .unseen(5),
];
