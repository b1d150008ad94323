//! What a connection gets for which there is no place: a 503, at once.

use std::{sync::Arc, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::Semaphore,
    time,
};

/// Refusals under way at one time; each holds a file descriptor of the reserve. Above it connections are just closed.
const AT_ONCE: usize = 32;

/// How long a refused client may take to read it.
const PATIENCE: Duration = Duration::from_secs(1);

/// The whole answer.
const ANSWER: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    content-type: text/plain; charset=utf-8\r\n\
    content-length: 24\r\n\
    cache-control: no-store\r\n\
    retry-after: 2\r\n\
    connection: close\r\n\r\n\
    503 Service Unavailable\n";

/// The refusals of one listener.
#[derive(Debug)]
pub(super) struct Refusals(Arc<Semaphore>);

impl Refusals {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }

    /// Answers 503 and closes, in the background.
    pub(super) fn refuse(&self, mut stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let Ok(slot) = Arc::clone(&self.0).try_acquire_owned() else { return };
        tokio::spawn(async move {
            let _ = time::timeout(PATIENCE, async {
                stream.write_all(ANSWER).await?;
                stream.shutdown().await?;
                // A close with unread bytes would be a reset, which takes the answer with it: read what still comes.
                let mut ignored = [0; 1024];
                while stream.read(&mut ignored).await? > 0 {}
                std::io::Result::Ok(())
            })
            .await;
            drop(slot);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_as_long_as_it_says() {
        let answer = str::from_utf8(ANSWER).expect("the answer is text");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.contains(&format!("content-length: {}", body.len())));
    }
}
