//! A web server on loopback that misbehaves on demand, and counts its requests.

use std::{
    io::{BufRead, BufReader, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use socket2::{Domain, SockRef, Socket, Type};

/// What it does with a request.
#[derive(Debug, Clone)]
pub enum Wire {
    /// 200 with this text.
    Text(String),
    /// This status with this content type and body.
    Answer(u16, &'static str, String),
    /// 302 to this address.
    Redirect(String),
    /// 200 with these bytes.
    Bytes(Vec<u8>),
    /// 429, to be asked again after so many seconds.
    RetryAfter(u64),
    /// The text under a validator; 304 to who has it.
    Version(&'static str, String),
    /// Closes without an answer.
    Closes,
    /// Breaks the connection off.
    Resets,
    /// Sends its answer a byte at a time, without end.
    Drips,
    /// Announces more than it sends.
    Truncates,
    /// Sends without end; stops when the other side does.
    Floods,
    /// Says nothing, and keeps the connection.
    Hangs,
}

/// Stops listening when it goes out of scope.
pub struct Upstream {
    address: SocketAddr,
    state: Arc<State>,
}

struct State {
    wire: Mutex<Wire>,
    /// The lines of each request's head.
    requests: Mutex<Vec<Vec<String>>>,
    stopped: AtomicBool,
    /// Connections that hang, kept so that they do.
    hanging: Mutex<Vec<TcpStream>>,
}

impl Upstream {
    pub fn start(wire: Wire) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            wire: Mutex::new(wire),
            requests: Mutex::default(),
            stopped: AtomicBool::new(false),
            hanging: Mutex::default(),
        });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.stopped.load(Ordering::SeqCst) {
                    break;
                }
                let shared = Arc::clone(&shared);
                // A client that goes away ends its thread; nothing else depends on it.
                thread::spawn(move || shared.answer(stream?));
            }
        });
        Self { address, state }
    }

    /// From now on does this.
    pub fn set(&self, wire: Wire) {
        *self.state.wire.lock().unwrap() = wire;
    }

    pub fn url(&self) -> String {
        format!("http://{}/links", self.address)
    }

    /// How many requests came.
    pub fn requests(&self) -> usize {
        self.state.requests.lock().unwrap().len()
    }

    /// The head of the last request, a line each, as it came.
    pub fn last_request(&self) -> Vec<String> {
        self.state.requests.lock().unwrap().last().unwrap().clone()
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.state.stopped.store(true, Ordering::SeqCst);
        // Wakes the accept loop up, which then sees that it is over.
        drop(TcpStream::connect(self.address));
        for stream in self.state.hanging.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl State {
    fn answer(&self, stream: TcpStream) -> std::io::Result<()> {
        let lines = BufReader::new(stream.try_clone()?).lines();
        let head: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        self.requests.lock().unwrap().push(head.clone());
        let mut stream = stream;
        let wire = self.wire.lock().unwrap().clone();
        match wire {
            Wire::Text(text) => respond(&mut stream, 200, "content-type: text/plain", &text),
            Wire::Answer(status, content_type, body) => {
                respond(&mut stream, status, &format!("content-type: {content_type}"), &body)
            }
            Wire::Redirect(location) => respond(&mut stream, 302, &format!("location: {location}"), ""),
            Wire::Bytes(bytes) => respond(&mut stream, 200, "content-type: text/plain", &bytes),
            Wire::RetryAfter(seconds) => respond(&mut stream, 429, &format!("retry-after: {seconds}"), "slow down"),
            Wire::Version(version, text) => {
                let is_known = head.iter().any(|line| line.eq_ignore_ascii_case(&format!("if-none-match: {version}")));
                let (status, text) = if is_known { (304, "") } else { (200, &*text) };
                respond(&mut stream, status, &format!("etag: {version}"), text)
            }
            Wire::Closes => Ok(()),
            Wire::Resets => SockRef::from(&stream).set_linger(Some(Duration::ZERO)),
            Wire::Drips => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")?;
                loop {
                    stream.write_all(b"#")?;
                    thread::sleep(Duration::from_millis(10));
                }
            }
            Wire::Truncates => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\na https://example.com\n")
            }
            Wire::Floods => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")?;
                let line = "a https://example.com/\n".repeat(1000);
                loop {
                    stream.write_all(line.as_bytes())?;
                }
            }
            Wire::Hangs => {
                self.hanging.lock().unwrap().push(stream);
                Ok(())
            }
        }
    }
}

fn respond(stream: &mut TcpStream, status: u16, header: &str, body: impl AsRef<[u8]>) -> std::io::Result<()> {
    let body = body.as_ref();
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status} As Told\r\n{header}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    stream.write_all(&[head.as_bytes(), body].concat())
}

/// A port that is bound, so that nobody else gets it, but not listening: connections are refused.
pub fn nobody() -> (Socket, SocketAddr) {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    (socket, address)
}
