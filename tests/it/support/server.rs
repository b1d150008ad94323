//! The real binary on real sockets.

use std::{
    env,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    process::{Child, Command, Output, Stdio},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use serde_json::Value;

use super::Reply;

/// Longer than anything here takes on a busy machine; reached only when a test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// The command, with nothing of the tester's own configuration in its environment.
pub fn homebody(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_homebody"));
    for (variable, _) in env::vars_os() {
        if variable.to_string_lossy().starts_with("HOMEBODY_") {
            command.env_remove(variable);
        }
    }
    command.args(args).env_remove("SSL_CERT_FILE").stdin(Stdio::null());
    command
}

/// A server on ports of the system's choice. Killed when it goes out of scope; then, if the test has failed, its log is
/// printed.
pub struct Server {
    child: Child,
    public: SocketAddr,
    admin: SocketAddr,
    log: Arc<Mutex<Vec<String>>>,
    events: mpsc::Receiver<Value>,
}

impl Server {
    /// Starts it, and waits until it says where it listens.
    #[track_caller]
    pub fn start(args: &[&str]) -> Self {
        let ports = ["--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--log-format", "json"];
        let mut child = homebody(&ports).args(args).stdout(Stdio::piped()).spawn().unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let (sender, events) = mpsc::channel();
        let (stdout, lines) = (child.stdout.take().unwrap(), Arc::clone(&log));
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let event = serde_json::from_str(&line).unwrap_or(Value::Null);
                lines.lock().unwrap().push(line);
                let _ = sender.send(event);
            }
        });
        let unknown = SocketAddr::from(([0, 0, 0, 0], 0));
        let mut server = Self { child, public: unknown, admin: unknown, log, events };
        server.public = server.listening("public");
        server.admin = server.listening("admin");
        server
    }

    fn listening(&self, listener: &str) -> SocketAddr {
        let event = self.wait_for(|event| event["event"] == "listening" && event["listener"] == listener);
        event["address"].as_str().and_then(|address| address.parse().ok()).unwrap()
    }

    /// Waits for an event of the log, and passes over those before it.
    #[track_caller]
    pub fn wait_for(&self, is_it: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let event = self.events.recv_timeout(left).unwrap_or_else(|error| panic!("{error}: {:#?}", self.log()));
            if is_it(&event) {
                return event;
            }
        }
    }

    pub fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    pub fn public(&self) -> SocketAddr {
        self.public
    }

    pub fn admin_address(&self) -> SocketAddr {
        self.admin
    }

    pub fn get(&self, path: &str) -> Reply {
        self.get_with(path, &[])
    }

    pub fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        let mut request = format!("GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n");
        for (name, value) in headers {
            request += &[name, ": ", value, "\r\n"].concat();
        }
        exchange(self.public, &(request + "\r\n"))
    }

    pub fn admin(&self, path: &str) -> Reply {
        exchange(self.admin, &format!("GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n"))
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Lowers the number of file descriptors it may have, while it runs.
    pub fn limit_open_files(&self, most: u64) {
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        prlimit(Some(Pid::from_child(&self.child)), Resource::Nofile, limit).unwrap();
    }

    /// How many file descriptors it has.
    pub fn open_files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// Waits until it has ended, and says with which exit code.
    #[track_caller]
    pub fn wait(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("--- log of the server ---\n{}", self.log.lock().unwrap().join("\n"));
        }
    }
}

/// Sends a request as it is, and reads the answer to the end of the connection.
#[track_caller]
pub fn exchange(address: SocketAddr, request: &str) -> Reply {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    read_reply(&mut stream)
}

/// Reads an answer to the end of the connection.
#[track_caller]
pub fn read_reply(stream: &mut TcpStream) -> Reply {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let end = end.unwrap_or_else(|| panic!("no answer: {:?}", String::from_utf8_lossy(&bytes)));
    let head = str::from_utf8(&bytes[..end]).unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap();
    let headers = lines.map(|line| line.split_once(": ").unwrap());
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    Reply { status, headers, body: bytes[end + 4..].to_vec() }
}

/// Runs a command to its end.
#[track_caller]
pub fn run(args: &[&str]) -> Output {
    homebody(args).output().unwrap()
}
