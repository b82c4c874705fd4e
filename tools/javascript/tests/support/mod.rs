//! A host for tests, and short ways to run source.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::{cell::RefCell, rc::Rc, time::Duration};

use tool_javascript::{
    abi::{
        Content, Ended, Environment, Exception, Execution, HttpError, Language, Output, PeerError,
        Request, Response, Source,
    },
    host::{Host, Stream},
};

type Answer = Box<dyn Fn(&Request) -> Result<Response, HttpError>>;

/// A host that remembers what it was asked.
pub(crate) struct TestHost {
    pub(crate) printed: RefCell<Vec<(Stream, String)>>,
    pub(crate) requests: RefCell<Vec<Request>>,
    pub(crate) peer_calls: RefCell<Vec<(String, String)>>,
    pub(crate) slept: RefCell<Vec<Duration>>,
    answer: Answer,
}

impl TestHost {
    pub(crate) fn new() -> Rc<Self> {
        Self::answering(|_| Err(HttpError::Denied("no grant for this host".to_owned())))
    }

    pub(crate) fn answering(
        answer: impl Fn(&Request) -> Result<Response, HttpError> + 'static,
    ) -> Rc<Self> {
        Rc::new(Self {
            printed: RefCell::default(),
            requests: RefCell::default(),
            peer_calls: RefCell::default(),
            slept: RefCell::default(),
            answer: Box::new(answer),
        })
    }

    /// What was printed to one stream.
    pub(crate) fn lines(&self, stream: Stream) -> Vec<String> {
        let printed = self.printed.borrow();
        let lines = printed.iter().filter(|(to, _)| *to == stream);
        lines.map(|(_, line)| line.clone()).collect()
    }
}

impl Host for TestHost {
    fn print(&self, stream: Stream, line: &str) {
        self.printed.borrow_mut().push((stream, line.to_owned()));
    }

    fn fetch(&self, request: &Request) -> Result<Response, HttpError> {
        self.requests.borrow_mut().push(request.clone());
        (self.answer)(request)
    }

    fn call_peer(&self, name: &str, input: &str) -> Result<Output, PeerError> {
        let call = (name.to_owned(), input.to_owned());
        self.peer_calls.borrow_mut().push(call);
        match name {
            "broken" => Err(PeerError::Stopped("it ran out of fuel".to_owned())),
            _ => Ok(Output {
                content: vec![Content::Text("text".to_owned())],
                structured: Some(format!("{{\"echo\":{input}}}")),
            }),
        }
    }

    fn sleep(&self, duration: Duration) {
        self.slept.borrow_mut().push(duration);
        std::thread::sleep(duration);
    }
}

pub(crate) fn javascript(text: &str) -> Source {
    source(Language::Javascript, text)
}

pub(crate) fn typescript(text: &str) -> Source {
    source(Language::Typescript, text)
}

fn source(language: Language, text: &str) -> Source {
    Source {
        language,
        text: text.to_owned(),
        function: None,
    }
}

pub(crate) fn environment() -> Environment {
    Environment {
        variables: Vec::new(),
        packages: Vec::new(),
        agent: None,
        peers: Vec::new(),
    }
}

pub(crate) fn call_with(source: &Source, input: &str, host: Rc<TestHost>) -> Execution {
    tool_javascript::call(source, input, &[], &environment(), host)
}

/// Calls a tool, and gives its result as JSON.
#[track_caller]
pub(crate) fn call(source: &Source, input: &str) -> String {
    structured(call_with(source, input, TestHost::new()))
}

pub(crate) fn run_with(source: &Source, host: Rc<TestHost>) -> Execution {
    tool_javascript::run(source, &environment(), host)
}

/// Runs a script of JavaScript, and gives its result as JSON.
#[track_caller]
pub(crate) fn run(text: &str) -> String {
    structured(run_with(&javascript(text), TestHost::new()))
}

/// What a script prints.
#[track_caller]
pub(crate) fn printed(text: &str) -> String {
    let host = TestHost::new();
    let execution = run_with(&javascript(text), Rc::clone(&host));
    assert!(
        matches!(execution.ended, Ended::Returned(_)),
        "{execution:?}"
    );
    host.lines(Stream::Out).join("\n")
}

#[track_caller]
pub(crate) fn structured(execution: Execution) -> String {
    match execution.ended {
        Ended::Returned(output) => output.structured.expect("every result has a value"),
        other => panic!("it did not return: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn raised(execution: Execution) -> Exception {
    match execution.ended {
        Ended::Raised(exception) => exception,
        other => panic!("nothing was raised: {other:?}"),
    }
}

/// The exception of a script of JavaScript.
#[track_caller]
pub(crate) fn run_raised(text: &str) -> Exception {
    raised(run_with(&javascript(text), TestHost::new()))
}

/// The problems of a call as `(at, message)`.
#[track_caller]
pub(crate) fn problems(source: &Source, input: &str) -> Vec<(String, String)> {
    match call_with(source, input, TestHost::new()).ended {
        Ended::InvalidInput(problems) => {
            let pairs = problems.into_iter().map(|it| (it.at, it.message));
            pairs.collect()
        }
        other => panic!("the input was accepted: {other:?}"),
    }
}
