//! A source of links that does what a test tells it, without a socket, so that the clock can be paused.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use homebody::links::{FetchError, Fetching, Source};
use tokio::sync::Notify;

/// What the source answers.
#[derive(Debug, Clone)]
pub enum Answer {
    Text(String),
    Fails,
    /// Answers with the text as soon as the test calls [`Script::release`].
    Held(String),
    Hangs,
}

/// A handle to the source; clones are the same source.
#[derive(Clone)]
pub struct Script(Arc<Inner>);

struct Inner {
    answer: Mutex<Answer>,
    fetches: AtomicUsize,
    released: Notify,
}

impl Script {
    pub fn new(answer: Answer) -> Self {
        Self(Arc::new(Inner { answer: Mutex::new(answer), fetches: AtomicUsize::new(0), released: Notify::new() }))
    }

    pub fn text(text: &str) -> Self {
        Self::new(Answer::Text(text.to_owned()))
    }

    /// From now on answers like this.
    pub fn answer(&self, answer: Answer) {
        *self.0.answer.lock().unwrap() = answer;
    }

    /// Lets one held answer go.
    pub fn release(&self) {
        self.0.released.notify_one();
    }

    /// How often it was asked.
    pub fn fetches(&self) -> usize {
        self.0.fetches.load(Ordering::SeqCst)
    }
}

impl Source for Script {
    fn fetch(&self) -> Fetching<'_> {
        self.0.fetches.fetch_add(1, Ordering::SeqCst);
        let answer = self.0.answer.lock().unwrap().clone();
        Box::pin(async move {
            match answer {
                Answer::Text(text) => Ok(text),
                Answer::Fails => Err(FetchError::Unreachable("as the test wants".to_owned())),
                Answer::Held(text) => {
                    self.0.released.notified().await;
                    Ok(text)
                }
                Answer::Hangs => std::future::pending().await,
            }
        })
    }
}
