//! Times as models read them: `2026-11-21 08:38:07 PM UTC+0000`, in the agent's time zone.

use bulkhead_domain::Timestamp;
use jiff::tz::TimeZone;

/// The zone of this IANA name (`Europe/Zurich`); none for a name that nobody knows.
pub fn zone(name: &str) -> Option<TimeZone> {
    TimeZone::get(name).ok()
}

/// A point in time, for a model. An unknown zone counts as UTC.
pub fn for_model(at: Timestamp, timezone: &str) -> String {
    let zone = zone(timezone).unwrap_or(TimeZone::UTC);
    let at = jiff::Timestamp::from_microsecond(at.micros()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    at.to_zoned(zone)
        .strftime("%Y-%m-%d %I:%M:%S %p %Z%z")
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_in_the_agents_zone() {
        let at = Timestamp::from_micros(1_795_293_487_000_000);
        assert_eq!(for_model(at, "UTC"), "2026-11-21 08:38:07 PM UTC+0000");
        assert_eq!(
            for_model(at, "America/New_York"),
            "2026-11-21 03:38:07 PM EST-0500"
        );
        assert_eq!(for_model(at, "Nowhere/Here"), for_model(at, "UTC"));
    }
}
