//! A web server on loopback that misbehaves on demand, and counts its requests.

use std::{
    io::{BufRead, BufReader, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

/// What it does with a request.
#[derive(Debug, Clone)]
pub enum Wire {
    /// 200 with this text.
    Text(String),
    /// This status with this content type and body.
    Answer(u16, &'static str, String),
    /// 302 to this address.
    Redirect(String),
    /// Closes without an answer.
    Closes,
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
    requests: AtomicUsize,
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
            requests: AtomicUsize::new(0),
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
        self.state.requests.load(Ordering::SeqCst)
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
        let mut lines = BufReader::new(stream.try_clone()?).lines();
        while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
        self.requests.fetch_add(1, Ordering::SeqCst);
        let mut stream = stream;
        let wire = self.wire.lock().unwrap().clone();
        match wire {
            Wire::Text(text) => respond(&mut stream, 200, "content-type: text/plain", &text),
            Wire::Answer(status, content_type, body) => {
                respond(&mut stream, status, &format!("content-type: {content_type}"), &body)
            }
            Wire::Redirect(location) => respond(&mut stream, 302, &format!("location: {location}"), ""),
            Wire::Closes => Ok(()),
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

fn respond(stream: &mut TcpStream, status: u16, header: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} As Told\r\n{header}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}
