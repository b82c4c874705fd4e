//! Writes receipts in the background, many in one commit.
//!
//! A call hands its receipt over and goes on; one task commits what has gathered. The queue
//! is bounded, so where the database is slower than the calls, the calls slow down. What is
//! not yet committed when the process is killed is lost: at most what gathers in
//! [`BATCH_DELAY`] and the batch that is being written. Whoever must know waits for
//! [`ReceiptWriter::flush`].

use std::{sync::Arc, time::Duration};

use bulkhead_domain::Receipt;
use tokio::{
    sync::{Mutex, mpsc, oneshot},
    task::JoinHandle,
    time::{Instant, sleep, timeout_at},
};

use crate::{Result, Store, StoreError, compiled_here};

/// Receipts of one commit. At this size the commit itself no longer counts.
pub const BATCH_MAX: usize = 256;
/// How long the first receipt of a batch waits for others: short for whoever looks for it,
/// long enough that a commit is shared.
pub const BATCH_DELAY: Duration = Duration::from_millis(10);
/// Receipts that wait: some seconds of full load, a few MB.
pub const QUEUE_MAX: usize = 4096;
/// Attempts for one batch before it goes to the log.
pub const ATTEMPTS_MAX: u32 = 8;
/// The pause before the second attempt; each further one is twice as long.
pub const BACKOFF_FIRST: Duration = Duration::from_millis(50);
/// The longest pause. All pauses of a batch make about 5 s, beside what each attempt takes.
pub const BACKOFF_MAX: Duration = Duration::from_secs(2);

/// Hands receipts to the background task. Clones share it.
#[derive(Clone)]
pub struct ReceiptWriter {
    queue: mpsc::Sender<Message>,
    /// Taken by the one who closes.
    task: Arc<Mutex<Option<JoinHandle<()>>>>,
}

enum Message {
    Write(Box<Receipt>),
    /// Answered with the receipts that were lost since the last answer.
    Flush(oneshot::Sender<u64>),
    Close,
}

impl ReceiptWriter {
    /// Starts the task. It ends when the writer is closed or all its clones are dropped, after
    /// it has written what was queued.
    pub fn start(store: Store) -> Self {
        let (queue, messages) = mpsc::channel(QUEUE_MAX);
        let worker = Worker {
            store,
            batch: Vec::with_capacity(BATCH_MAX),
            lost: 0,
        };
        let task = tokio::spawn(worker.run(messages));
        Self {
            queue,
            task: Arc::new(Mutex::new(Some(task))),
        }
    }

    /// Queues a receipt; waits where the queue is full.
    #[compiled_here]
    pub async fn write(&self, receipt: Receipt) -> Result<()> {
        let message = Message::Write(Box::new(receipt));
        self.queue
            .send(message)
            .await
            .map_err(|_| StoreError::Closed)
    }

    /// Waits until all that was queued before is committed. [`StoreError::Lost`] where some of
    /// it, or of what came before an earlier flush that nobody waited for, went to the log.
    #[compiled_here]
    pub async fn flush(&self) -> Result<()> {
        let (done, answer) = oneshot::channel();
        self.queue
            .send(Message::Flush(done))
            .await
            .map_err(|_| StoreError::Closed)?;
        match answer.await {
            Ok(0) => Ok(()),
            Ok(count) => Err(StoreError::Lost { count }),
            Err(_) => Err(StoreError::Closed),
        }
    }

    /// Refuses further receipts, writes what is queued, and ends the task. Closing again waits
    /// for the first to finish.
    #[compiled_here]
    pub async fn close(&self) {
        // An error says that the task has already ended.
        self.queue.send(Message::Close).await.ok();
        if let Some(task) = self.task.lock().await.take()
            && let Err(error) = task.await
        {
            tracing::error!(%error, "the receipt writer failed");
        }
    }
}

impl std::fmt::Debug for ReceiptWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let queued = self.queue.max_capacity() - self.queue.capacity();
        f.debug_struct("ReceiptWriter")
            .field("queued", &queued)
            .finish_non_exhaustive()
    }
}

struct Worker {
    store: Store,
    /// Receipts that are not yet committed.
    batch: Vec<Receipt>,
    /// Receipts that went to the log since the last flush was answered.
    lost: u64,
}

impl Worker {
    async fn run(mut self, mut messages: mpsc::Receiver<Message>) {
        while let Some(message) = messages.recv().await {
            self.take(message, &mut messages).await;
            let deadline = Instant::now() + BATCH_DELAY;
            while !self.batch.is_empty() {
                if self.batch.len() >= BATCH_MAX {
                    self.commit().await;
                    break;
                }
                match timeout_at(deadline, messages.recv()).await {
                    Ok(Some(message)) => self.take(message, &mut messages).await,
                    Ok(None) | Err(_) => self.commit().await,
                }
            }
        }
    }

    async fn take(&mut self, message: Message, messages: &mut mpsc::Receiver<Message>) {
        match message {
            Message::Write(receipt) => self.batch.push(*receipt),
            Message::Flush(done) => {
                self.commit().await;
                if done.send(self.lost).is_ok() {
                    self.lost = 0;
                }
            }
            // What is queued already can still be received.
            Message::Close => messages.close(),
        }
    }

    async fn commit(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        match self.attempt(&batch).await {
            Ok(()) => {}
            // One receipt that the database will never take must not cost the others.
            Err(error) if !error.is_transient() && batch.len() > 1 => {
                tracing::warn!(%error, count = batch.len(), "storing receipts one by one");
                for receipt in &batch {
                    if let Err(error) = self.attempt(std::slice::from_ref(receipt)).await {
                        self.give_up(std::slice::from_ref(receipt), &error);
                    }
                }
            }
            Err(error) => self.give_up(&batch, &error),
        }
        self.batch = batch;
        self.batch.clear();
    }

    async fn attempt(&self, batch: &[Receipt]) -> Result<()> {
        let mut pause = BACKOFF_FIRST;
        for attempt in 1.. {
            match self.store.put_receipts(batch).await {
                Err(error) if error.is_transient() && attempt < ATTEMPTS_MAX => {
                    tracing::warn!(%error, attempt, count = batch.len(), "receipts not stored yet");
                }
                result => return result,
            }
            sleep(pause).await;
            pause = (pause * 2).min(BACKOFF_MAX);
        }
        Ok(())
    }

    /// The log becomes the record of what the database did not take.
    fn give_up(&mut self, batch: &[Receipt], error: &StoreError) {
        self.lost = self.lost.saturating_add(batch.len() as u64);
        let cause = std::error::Error::source(error).map(ToString::to_string);
        for receipt in batch {
            let document = serde_json::to_string(receipt).unwrap_or_default();
            let id = receipt.id;
            tracing::error!(%error, cause, %id, document, "a receipt could not be stored");
        }
    }
}
