//! The threads on which passwords are hashed and compared.
//!
//! A hash takes some 20 ms and 19 MiB on purpose. On the runtime's threads it would hold up every
//! request and every tool; on its pool for blocking work hundreds could run at once. So there are one
//! or two threads of their own, which give way to everything else, and a queue with an end.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread,
};

use bulkhead_domain::platform::User;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::{Password, PasswordError, Verdict, hash, strength};

/// Passwords that wait at once. The last of them waits some seconds: as long as anybody waits for a
/// form, and less than proxies do.
pub const QUEUE_MAX: usize = 256;
/// Threads at most. Sign-ins are rare; what they may cost the machine is bounded.
const THREADS_MAX: usize = 2;
/// How much nicer than the process the threads are: of a processor that others want too they get
/// about a tenth.
#[cfg(target_os = "linux")]
const NICER: i32 = 10;
/// The nicest that there is.
#[cfg(target_os = "linux")]
const NICEST: i32 = 19;

type Job = Box<dyn FnOnce() + Send>;

/// Hashes and compares passwords off the runtime's threads. Clones share the threads, which end
/// after the last of them.
#[derive(Clone)]
pub struct Passwords {
    queue: SyncSender<Job>,
    /// What is compared where there is no user of that address.
    decoy: Arc<str>,
}

/// The threads for passwords were not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The system gave no thread.
    #[error("no thread could be started")]
    Thread(#[source] std::io::Error),
    /// The hash that stands for those of unknown addresses could not be made.
    #[error(transparent)]
    Decoy(#[from] PasswordError),
}

impl Passwords {
    /// Starts the threads: half as many as the machine has processors, one or two.
    ///
    /// # Errors
    ///
    /// [`StartError`] where the system gives no thread or no random bytes.
    pub fn start() -> Result<Self, StartError> {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Self::start_with((processors / 2).clamp(1, THREADS_MAX), QUEUE_MAX)
    }

    fn start_with(threads: usize, queue_max: usize) -> Result<Self, StartError> {
        let decoy = hash::decoy()?.into();
        let (queue, jobs) = sync_channel(queue_max);
        let jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..threads {
            let jobs = Arc::clone(&jobs);
            thread::Builder::new()
                .name("passwords".to_owned())
                .spawn(move || work(&jobs))
                .map_err(StartError::Thread)?;
        }
        Ok(Self { queue, decoy })
    }

    /// The hash of a new password of this user, to be stored; its address and names make it easier
    /// to guess.
    ///
    /// # Errors
    ///
    /// [`PasswordError::Weak`] where the password is refused, otherwise as [`Passwords::hash`].
    pub async fn accept(&self, password: Password, user: &User) -> Result<String, PasswordError> {
        let user = user.clone();
        self.run(move || {
            strength::check(&password, &user)?;
            hash::hash(&password)
        })
        .await
    }

    /// The hash of a password that is somebody's already: after [`Verdict::RightButOutdated`].
    ///
    /// # Errors
    ///
    /// [`PasswordError::Busy`] where [`QUEUE_MAX`] wait already, [`PasswordError::Random`] and
    /// [`PasswordError::Failed`] where this machine can't.
    pub async fn hash(&self, password: Password) -> Result<String, PasswordError> {
        self.run(move || hash::hash(&password)).await
    }

    /// Compares a password with the stored hash of a user; with none where there is no such user,
    /// which takes as long and is [`Verdict::Wrong`].
    ///
    /// # Errors
    ///
    /// [`PasswordError::Stored`] where the hash is none, otherwise as [`Passwords::hash`].
    pub async fn verify(
        &self,
        stored: Option<String>,
        password: Password,
    ) -> Result<Verdict, PasswordError> {
        let is_somebody = stored.is_some();
        let stored = stored.map_or_else(|| Arc::clone(&self.decoy), Arc::from);
        let verdict = self.run(move || hash::verify(&stored, &password)).await?;
        Ok(if is_somebody { verdict } else { Verdict::Wrong })
    }

    /// Does the work on one of the threads. Nobody who has gone away is worked for.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, PasswordError> + Send + 'static,
    ) -> Result<T, PasswordError> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(move || {
            if !reply.is_closed() {
                let _ = reply.send(work());
            }
        });
        self.queue.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => PasswordError::Busy,
            TrySendError::Disconnected(_) => PasswordError::Failed,
        })?;
        answer.await.map_err(|_| PasswordError::Failed)?
    }
}

impl std::fmt::Debug for Passwords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Passwords").finish_non_exhaustive()
    }
}

