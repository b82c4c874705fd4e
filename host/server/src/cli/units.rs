//! Sizes, times and amounts as people write and read them.

use std::time::Duration;

const KIB: u64 = 1 << 10;

/// Bytes: `65536`, `64KiB`, `64MiB`, `1GiB`; also `64MB` in thousands.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let units = [
        ("KiB", KIB),
        ("MiB", KIB * KIB),
        ("GiB", KIB * KIB * KIB),
        ("kB", 1_000),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("B", 1),
        ("", 1),
    ];
    scaled(text, &units).ok_or_else(|| "expected a size such as 64MiB or 65536".to_owned())
}

/// Fuel: `1000000`, `500k`, `10M`, `2G`.
pub(crate) fn fuel(text: &str) -> Result<u64, String> {
    let units = [
        ("k", 1_000),
        ("K", 1_000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
        ("", 1),
    ];
    scaled(text, &units).ok_or_else(|| "expected an amount such as 10M or 10000000".to_owned())
}

/// Time: `500ms`, `5s`, `2m`; a plain number is seconds. At least a millisecond.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let units = [("ms", 1), ("s", 1_000), ("m", 60_000), ("", 1_000)];
    match scaled(text, &units) {
        Some(millis) if millis > 0 => Ok(Duration::from_millis(millis)),
        _ => Err("expected a time such as 500ms, 5s or 2m".to_owned()),
    }
}

/// The number before the first unit that fits, times the unit.
fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    units.iter().find_map(|(unit, factor)| {
        let digits = text.strip_suffix(unit)?.trim_end().replace('_', "");
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        digits.parse::<u64>().ok()?.checked_mul(*factor)
    })
}

/// Bytes for people, with one digit after the point.
pub(crate) fn show_bytes(bytes: u64) -> String {
    for (unit, size) in [("GiB", KIB * KIB * KIB), ("MiB", KIB * KIB), ("KiB", KIB)] {
        if bytes >= size {
            return tenths(bytes, size, unit);
        }
    }
    format!("{bytes} B")
}

/// Microseconds for people.
pub(crate) fn show_micros(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => tenths(micros, 1_000, "ms"),
        _ => tenths(micros, 1_000_000, "s"),
    }
}

/// An amount of fuel for people.
pub(crate) fn show_fuel(fuel: u64) -> String {
    match fuel {
        0..10_000 => fuel.to_string(),
        10_000..1_000_000 => tenths(fuel, 1_000, "k"),
        1_000_000..1_000_000_000 => tenths(fuel, 1_000_000, "M"),
        _ => tenths(fuel, 1_000_000_000, "G"),
    }
}

fn tenths(amount: u64, unit_size: u64, unit: &str) -> String {
    let whole = amount / unit_size;
    let tenth = amount % unit_size * 10 / unit_size;
    if tenth == 0 {
        format!("{whole} {unit}")
    } else {
        format!("{whole}.{tenth} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_times_and_fuel_are_read_as_people_write_them() {
        assert_eq!(bytes("64MiB"), Ok(64 << 20));
        assert_eq!(bytes("64 MB"), Ok(64_000_000));
        assert_eq!(bytes("65_536"), Ok(65_536));
        assert_eq!(fuel("10M"), Ok(10_000_000));
        assert_eq!(duration("1500ms"), Ok(Duration::from_millis(1_500)));
        assert_eq!(duration("5"), Ok(Duration::from_secs(5)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
    }

    #[test]
    fn nonsense_and_overflow_are_refused() {
        for text in [
            "",
            "MiB",
            "-1",
            "1.5GiB",
            "1e9",
            "99999999999GiB",
            "12 parsecs",
        ] {
            assert!(bytes(text).is_err(), "{text}");
            assert!(fuel(text).is_err(), "{text}");
            assert!(duration(text).is_err(), "{text}");
        }
        assert!(duration("0").is_err());
    }

    #[test]
    fn figures_are_shown_with_one_digit() {
        assert_eq!(show_bytes(1_572_864), "1.5 MiB");
        assert_eq!(show_bytes(17), "17 B");
        assert_eq!(show_micros(950), "950 µs");
        assert_eq!(show_micros(1_200_000), "1.2 s");
        assert_eq!(show_fuel(52_300), "52.3 k");
    }
}
