//! What the process says with its exit code: one table, from which the help is made.

use std::process::ExitCode;

use bulkhead_domain::Outcome;

/// How the program ended, for scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// What was asked for is done.
    Done = 0,
    /// The tool ran and failed by itself.
    ToolFailed = 1,
    /// The command line is wrong. The number that clap uses.
    Usage = 2,
    /// The input is wrong, or there is no such tool or user.
    InvalidInput = 3,
    /// A grant, a consent or a token is missing.
    Denied = 4,
    /// The call hit a limit.
    Limit = 5,
    /// A component was not accepted, or a crate did not build.
    Refused = 6,
    /// The server could not be reached, or refused.
    Server = 7,
    /// This machine failed: a file, the disk, the sandbox itself.
    Host = 8,
    /// Ended by Ctrl-C, as shells number it.
    Interrupted = 130,
}

/// Every code with its meaning, as the help prints it.
const TABLE: [(Exit, &str); 10] = [
    (Exit::Done, "done"),
    (
        Exit::ToolFailed,
        "the tool ran and failed: its own error, a trap, output against its schema",
    ),
    (Exit::Usage, "the command line is wrong"),
    (
        Exit::InvalidInput,
        "invalid input: not JSON, against the schema, no such tool or user, a weak password",
    ),
    (
        Exit::Denied,
        "denied: a grant, a consent or a token is missing",
    ),
    (Exit::Limit, "stopped by a limit: fuel, memory, time, sizes"),
    (
        Exit::Refused,
        "the component was refused, or the crate did not build",
    ),
    (
        Exit::Server,
        "the server could not be reached, or refused the request",
    ),
    (
        Exit::Host,
        "this machine failed: a file, the disk, the sandbox",
    ),
    (Exit::Interrupted, "cancelled with Ctrl-C"),
];

impl Exit {
    /// The code for a call that ended like this.
    pub(crate) fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Ok => Self::Done,
            Outcome::InvalidInput | Outcome::UnknownTool => Self::InvalidInput,
            Outcome::Denied => Self::Denied,
            Outcome::OutOfFuel
            | Outcome::DeadlineExceeded
            | Outcome::OutOfMemory
            | Outcome::LimitExceeded => Self::Limit,
            Outcome::Cancelled => Self::Interrupted,
            Outcome::Overloaded => Self::Server,
            Outcome::HostError => Self::Host,
            // Tool errors, traps, early exits, wrong output, and what later versions add.
            _ => Self::ToolFailed,
        }
    }

    /// The table for the end of a help text.
    pub(crate) fn help() -> String {
        let mut text = String::from("Exit codes:\n");
        for (exit, meaning) in TABLE {
            text.push_str(&format!("  {:>3}  {meaning}\n", exit as u8));
        }
        text.trim_end().to_owned()
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_has_the_same_code_and_no_other_outcome_has_it() {
        let limits = [
            Outcome::OutOfFuel,
            Outcome::DeadlineExceeded,
            Outcome::OutOfMemory,
            Outcome::LimitExceeded,
        ];
        assert!(
            limits
                .iter()
                .all(|outcome| Exit::of(*outcome) == Exit::Limit)
        );
        for outcome in [
            Outcome::Ok,
            Outcome::ToolError,
            Outcome::Denied,
            Outcome::Trap,
        ] {
            assert_ne!(Exit::of(outcome), Exit::Limit, "{outcome}");
        }
    }

    #[test]
    fn the_help_names_every_code_once() {
        let help = Exit::help();
        for (exit, _) in TABLE {
            let start = format!("  {:>3}  ", exit as u8);
            assert_eq!(
                help.lines().filter(|line| line.starts_with(&start)).count(),
                1
            );
        }
    }
}
