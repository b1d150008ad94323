//! A source of links that does what a test tells it, without a socket, so that the clock can be paused.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::http::{HeaderValue, StatusCode};
use homebody::links::{Ask, FetchError, Fetched, Fetching, Source};
use tokio::sync::Notify;

/// What the source answers.
#[derive(Debug, Clone)]
pub enum Answer {
    Text(String),
    /// The text under this validator; to who has that, that nothing has changed.
    Version(&'static str, String),
    Fails,
    /// 503, and wants not to be asked for this long.
    Busy(Duration),
    /// Answers with the text as soon as the test calls [`Script::release`].
    Held(String),
    Hangs,
}

/// A handle to the source; clones are the same source.
#[derive(Clone)]
pub struct Script(Arc<Inner>);

struct Inner {
    answer: Mutex<Answer>,
    asked: Mutex<Vec<Ask>>,
    released: Notify,
}

impl Script {
    pub fn new(answer: Answer) -> Self {
        Self(Arc::new(Inner { answer: Mutex::new(answer), asked: Mutex::default(), released: Notify::new() }))
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
        self.0.asked.lock().unwrap().len()
    }

    /// What it was asked last.
    pub fn last_asked(&self) -> Ask {
        self.0.asked.lock().unwrap().last().unwrap().clone()
    }
}

impl Source for Script {
    fn fetch(&self, ask: Ask) -> Fetching<'_> {
        self.0.asked.lock().unwrap().push(ask.clone());
        let answer = self.0.answer.lock().unwrap().clone();
        let fetched = |text| Fetched { text: Some(text), ..Fetched::default() };
        Box::pin(async move {
            match answer {
                Answer::Text(text) => Ok(fetched(text)),
                Answer::Version(version, text) => {
                    let validator = Some(HeaderValue::from_static(version));
                    Ok(Fetched { text: (ask.validator != validator).then_some(text), validator, wait: None })
                }
                Answer::Fails => Err(FetchError::Unreachable("as the test wants".to_owned())),
                Answer::Busy(wait) => {
                    Err(FetchError::Status { status: StatusCode::SERVICE_UNAVAILABLE, wait: Some(wait) })
                }
                Answer::Held(text) => {
                    self.0.released.notified().await;
                    Ok(fetched(text))
                }
                Answer::Hangs => std::future::pending().await,
            }
        })
    }
}
