//! Percentiles of samples.

use std::time::Duration;

use serde::Serialize;

/// Two percentiles, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Spread {
    pub(super) p50: f64,
    pub(super) p99: f64,
}

/// The middle, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Middle {
    pub(super) p50: f64,
}

/// Two percentiles, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Tail {
    pub(super) p50: f64,
    pub(super) p95: f64,
}

/// Every sample of one measurement.
#[derive(Debug, Default)]
pub(super) struct Samples(Vec<Duration>);

impl Samples {
    pub(super) fn push(&mut self, sample: Duration) {
        self.0.push(sample);
    }

    /// The sample that `percent` of all samples do not exceed (nearest rank).
    pub(super) fn percentile(&mut self, percent: u32) -> Duration {
        self.0.sort_unstable();
        let count = self.0.len();
        let rank = (count * percent as usize)
            .div_ceil(100)
            .clamp(1, count.max(1));
        self.0.get(rank - 1).copied().unwrap_or_default()
    }

    pub(super) fn spread(mut self) -> Spread {
        Spread {
            p50: micros(self.percentile(50)),
            p99: micros(self.percentile(99)),
        }
    }

    pub(super) fn middle(mut self) -> Middle {
        Middle {
            p50: micros(self.percentile(50)),
        }
    }

    pub(super) fn tail_ms(mut self) -> Tail {
        Tail {
            p50: millis(self.percentile(50)),
            p95: millis(self.percentile(95)),
        }
    }

    /// The middle in milliseconds.
    pub(super) fn middle_ms(mut self) -> f64 {
        millis(self.percentile(50))
    }
}

fn millis(duration: Duration) -> f64 {
    rounded(duration.as_secs_f64() * 1e3)
}

fn micros(duration: Duration) -> f64 {
    rounded(duration.as_secs_f64() * 1e6)
}

/// One digit after the point: more is noise.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// Two digits after the point, for shares of one.
pub(super) fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples_and_not_in_between() {
        let mut samples = Samples::default();
        for millis in (1..=100).rev() {
            samples.push(Duration::from_millis(millis));
        }
        assert_eq!(samples.percentile(50), Duration::from_millis(50));
        assert_eq!(samples.percentile(99), Duration::from_millis(99));
        assert_eq!(samples.percentile(100), Duration::from_millis(100));
        assert_eq!(
            samples.spread(),
            Spread {
                p50: 50_000.0,
                p99: 99_000.0
            }
        );
    }

    #[test]
    fn one_sample_or_none_is_no_panic() {
        assert_eq!(Samples::default().percentile(99), Duration::ZERO);
        let mut one = Samples::default();
        one.push(Duration::from_secs(1));
        assert_eq!(one.percentile(1), Duration::from_secs(1));
    }
}
