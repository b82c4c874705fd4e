//! Files and standard input that a command reads, each with a bound.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use super::{error::CliError, exit::Exit};

/// Bytes of a JSON file or of standard input: the most that a call may get, and then some.
const MAX_TEXT_BYTES: u64 = 16 << 20;
/// Bytes of a component that is read at all. The sandbox's own limit is lower and names itself;
/// this one keeps a device or a wrong file from filling the memory.
const MAX_COMPONENT_BYTES: u64 = 256 << 20;

/// The text of a file; of standard input for `-`.
pub(crate) fn read_text(path: &Path) -> Result<String, CliError> {
    let bytes = if path.as_os_str() == "-" {
        read(io::stdin().lock(), MAX_TEXT_BYTES)
    } else {
        File::open(path).and_then(|file| read(file, MAX_TEXT_BYTES))
    };
    let bytes = bytes.map_err(|error| cant_read(path, &error))?;
    String::from_utf8(bytes).map_err(|_| {
        CliError::new(
            Exit::InvalidInput,
            "not_utf8",
            format!("{} is no UTF-8", path.display()),
        )
    })
}

/// The bytes of a component.
pub(crate) fn read_component(path: &Path) -> Result<Vec<u8>, CliError> {
    let bytes = File::open(path).and_then(|file| read(file, MAX_COMPONENT_BYTES));
    bytes.map_err(|error| cant_read(path, &error))
}

fn cant_read(path: &Path, error: &io::Error) -> CliError {
    let problem = CliError::host(format_args!("can't read {}", path.display()), error);
    match error.kind() {
        io::ErrorKind::NotFound => CliError {
            exit: Exit::Usage,
            code: "no_such_file".to_owned(),
            ..problem
        },
        _ => problem,
    }
}

/// All bytes; an error if there are more than `limit`.
fn read(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("more than {limit} bytes"),
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_longer_than_its_bound_is_refused_not_cut() {
        assert_eq!(read(&b"abc"[..], 3).expect("fits"), b"abc");
        assert!(read(&b"abcd"[..], 3).is_err());
        assert!(read(io::repeat(0), 1_000).is_err());
    }

    #[test]
    fn a_missing_file_is_an_error_of_the_command_line() {
        let error = read_text(Path::new("/no/such/file")).expect_err("missing");
        assert_eq!(
            (error.exit, error.code.as_str()),
            (Exit::Usage, "no_such_file")
        );
    }
}
