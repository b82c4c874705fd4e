//! Promises and timers.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, VecDeque},
    pin::pin,
    rc::Rc,
    task::{self, Poll, Waker},
    time::{Duration, Instant},
};

use boa_engine::{
    Context, JsResult, JsValue,
    job::{GenericJob, Job, JobExecutor, NativeAsyncJob, PromiseJob, TimeoutJob},
    object::builtins::JsFunction,
};

use crate::host::Host;

/// How long to wait for something outside of the program before looking again.
const PATIENCE: Duration = Duration::from_millis(1);

/// What is to be done, and when.
pub(crate) struct Jobs {
    host: Rc<dyn Host>,
    promises: RefCell<VecDeque<PromiseJob>>,
    others: RefCell<VecDeque<Other>>,
    /// By the time when they are due; equal ones in the order in which they were set.
    timers: RefCell<BTreeMap<(Instant, u32), Timer>>,
    last_timer: Cell<u32>,
}

enum Other {
    Generic(GenericJob),
    Async(NativeAsyncJob),
}

enum Timer {
    /// `setTimeout` and `setInterval`.
    Script {
        callback: JsFunction,
        arguments: Vec<JsValue>,
        every: Option<Duration>,
        /// Whether the program may end before.
        background: bool,
    },
    /// The engine's own.
    Engine(TimeoutJob),
}

impl Timer {
    fn is_waited_for(&self) -> bool {
        match self {
            Timer::Script { background, .. } => !background,
            Timer::Engine(job) => !job.cancelled(),
        }
    }
}

impl Jobs {
    pub(crate) fn new(host: Rc<dyn Host>) -> Self {
        Self {
            host,
            promises: RefCell::default(),
            others: RefCell::default(),
            timers: RefCell::default(),
            last_timer: Cell::new(0),
        }
    }

    /// Runs promises and timers until `done` says so, or nothing is left.
    pub(crate) fn run_until(
        &self,
        context: &mut Context,
        done: impl Fn(&Context) -> bool,
    ) -> JsResult<()> {
        loop {
            self.run_promises(context)?;
            if done(context) || !self.run_timer(context)? {
                return Ok(());
            }
        }
    }

    /// Runs everything but timers for which the program does not wait.
    pub(crate) fn finish(&self, context: &mut Context) -> JsResult<()> {
        self.run_until(context, |_| {
            let timers = self.timers.borrow();
            !timers.values().any(Timer::is_waited_for)
        })
    }

    /// Runs everything that is ready now.
    pub(crate) fn run_promises(&self, context: &mut Context) -> JsResult<()> {
        loop {
            // Each borrow ends before the job runs: it may add others.
            let promise = self.promises.borrow_mut().pop_front();
            if let Some(job) = promise {
                job.call(context)?;
                continue;
            }
            context.clear_kept_objects();
            let other = self.others.borrow_mut().pop_front();
            match other {
                Some(Other::Generic(job)) => drop(job.call(context)?),
                Some(Other::Async(job)) => drop(self.complete(job, context)?),
                None => return Ok(()),
            }
        }
    }

    /// Waits for the next timer and runs it; false if there is none.
    fn run_timer(&self, context: &mut Context) -> JsResult<bool> {
        let next = self.timers.borrow_mut().pop_first();
        let Some(((due, id), timer)) = next else {
            return Ok(false);
        };
        let wait = due.saturating_duration_since(Instant::now());
        if !wait.is_zero() {
            self.host.sleep(wait);
        }
        match timer {
            Timer::Engine(job) if job.cancelled() => {}
            Timer::Engine(job) => drop(job.call(context)?),
            Timer::Script {
                callback,
                arguments,
                every,
                background,
            } => {
                // Before the callback, which may stop it.
                if let Some(every) = every {
                    let again = Timer::Script {
                        callback: callback.clone(),
                        arguments: arguments.clone(),
                        every: Some(every),
                        background,
                    };
                    let at = Instant::now() + every;
                    self.timers.borrow_mut().insert((at, id), again);
                }
                callback.call(&JsValue::undefined(), &arguments, context)?;
            }
        }
        Ok(true)
    }

    /// Sets a timer and gives its number.
    pub(crate) fn set_timer(
        &self,
        callback: JsFunction,
        arguments: Vec<JsValue>,
        delay: Duration,
        repeats: bool,
    ) -> u32 {
        let timer = Timer::Script {
            callback,
            arguments,
            every: repeats.then_some(delay),
            background: false,
        };
        self.add_timer(timer, delay)
    }

    /// Sets a timer for which the program does not wait.
    pub(crate) fn set_background_timer(&self, callback: JsFunction, delay: Duration) -> u32 {
        let timer = Timer::Script {
            callback,
            arguments: Vec::new(),
            every: None,
            background: true,
        };
        self.add_timer(timer, delay)
    }

    fn add_timer(&self, timer: Timer, delay: Duration) -> u32 {
        let id = self.last_timer.get().wrapping_add(1);
        self.last_timer.set(id);
        let due = Instant::now() + delay;
        self.timers.borrow_mut().insert((due, id), timer);
        id
    }

    /// Forgets a timer.
    pub(crate) fn clear_timer(&self, id: u32) {
        self.timers.borrow_mut().retain(|(_, own), _| *own != id);
    }

    /// Runs a job that waits for something; few do, and none for long.
    fn complete(&self, job: NativeAsyncJob, context: &mut Context) -> JsResult<JsValue> {
        let context = RefCell::new(context);
        let mut future = pin!(job.call(&context));
        let mut task = task::Context::from_waker(Waker::noop());
        loop {
            match future.as_mut().poll(&mut task) {
                Poll::Ready(result) => return result,
                Poll::Pending => self.host.sleep(PATIENCE),
            }
        }
    }
}

impl JobExecutor for Jobs {
    fn enqueue_job(self: Rc<Self>, job: Job, _context: &mut Context) {
        match job {
            Job::PromiseJob(job) => self.promises.borrow_mut().push_back(job),
            Job::GenericJob(job) => self.others.borrow_mut().push_back(Other::Generic(job)),
            Job::AsyncJob(job) => self.others.borrow_mut().push_back(Other::Async(job)),
            Job::TimeoutJob(job) => {
                let delay = Duration::from_millis(job.timeout().as_millis());
                self.add_timer(Timer::Engine(job), delay);
            }
            // What finalises objects does not matter to a program that is about to end.
            _ => {}
        }
    }

    fn run_jobs(self: Rc<Self>, context: &mut Context) -> JsResult<()> {
        self.run_promises(context)
    }
}
