//! Times of files.

use std::{io, os::fd::AsFd, time::Duration};

use cap_fs_ext::SystemTimeSpec;
use cap_std::time::SystemTime;
use rustix::fs::{Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};
use wasmtime_wasi::p2::bindings::clocks::wall_clock::Datetime;

use super::bindings::types::{ErrorCode, NewTimestamp};

const NANOS_PER_SECOND: u32 = 1_000_000_000;

/// New times of a file.
pub(super) struct Times {
    access: NewTimestamp,
    modification: NewTimestamp,
}

impl Times {
    /// Checks that both can be a file's times.
    pub(super) fn new(access: NewTimestamp, modification: NewTimestamp) -> Result<Self, ErrorCode> {
        for time in [&access, &modification] {
            if let NewTimestamp::Timestamp(time) = time {
                if time.nanoseconds >= NANOS_PER_SECOND {
                    return Err(ErrorCode::Invalid);
                }
                // Half of the range leaves room for file systems that count from elsewhere.
                if time.seconds > i64::MAX as u64 / 2 {
                    return Err(ErrorCode::Overflow);
                }
            }
        }
        Ok(Self {
            access,
            modification,
        })
    }

    /// Sets them on an open file or folder.
    pub(super) fn set_on(&self, file: impl AsFd) -> io::Result<()> {
        let times = Timestamps {
            last_access: timespec(&self.access),
            last_modification: timespec(&self.modification),
        };
        Ok(rustix::fs::futimens(file, &times)?)
    }

    /// As cap-std takes them, access first.
    pub(super) fn specs(&self) -> io::Result<[Option<SystemTimeSpec>; 2]> {
        Ok([spec(&self.access)?, spec(&self.modification)?])
    }
}

fn timespec(time: &NewTimestamp) -> Timespec {
    match time {
        NewTimestamp::NoChange => Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_OMIT,
        },
        NewTimestamp::Now => Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_NOW,
        },
        NewTimestamp::Timestamp(time) => Timespec {
            tv_sec: i64::try_from(time.seconds).unwrap_or(i64::MAX),
            tv_nsec: time.nanoseconds.into(),
        },
    }
}

fn spec(time: &NewTimestamp) -> io::Result<Option<SystemTimeSpec>> {
    Ok(match time {
        NewTimestamp::NoChange => None,
        NewTimestamp::Now => Some(SystemTimeSpec::SymbolicNow),
        NewTimestamp::Timestamp(time) => {
            let since = Duration::new(time.seconds, time.nanoseconds);
            let time = std::time::SystemTime::UNIX_EPOCH.checked_add(since);
            let time = time.ok_or(io::ErrorKind::InvalidInput)?;
            Some(SystemTimeSpec::Absolute(SystemTime::from_std(time)))
        }
    })
}

/// A time of a file as seconds and nanoseconds since 1970; none for one before.
pub(super) fn datetime(seconds: i64, nanoseconds: i64) -> Option<Datetime> {
    Some(Datetime {
        seconds: u64::try_from(seconds).ok()?,
        nanoseconds: u32::try_from(nanoseconds).ok()?,
    })
}
