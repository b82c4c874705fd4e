//! Texts as points in time, by the rules and with the words of the contract's own validator.

use bulkhead_domain::Timestamp;

/// Type and beginning of the message of a fault in a text that should be a point in time.
pub(crate) const NO_DATE: (&str, &str) = (
    "datetime_from_date_parsing",
    "Input should be a valid datetime or date",
);

/// Numbers beyond it are milliseconds, others seconds, both since 1970.
const SECONDS_MAX: f64 = 2e10;
/// The last second of the year 9999 and the first one of the year 0, since 1970.
const LAST_SECOND: f64 = 253_402_300_799.999_999;
const FIRST_SECOND: f64 = -62_167_219_200.0;
/// Letters of a date (`2026-01-31`).
const DATE_LENGTH: usize = 10;

/// A date, a date with a time of day, or a number of seconds or milliseconds since 1970. Without a
/// zone it is in UTC. The error is what is wrong, as the contract says it.
pub(crate) fn date(text: &str) -> Result<Timestamp, &'static str> {
    if let Some(number) = number(text) {
        return since_1970(number);
    }
    let bytes = text.as_bytes();
    if bytes.len() < DATE_LENGTH {
        return Err("input is too short");
    }
    let (date, rest) = bytes.split_at(DATE_LENGTH);
    check_date(date)?;
    // Ten bytes of digits and hyphens end where a letter ends.
    let (date, time) = (&text[..DATE_LENGTH], &text[DATE_LENGTH..]);
    let midnight = format!("{date}T00:00:00Z");
    let midnight: Timestamp = midnight
        .parse()
        .map_err(|_| "day value is outside expected range")?;
    if rest.is_empty() {
        return Ok(midnight);
    }
    time_of_day(time)
        .and_then(|time| format!("{date}T{time}").parse().ok())
        .ok_or("unexpected extra characters at the end of the input")
}

/// Digits with at most one point and a sign; no exponent, no names.
fn number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_number = digits.bytes().any(|byte| byte.is_ascii_digit())
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_number.then(|| text.parse().ok()).flatten()
}

fn since_1970(number: f64) -> Result<Timestamp, &'static str> {
    let seconds = if number.abs() > SECONDS_MAX {
        number / 1e3
    } else {
        number
    };
    if seconds > LAST_SECOND {
        return Err("dates after 9999 are not supported as unix timestamps");
    }
    if seconds < FIRST_SECOND {
        return Err("dates before 0000 are not supported as unix timestamps");
    }
    // Within the years above, so that it fits.
    Ok(Timestamp::from_micros((seconds * 1e6).round() as i64))
}

fn check_date(date: &[u8]) -> Result<(), &'static str> {
    let digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    if !digits(&date[..4]) {
        return Err("invalid character in year");
    }
    if date[4] != b'-' {
        return Err("invalid date separator, expected `-`");
    }
    if !digits(&date[5..7]) {
        return Err("invalid character in month");
    }
    if date[7] != b'-' {
        return Err("invalid date separator, expected `-`");
    }
    if !digits(&date[8..]) {
        return Err("invalid character in day");
    }
    if !(b"01"..=b"12").contains(&&[date[5], date[6]]) {
        return Err("month value is outside expected range of 1-12");
    }
    Ok(())
}

/// `T10:00`, with seconds, a fraction and a zone where they are given, as RFC 3339 has it.
fn time_of_day(text: &str) -> Option<String> {
    let text = text.strip_prefix(['T', 't', ' ', '_'])?;
    let end = text.find(['Z', 'z', '+', '-', '\u{2212}']);
    let (time, zone) = text.split_at(end.unwrap_or(text.len()));
    let (time, fraction) = match time.split_once(['.', ',']) {
        Some((_, "")) => return None,
        Some((time, fraction)) => (time, format!(".{fraction}")),
        None => (time, String::new()),
    };
    let seconds = match time.len() {
        5 if fraction.is_empty() => ":00",
        8 if !time.ends_with(":60") => "",
        _ => return None,
    };
    Some(format!("{time}{seconds}{fraction}{}", offset(zone)?))
}

/// `Z`, `+02:00` or `+0200`; UTC where there is none.
fn offset(zone: &str) -> Option<String> {
    if zone.is_empty() || zone.eq_ignore_ascii_case("z") {
        return Some("Z".to_owned());
    }
    let sign = if zone.starts_with('+') { '+' } else { '-' };
    let digits = zone.trim_start_matches(['+', '-', '\u{2212}']);
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None => digits.split_at_checked(2)?,
    };
    (hours.len() == 2 && minutes.len() == 2).then(|| format!("{sign}{hours}:{minutes}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_in_time_are_read_as_the_contract_reads_them() {
        for (text, expected) in [
            ("2024-01-01", "2024-01-01T00:00:00.000000Z"),
            ("2024-01-01 10:00", "2024-01-01T10:00:00.000000Z"),
            ("2024-01-01T10:00:05", "2024-01-01T10:00:05.000000Z"),
            ("2024-01-01t10:00:00z", "2024-01-01T10:00:00.000000Z"),
            ("2024-01-01T10:00:00+02:00", "2024-01-01T08:00:00.000000Z"),
            ("2024-01-01T10:00:00-0230", "2024-01-01T12:30:00.000000Z"),
            ("2024-01-01T10:00:00,5", "2024-01-01T10:00:00.500000Z"),
            ("2024-01-01T10:00:00.123456Z", "2024-01-01T10:00:00.123456Z"),
            ("1700000000", "2023-11-14T22:13:20.000000Z"),
            ("1700000000000", "2023-11-14T22:13:20.000000Z"),
            ("1700000000.5", "2023-11-14T22:13:20.500000Z"),
            ("-1", "1969-12-31T23:59:59.000000Z"),
        ] {
            assert_eq!(
                date(text).map(|at| at.to_string()),
                Ok(expected.into()),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_point_in_time_is_told_as_the_contract_tells_it() {
        const MORE: &str = "unexpected extra characters at the end of the input";
        for (text, expected) in [
            ("", "input is too short"),
            ("now", "input is too short"),
            ("2024-1-1", "input is too short"),
            ("aaaaaaaaaa", "invalid character in year"),
            ("2024x01-01", "invalid date separator, expected `-`"),
            ("2024-aa-01", "invalid character in month"),
            ("2024-01-bb", "invalid character in day"),
            ("2024-01-\u{e4}\u{e4}", "invalid character in day"),
            (
                "2024-13-01",
                "month value is outside expected range of 1-12",
            ),
            ("2024-02-30", "day value is outside expected range"),
            ("2024-01-01x", MORE),
            ("2024-01-01T", MORE),
            ("2024-01-01T10", MORE),
            ("2024-01-01T25:00:00", MORE),
            ("2024-01-01T10:00:60Z", MORE),
            ("2024-01-01T10:00:00 ", MORE),
            ("2024-01-01T10:00:00.Z", MORE),
            ("2024-01-01T10:00+02", MORE),
            ("2024-01-01T10:00:00+\u{e4}:00", MORE),
            (
                "99999999999999999",
                "dates after 9999 are not supported as unix timestamps",
            ),
        ] {
            assert_eq!(date(text), Err(expected), "{text}");
        }
    }
}
