//! Dates and times as models write them, in the form that the host reads, and how long ago they
//! were.

use bulkhead_sdk::Error;
use time::{
    Date, Duration, OffsetDateTime, PrimitiveDateTime, Time, UtcOffset,
    format_description::well_known::{Iso8601, Rfc3339},
};

/// Where a day's last moment is, as precise as databases keep it.
const END_OF_DAY: (u8, u8, u8, u32) = (23, 59, 59, 999_999);
const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// Older than any conversation.
const CENTURY: i64 = 100 * 366 * DAY;

/// The beginning of a span as RFC 3339; a date is its first moment. None for nothing and for an
/// empty text, which models send for it.
pub(crate) fn since(parameter: &str, text: Option<&str>) -> Result<Option<String>, Error> {
    bound(parameter, text, Time::MIDNIGHT)
}

/// The end of a span as RFC 3339; a date is its last moment.
pub(crate) fn until(parameter: &str, text: Option<&str>) -> Result<Option<String>, Error> {
    let (hour, minute, second, micro) = END_OF_DAY;
    let end = Time::from_hms_micro(hour, minute, second, micro).unwrap_or(Time::MAX);
    bound(parameter, text, end)
}

fn bound(parameter: &str, text: Option<&str>, of_day: Time) -> Result<Option<String>, Error> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let moment = read(text, of_day).and_then(rfc3339);
    moment.map(Some).ok_or_else(|| {
        Error::Failed(format!(
            "Invalid {parameter}: '{text}'. Use an ISO 8601 date such as 2025-01-31, or a date and time such as \
             2025-01-31T14:30."
        ))
    })
}

/// A moment, or a day's `of_day`; without an offset in UTC.
fn read(text: &str, of_day: Time) -> Option<OffsetDateTime> {
    // A space between date and time is usual too.
    let text = text.replacen(' ', "T", 1);
    if let Ok(moment) = OffsetDateTime::parse(&text, &Iso8601::PARSING) {
        return Some(moment);
    }
    if let Ok(local) = PrimitiveDateTime::parse(&text, &Iso8601::PARSING) {
        return Some(local.assume_utc());
    }
    let date = Date::parse(&text, &Iso8601::PARSING).ok()?;
    Some(PrimitiveDateTime::new(date, of_day).assume_utc())
}

/// The moment in UTC as RFC 3339; none beyond the years 0 to 9999.
pub(crate) fn rfc3339(moment: OffsetDateTime) -> Option<String> {
    moment
        .checked_to_offset(UtcOffset::UTC)?
        .format(&Rfc3339)
        .ok()
}

/// The moment so many minutes before `now`: `now` for a negative number, a century ago for more than
/// that.
pub(crate) fn minutes_before(now: OffsetDateTime, minutes: i64) -> OffsetDateTime {
    let minutes = minutes.clamp(0, CENTURY / MINUTE);
    now.saturating_sub(Duration::seconds(minutes * MINUTE))
}

/// How long before `now` it was, in the largest unit that fits: `3 hours ago`. Empty for what is
/// no time.
pub(crate) fn ago(timestamp: &str, now: OffsetDateTime) -> String {
    let Ok(then) = OffsetDateTime::parse(timestamp, &Rfc3339) else {
        return String::new();
    };
    let seconds = (now - then).whole_seconds();
    let (count, unit) = match seconds {
        ..MINUTE => return "just now".to_owned(),
        MINUTE..HOUR => (seconds / MINUTE, "minute"),
        HOUR..DAY => (seconds / HOUR, "hour"),
        DAY.. => (seconds / DAY, "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural} ago")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_its_whole_day_and_a_time_is_a_moment() {
        let since = |text| since("start_date", Some(text)).expect("it is a time");
        let until = |text| until("end_date", Some(text)).expect("it is a time");
        assert_eq!(since("2025-01-31").as_deref(), Some("2025-01-31T00:00:00Z"));
        assert_eq!(
            until("2025-01-31").as_deref(),
            Some("2025-01-31T23:59:59.999999Z")
        );
        for (text, expected) in [
            ("2025-01-31T14:30", "2025-01-31T14:30:00Z"),
            ("2025-01-31 14:30:15", "2025-01-31T14:30:15Z"),
            ("2025-01-31T14:30:15.5Z", "2025-01-31T14:30:15.5Z"),
            ("2025-01-31T14:30:15+02:00", "2025-01-31T12:30:15Z"),
        ] {
            assert_eq!(since(text).as_deref(), Some(expected), "{text}");
            assert_eq!(until(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused_and_nothing_is_nothing() {
        for text in ["yesterday", "2025-13-01", "2025-01-31T25:00", "31.1.2025"] {
            let error = since("start_date", Some(text)).expect_err(text);
            assert!(
                error.to_string().starts_with("Invalid start_date: "),
                "{error}"
            );
        }
        assert_eq!(since("start_date", None), Ok(None));
        assert_eq!(since("start_date", Some(" ")), Ok(None));
    }

    #[test]
    fn how_long_ago_is_told_in_the_largest_unit() {
        let now = OffsetDateTime::parse("2025-01-31T12:00:00Z", &Rfc3339).expect("a time");
        for (then, expected) in [
            ("2025-01-31T12:00:30Z", "just now"),
            ("2025-01-31T11:59:30Z", "just now"),
            ("2025-01-31T11:58:30Z", "1 minute ago"),
            ("2025-01-31T09:00:00Z", "3 hours ago"),
            ("2025-01-30T12:00:00Z", "1 day ago"),
            ("2024-12-31T12:00:00Z", "31 days ago"),
            ("?", ""),
        ] {
            assert_eq!(ago(then, now), expected, "{then}");
        }
    }

    #[test]
    fn no_number_of_minutes_leaves_the_calendar() {
        let now = OffsetDateTime::UNIX_EPOCH;
        assert_eq!(minutes_before(now, -5), now);
        assert_eq!(minutes_before(now, 1), now - Duration::MINUTE);
        assert_eq!(minutes_before(now, i64::MAX).year(), 1869);
    }
}
