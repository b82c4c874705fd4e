//! What Prometheus reads. Label values come from fixed sets: no name that a tool or a client
//! chooses is one, so that nobody can fill the memory of this server or of Prometheus.

use std::sync::atomic::AtomicU64;

use bulkhead_domain::Receipt;
use bulkhead_sandbox::Usage;
use prometheus_client::{
    encoding::{EncodeLabelSet, text},
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::{Registry, Unit},
};

/// 50 µs, a small native call, to about 50 s in steps of four.
const WALL_BUCKETS: (f64, f64, u16) = (50e-6, 4.0, 11);
/// 10 µs, nobody before it, to about 40 s in steps of four.
const QUEUE_BUCKETS: (f64, f64, u16) = (10e-6, 4.0, 12);

/// All metrics of a server.
pub(crate) struct Metrics {
    registry: Registry,
    calls: Family<ByOutcome, Counter>,
    fuel: Counter,
    wall: Histogram,
    queue: Histogram,
    installs: Family<ByResult, Counter>,
    lookups: Family<ByResult, Counter>,
    requests: Family<ByRoute, Counter>,
    slots: Gauge,
    running: Gauge,
    waiting: Gauge,
    resident: Gauge<u64, AtomicU64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByOutcome {
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByResult {
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByRoute {
    method: &'static str,
    /// The route's pattern, never the path.
    route: String,
    status: u16,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let buckets =
            |(start, factor, count)| Histogram::new(exponential_buckets(start, factor, count));
        let mut metrics = Self {
            registry: Registry::with_prefix("bulkhead"),
            calls: Family::default(),
            fuel: Counter::default(),
            wall: buckets(WALL_BUCKETS),
            queue: buckets(QUEUE_BUCKETS),
            installs: Family::default(),
            lookups: Family::default(),
            requests: Family::default(),
            slots: Gauge::default(),
            running: Gauge::default(),
            waiting: Gauge::default(),
            resident: Gauge::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register("calls", "Calls by outcome", self.calls.clone());
        registry.register("call_fuel", "Fuel that calls consumed", self.fuel.clone());
        registry.register_with_unit(
            "call_wall",
            "Time of calls, queue not included",
            Unit::Seconds,
            self.wall.clone(),
        );
        registry.register_with_unit(
            "call_queue",
            "Time that calls waited for a slot",
            Unit::Seconds,
            self.queue.clone(),
        );
        registry.register(
            "installs",
            "Components that were installed, by result",
            self.installs.clone(),
        );
        registry.register(
            "component_lookups",
            "Lookups of a compiled component: in memory (hit) or not (miss)",
            self.lookups.clone(),
        );
        registry.register(
            "http_requests",
            "Requests by route and status",
            self.requests.clone(),
        );
        registry.register("slots", "Calls that may run at once", self.slots.clone());
        registry.register("slots_in_use", "Calls that run", self.running.clone());
        registry.register(
            "calls_waiting",
            "Calls that wait for a slot",
            self.waiting.clone(),
        );
        registry.register_with_unit(
            "resident_memory",
            "Resident memory of the server",
            Unit::Bytes,
            self.resident.clone(),
        );
    }

    pub(crate) fn call_ended(&self, receipt: &Receipt) {
        self.calls
            .get_or_create(&ByOutcome {
                outcome: receipt.outcome.as_str(),
            })
            .inc();
        self.fuel.inc_by(receipt.fuel.total());
        self.wall.observe(seconds(receipt.wall_us));
        self.queue.observe(seconds(receipt.queue_us));
    }

    /// A component was installed or refused; `result` is `ok` or the code of its refusal.
    pub(crate) fn installed(&self, result: &'static str) {
        self.installs.get_or_create(&ByResult { result }).inc();
    }

    pub(crate) fn component_lookup(&self, hit: bool) {
        self.lookups
            .get_or_create(&ByResult {
                result: if hit { "hit" } else { "miss" },
            })
            .inc();
    }

    pub(crate) fn request(
        &self,
        method: &http::Method,
        route: Option<&str>,
        status: http::StatusCode,
    ) {
        let labels = ByRoute {
            method: known_method(method),
            route: route.unwrap_or("unmatched").to_owned(),
            status: status.as_u16(),
        };
        self.requests.get_or_create(&labels).inc();
    }

    /// Everything, in the text format.
    pub(crate) fn text(&self, usage: Usage) -> Result<String, std::fmt::Error> {
        let gauge = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.slots.set(gauge(usage.slots));
        self.running.set(gauge(usage.running));
        self.waiting.set(gauge(usage.waiting));
        if let Some(bytes) = resident_bytes() {
            self.resident.set(bytes);
        }
        let mut out = String::new();
        text::encode(&mut out, &self.registry)?;
        Ok(out)
    }
}

fn seconds(micros: u64) -> f64 {
    std::time::Duration::from_micros(micros).as_secs_f64()
}

/// Clients may invent methods.
fn known_method(method: &http::Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}

/// None where the system does not tell.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use http::{Method, StatusCode};

    use super::*;

    #[test]
    fn an_invented_method_makes_no_label_of_its_own() {
        let metrics = Metrics::new();
        for i in 0..100 {
            let method = Method::from_bytes(format!("M{i}").as_bytes()).unwrap();
            metrics.request(&method, None, StatusCode::NOT_FOUND);
        }
        let text = metrics
            .text(Usage {
                slots: 4,
                running: 1,
                waiting: 2,
                pooling: true,
            })
            .unwrap();
        assert!(
            text.contains(
                r#"bulkhead_http_requests_total{method="other",route="unmatched",status="404"} 100"#
            ),
            "{text}"
        );
        assert!(text.contains("bulkhead_slots_in_use 1\n"), "{text}");
    }
}
