//! How long clients may take, and cutting those who take longer.
//!
//! hyper has a time-out for the head of a request, but arms a timer anew for each request. Here a request only counts
//! itself, and every [`TICK`] the accept loop looks at what has happened on each connection: no timer and no clock on a
//! request's way. A client is cut at most a tick after its time is over.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{task::AbortHandle, time::Instant};

/// How often connections are looked at.
pub(super) const TICK: Duration = Duration::from_secs(5);

/// How long a client may take.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// For the whole head of a request, however its bytes come; also until the first byte of a connection.
    pub head: Duration,
    /// From an answer to the next request.
    pub idle: Duration,
    /// Without taking a single byte of an answer.
    pub stall: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { head: Duration::from_secs(10), idle: Duration::from_secs(75), stall: Duration::from_secs(30) }
    }
}

/// What has happened on a connection. Only its own task writes it, so a load and a store do for an addition.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Requests that have begun; after the highest number comes 1, since 0 says that there was none.
    requests: AtomicU32,
    /// Whether bytes have come since the last request began: the head of another one is on its way.
    heard: AtomicBool,
    /// Writes that the client has taken something of.
    writes: AtomicU32,
    /// Whether there is something that the client has not yet taken.
    blocked: AtomicBool,
}

impl Pace {
    /// Bytes have come.
    pub(super) fn heard(&self) {
        self.heard.store(true, Relaxed);
    }

    /// A request has begun.
    pub(super) fn request(&self) {
        self.requests.store(self.requests.load(Relaxed).wrapping_add(1).max(1), Relaxed);
        self.heard.store(false, Relaxed);
    }

    /// Bytes have gone.
    pub(super) fn wrote(&self) {
        self.writes.store(self.writes.load(Relaxed).wrapping_add(1), Relaxed);
        self.blocked.store(false, Relaxed);
    }

    /// Bytes would go, but the client does not take them.
    pub(super) fn blocked(&self) {
        self.blocked.store(true, Relaxed);
    }

    fn phase(&self) -> Phase {
        let requests = self.requests.load(Relaxed);
        if self.blocked.load(Relaxed) {
            Phase::Stalled(self.writes.load(Relaxed))
        } else if requests == 0 || self.heard.load(Relaxed) {
            Phase::Head(requests)
        } else {
            Phase::Idle(requests)
        }
    }
}

/// What a client is at, with the number that changes when it gets on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Head(u32),
    Idle(u32),
    Stalled(u32),
}

/// The connections of a listener.
#[derive(Debug)]
pub(super) struct Connections {
    timeouts: Timeouts,
    watched: Vec<Watched>,
    /// How many may be listed until those that have ended are struck off.
    room: usize,
}

#[derive(Debug)]
struct Watched {
    /// Gone when the connection is.
    pace: Weak<Pace>,
    task: AbortHandle,
    phase: Phase,
    since: Instant,
}

impl Connections {
    pub(super) fn new(timeouts: Timeouts) -> Self {
        Self { timeouts, watched: Vec::new(), room: Self::LEAST_ROOM }
    }

    /// Striking off takes a look at each, so it waits until as many have come as were left the last time.
    const LEAST_ROOM: usize = 128;

    /// Watches a connection from now on.
    pub(super) fn watch(&mut self, pace: &Arc<Pace>, task: AbortHandle) {
        if self.watched.len() >= self.room {
            self.watched.retain(|watched| watched.pace.strong_count() > 0);
            self.room = Self::LEAST_ROOM.max(self.watched.len() * 2);
        }
        let (pace, phase, since) = (Arc::downgrade(pace), pace.phase(), Instant::now());
        self.watched.push(Watched { pace, task, phase, since });
    }

    /// Cuts the connections whose clients have been in one phase for longer than they may. To be called every [`TICK`].
    pub(super) fn cut_overdue(&mut self) {
        let (now, timeouts) = (Instant::now(), self.timeouts);
        self.watched.retain_mut(|watched| {
            let Some(pace) = watched.pace.upgrade() else { return false };
            let phase = pace.phase();
            if phase != watched.phase {
                (watched.phase, watched.since) = (phase, now);
            }
            let limit = match phase {
                Phase::Head(_) => timeouts.head,
                Phase::Idle(_) => timeouts.idle,
                Phase::Stalled(_) => timeouts.stall,
            };
            let overdue = now.duration_since(watched.since) >= limit;
            if overdue {
                tracing::debug!("connection cut: its client was too slow ({phase:?})");
                watched.task.abort();
            }
            !overdue
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn connections_that_have_ended_are_not_kept() {
        let mut connections = Connections::new(Timeouts::default());
        let task = tokio::spawn(async {}).abort_handle();
        let alive = Arc::new(Pace::default());
        connections.watch(&alive, task.clone());
        for _ in 0..100_000 {
            connections.watch(&Arc::default(), task.clone());
        }
        assert!(connections.watched.len() <= Connections::LEAST_ROOM);
        connections.cut_overdue();
        assert_eq!(connections.watched.len(), 1, "the one that is alive");
    }
}
