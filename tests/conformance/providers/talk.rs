//! What a request says of its conversation, as far as the plot needs it, and the faults in it that
//! every vendor refuses.

use serde_json::Value;

/// Why a vendor would refuse a request.
#[derive(Debug)]
pub(crate) struct Fault(pub(crate) String);

impl Fault {
    /// A fault where something does not hold.
    pub(crate) fn unless(holds: bool, fault: impl FnOnce() -> String) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self(fault())) }
    }
}

/// The last thing that a user said, and what tools gave since.
#[derive(Debug, Default)]
pub(crate) struct Talk {
    /// The user's words.
    pub(crate) text: String,
    /// Places that were looked up, and what was found there.
    pub(crate) results: Vec<(String, String)>,
    /// Whether reasoning is told.
    pub(crate) reasons: bool,
    /// Calls without results yet: ids and places.
    open: Vec<(String, String)>,
}

impl Talk {
    /// One that has not begun.
    pub(crate) fn new(reasons: bool) -> Self {
        Self {
            reasons,
            ..Self::default()
        }
    }

    /// A user says something.
    pub(crate) fn user(&mut self, text: &str) -> Result<(), Fault> {
        self.nothing_open("a message of a user")?;
        text.clone_into(&mut self.text);
        self.results.clear();
        Ok(())
    }

    /// The model says something.
    pub(crate) fn model(&self) -> Result<(), Fault> {
        self.nothing_open("an answer")
    }

    /// The model calls a tool.
    pub(crate) fn call(&mut self, id: &str, arguments: &Value) -> Result<(), Fault> {
        let place = arguments["place"].as_str();
        let place = place.ok_or_else(|| Fault(format!("arguments of {id}: {arguments}")))?;
        self.open.push((id.to_owned(), place.to_owned()));
        Ok(())
    }

    /// A tool's result, packed as JSON or as a text of it.
    pub(crate) fn result(&mut self, id: &str, packed: &Value) -> Result<(), Fault> {
        let at = self.open.iter().position(|(open, _)| open == id);
        let at = at.ok_or_else(|| Fault(format!("a result of {id}, which was not called")))?;
        let (_, place) = self.open.remove(at);
        let said = unpacked(packed)
            .ok_or_else(|| Fault(format!("a result that holds no message: {packed}")))?;
        self.results.push((place, said));
        Ok(())
    }

    /// The request ends here.
    pub(crate) fn end(&self) -> Result<(), Fault> {
        self.nothing_open("the end")
    }

    /// How many calls have no result yet.
    pub(crate) fn open(&self) -> usize {
        self.open.len()
    }

    fn nothing_open(&self, what: &str) -> Result<(), Fault> {
        let open = &self.open;
        Fault::unless(open.is_empty(), || {
            format!("{what} before results of {open:?}")
        })
    }
}

/// The message in a packed result.
pub(crate) fn unpacked(packed: &Value) -> Option<String> {
    let parsed = match packed {
        Value::String(text) => serde_json::from_str(text).ok()?,
        other => other.clone(),
    };
    (parsed["status"] == "OK" && parsed["time"].is_string())
        .then(|| parsed["message"].as_str().map(str::to_owned))?
}