/// A thread's life: one job after the other, until nobody can send any more.
fn work(jobs: &Mutex<Receiver<Job>>) {
    give_way();
    loop {
        // Of the threads one waits for a job, the others for that one.
        let job = jobs.lock().recv();
        let Ok(job) = job else { return };
        // Whoever waits for the answer learns that there is none; the thread goes on.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}

/// Lowers the priority of this thread. Where that is refused, it works as the others do.
#[cfg(target_os = "linux")]
fn give_way() {
    use rustix::process::{getpriority_process, setpriority_process};
    // On Linux no process means the calling thread.
    let present = getpriority_process(None).unwrap_or(0);
    let _ = setpriority_process(None, (present + NICER).min(NICEST));
}

/// Elsewhere a priority is that of the whole process.
#[cfg(not(target_os = "linux"))]
fn give_way() {}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    }

    #[test]
    fn a_new_password_is_accepted_and_then_compared() {
        runtime().block_on(async {
            let passwords = Passwords::start().unwrap();
            let user = User::new("ada@example.com");
            let weak = passwords.accept(Password::new("password"), &user).await;
            assert!(matches!(weak, Err(PasswordError::Weak(_))), "{weak:?}");
            let password = || Password::new("correct horse battery");
            let stored = passwords.accept(password(), &user).await.unwrap();
            for (stored, password, expected) in [
                (Some(stored.clone()), password(), Verdict::Right),
                (Some(stored), Password::new("password"), Verdict::Wrong),
                (None, password(), Verdict::Wrong),
            ] {
                assert_eq!(passwords.verify(stored, password).await.unwrap(), expected);
            }
        });
    }

    #[test]
    fn who_is_unknown_is_refused_as_late_as_who_is_known() {
        runtime().block_on(async {
            let passwords = Passwords::start_with(1, 1).unwrap();
            let stored = passwords
                .hash(Password::new("correct horse"))
                .await
                .unwrap();
            let mut spent = [Duration::MAX; 2];
            // The shortest of several: what else runs only makes them longer.
            for _ in 0..5 {
                for (place, stored) in [(0, None), (1, Some(stored.clone()))] {
                    let begin = Instant::now();
                    let verdict = passwords.verify(stored, Password::new("wrong")).await;
                    assert_eq!(verdict.unwrap(), Verdict::Wrong);
                    spent[place] = spent[place].min(begin.elapsed());
                }
            }
            let [unknown, known] = spent;
            assert!(unknown > known / 2 && known > unknown / 2, "{spent:?}");
        });
    }

    /// A pool of one thread, which is busy until the sender is dropped.
    fn blocked(queue_max: usize) -> (Passwords, SyncSender<()>) {
        let passwords = Passwords::start_with(1, queue_max).unwrap();
        let (begun, has_begun) = sync_channel::<()>(0);
        let (end, ended) = sync_channel::<()>(0);
        let wait = move || {
            let _ = begun.send(());
            let _ = ended.recv();
        };
        assert!(passwords.queue.try_send(Box::new(wait)).is_ok());
        has_begun.recv().unwrap();
        (passwords, end)
    }

    #[test]
    fn a_full_queue_says_so_at_once_and_the_runtime_goes_on() {
        runtime().block_on(async {
            let (passwords, end) = blocked(2);
            let waiting = [(); 2].map(|()| {
                let passwords = passwords.clone();
                tokio::spawn(async move { passwords.hash(Password::new("correct")).await })
            });
            // The only thread of the runtime has time for this, and for the two.
            tokio::task::yield_now().await;
            let refused = passwords.hash(Password::new("correct")).await;
            assert!(matches!(refused, Err(PasswordError::Busy)), "{refused:?}");
            drop(end);
            for waiting in waiting {
                waiting.await.unwrap().unwrap();
            }
        });
    }

    #[test]
    fn nobody_works_for_who_has_gone_away() {
        runtime().block_on(async {
            let (passwords, end) = blocked(2);
            let (worked, has_worked) = sync_channel(1);
            let gone = passwords.run(move || {
                let _ = worked.send(());
                Ok(())
            });
            let gone = tokio::time::timeout(Duration::from_millis(1), gone).await;
            assert!(gone.is_err());
            drop(end);
            // What comes later is done later.
            passwords.run(|| Ok(())).await.unwrap();
            assert!(has_worked.try_recv().is_err());
        });
    }

    #[test]
    fn a_panic_costs_one_answer_and_no_thread() {
        runtime().block_on(async {
            let passwords = Passwords::start_with(1, 2).unwrap();
            let failed = passwords.run::<()>(|| panic!("on purpose")).await;
            assert!(matches!(failed, Err(PasswordError::Failed)), "{failed:?}");
            assert!(passwords.run(|| Ok(())).await.is_ok());
        });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_threads_give_way_and_the_others_do_not() {
        use rustix::process::getpriority_process;
        runtime().block_on(async {
            let before = getpriority_process(None).unwrap();
            let passwords = Passwords::start_with(1, 1).unwrap();
            let theirs = passwords.run(|| Ok(getpriority_process(None).unwrap()));
            let theirs = theirs.await.unwrap();
            assert!(theirs > before || before == NICEST, "{theirs}, {before}");
            assert_eq!(getpriority_process(None).unwrap(), before);
        });
    }
}
