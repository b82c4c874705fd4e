//! How a password is given: in a variable or on standard input, never as an argument, which every
//! user of the machine can read.

use std::io::{self, IsTerminal as _, Read};

use bulkhead_access::Password;
use zeroize::Zeroizing;

use crate::cli::{error::CliError, exit::Exit};

/// The variable that a password is read from.
const VARIABLE: &str = "BULKHEAD_PASSWORD";
/// Bytes of standard input that are read: more than any password has, so that one that is too long
/// is told to be.
const BYTES_MAX: u64 = 16 << 10;

/// What the help says of it.
pub(super) const HELP: &str = "\
The password is read from BULKHEAD_PASSWORD where that is set, otherwise from standard input: one
line. To type it without showing it: read -rs BULKHEAD_PASSWORD && export BULKHEAD_PASSWORD";

/// The password that was given to this process.
pub(super) fn read() -> Result<Password, CliError> {
    if let Some(given) = std::env::var_os(VARIABLE).filter(|given| !given.is_empty()) {
        let given = given.into_string().map_err(|_| not_utf8(VARIABLE))?;
        return Ok(Password::new(given));
    }
    let input = io::stdin();
    if input.is_terminal() {
        return Err(CliError::usage(
            "the password is missing, and is not asked for where it would be seen",
        )
        .hint(format!(
            "read -rs {VARIABLE} && export {VARIABLE}, or give it on standard input"
        )));
    }
    read_line(input.lock())
}

/// The one line that there is. Its end is the terminal's or the file's, not the password's.
fn read_line(input: impl Read) -> Result<Password, CliError> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(BYTES_MAX as usize));
    let read = input.take(BYTES_MAX).read_to_end(&mut bytes);
    read.map_err(|error| CliError::host("can't read standard input", error))?;
    let text = std::str::from_utf8(&bytes).map_err(|_| not_utf8("standard input"))?;
    let line = text.strip_suffix('\n').unwrap_or(text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.is_empty() {
        return Err(CliError::usage("the password is missing").hint(format!(
            "give it on standard input, or in the variable {VARIABLE}"
        )));
    }
    if line.contains('\n') {
        return Err(CliError::usage(
            "standard input has more than one line, and a password is one",
        ));
    }
    Ok(Password::new(line))
}

fn not_utf8(what: &str) -> CliError {
    CliError::new(
        Exit::InvalidInput,
        "not_utf8",
        format!("{what} is no UTF-8"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_one_line_without_its_end() {
        for input in ["horse battery", "horse battery\n", "horse battery\r\n"] {
            assert!(read_line(input.as_bytes()).is_ok(), "{input:?}");
        }
        for input in ["", "\n", "\r\n", "horse\nbattery", "horse\n\n"] {
            let error = read_line(input.as_bytes()).expect_err("none");
            assert_eq!(error.exit, Exit::Usage, "{input:?}");
        }
        let error = read_line(&b"\xff\xff\xff\xff\xff\xff\xff\xff"[..]).expect_err("none");
        assert_eq!(error.exit, Exit::InvalidInput);
        assert!(
            read_line(io::repeat(b'x')).is_ok(),
            "it ends, and is too long"
        );
    }
}
