//! Queries: typed parameters, with the faults of the contract's own validator.
//!
//! A route says what it reads in a type of its own, and its handler takes [`Parameters`] of it:
//!
//! ```text
//! struct BlockQuery { tags: Option<Vec<String>>, page: Page }
//!
//! impl FromQuery for BlockQuery {
//!     fn from_query(query: &mut Query) -> Self {
//!         Self { tags: query.texts("tags"), page: query.page(50, Order::Ascending) }
//!     }
//! }
//!
//! async fn list(Parameters(query): Parameters<BlockQuery>) { … }
//! ```
//!
//! Of a parameter that takes one value the last one counts; lists repeat the key (`tags=a&tags=b`).
//! What a route does not ask for is ignored, as the contract does. A fault does not end the reading:
//! the client gets all of them at once.

use std::{borrow::Cow, ops::RangeInclusive};

use axum::extract::FromRequestParts;
use bulkhead_domain::{
    Timestamp,
    id::{Id, Kind},
};
use bulkhead_store::{PAGE_MAX, Paging};
use http::request::Parts;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::{Refusal, date, fault::Fault, id, repr, scalar};

/// Faults that one answer lists.
const MAX_FAULTS: usize = 50;

/// What a route reads of its query.
pub(crate) trait FromQuery: Sized {
    /// Reads every parameter. What is wrong is noted in `query`; what is read then is not used.
    fn from_query(query: &mut Query) -> Self;
}

/// The query of a request as `T`. Not named as axum's is, since utoipa would describe it twice.
pub(crate) struct Parameters<T>(pub(crate) T);

impl<T: FromQuery, S: Send + Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        read(parts.uri.query()).map(Self)
    }
}

/// A query as `T`, or everything that is wrong in it: 422.
pub(crate) fn read<T: FromQuery>(query: Option<&str>) -> Result<T, Refusal> {
    let mut query = Query::new(query.unwrap_or_default());
    let read = T::from_query(&mut query);
    if query.faults.is_empty() {
        Ok(read)
    } else {
        Err(Refusal::invalid(&query.faults, &[]))
    }
}

/// Which way a list goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) enum Order {
    /// The oldest, or the smallest, first.
    #[serde(rename = "asc")]
    Ascending,
    /// The newest, or the largest, first.
    #[serde(rename = "desc")]
    Descending,
}

impl Order {
    const NAMES: &[(&str, Self)] = &[("asc", Self::Ascending), ("desc", Self::Descending)];
}

/// Which part of a list.
#[derive(Clone, Debug, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Page {
    /// what comes before the entry with this id, in the order of the list
    pub(crate) before: Option<String>,
    /// what follows the entry with this id, in the order of the list
    pub(crate) after: Option<String>,
    /// how many entries; every list has a default of its own, and none gives more than 1000
    #[param(required = false)]
    pub(crate) limit: u32,
    /// asc or desc
    #[param(required = false, inline)]
    pub(crate) order: Order,
}

impl Page {
    /// Whether the smallest, or oldest, entry comes first.
    pub(crate) fn is_ascending(&self) -> bool {
        self.order == Order::Ascending
    }
}

/// How a list is ordered of which there is one order only.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(
    dead_code,
    reason = "it stands for a parameter in the document of the API"
)]
pub(crate) struct ByCreation {
    /// naming the one order that there is changes nothing
    #[param(inline)]
    order_by: Option<Creation>,
}

/// See [`ByCreation`].
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(dead_code, reason = "only its name in the document is used")]
enum Creation {
    CreatedAt,
}

impl From<Page> for Paging {
    fn from(page: Page) -> Self {
        Self {
            ascending: page.is_ascending(),
            after: page.after,
            before: page.before,
            limit: Some(page.limit),
        }
    }
}

/// A text that is checked: its length in characters and which of them it may have.
pub(crate) struct TextRule {
    pub(crate) length: RangeInclusive<usize>,
    /// The regular expression of the contract, for the message, and whether it takes a character.
    pub(crate) pattern: Option<Pattern>,
}

/// A regular expression, and whether it takes a character.
pub(crate) type Pattern = (&'static str, fn(char) -> bool);

/// A query that is being read, and what is wrong in it. No larger than the head of a request, which
/// the server bounds.
pub(crate) struct Query<'a> {
    pairs: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    faults: Vec<Fault>,
}

impl<'a> Query<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            pairs: url::form_urlencoded::parse(text.as_bytes()).collect(),
            faults: Vec::new(),
        }
    }

    /// A text; the empty one is a text too.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.last(key).map(ToOwned::to_owned)
    }

    /// A text that must be there.
    pub(crate) fn required_text(&mut self, key: &str) -> String {
        self.text(key).unwrap_or_else(|| {
            self.fault(Fault::new(
                "missing",
                place(key),
                "Field required",
                Value::Null,
            ));
            String::new()
        })
    }

    /// Every text of a list; none where the key is not there.
    pub(crate) fn texts(&self, key: &str) -> Option<Vec<String>> {
        let texts: Vec<_> = self.all(key).map(ToOwned::to_owned).collect();
        (!texts.is_empty()).then_some(texts)
    }

    /// A text that keeps to a rule.
    pub(crate) fn checked_text(&mut self, key: &str, rule: &TextRule) -> Option<String> {
        let text = self.text(key)?;
        let length = text.chars().count();
        let (place, input) = (place(key), json!(text));
        let fault = if length < *rule.length.start() {
            Fault::too_short(place, *rule.length.start(), input)
        } else if length > *rule.length.end() {
            Fault::too_long(place, *rule.length.end(), input)
        } else if let Some((pattern, _)) =
            rule.pattern.filter(|(_, takes)| !text.chars().all(takes))
        {
            Fault::no_match(place, pattern, input)
        } else {
            return Some(text);
        };
        self.fault(fault);
        None
    }

    /// A truth: `true` and `false`, and the other words that the contract has for them.
    pub(crate) fn boolean(&mut self, key: &str) -> Option<bool> {
        let text = self.text(key)?;
        let truth = scalar::boolean(&text);
        if truth.is_none() {
            let (kind, message) = scalar::NO_BOOLEAN;
            self.fault(Fault::new(kind, place(key), message, json!(text)));
        }
        truth
    }

    /// A number within bounds, both included.
    pub(crate) fn integer(&mut self, key: &str, bounds: RangeInclusive<i64>) -> Option<i64> {
        let text = self.text(key)?;
        self.number(place(key), &text, &bounds)
    }

    /// Every number of a list; none where the key is not there.
    pub(crate) fn integers(&mut self, key: &str, bounds: RangeInclusive<i64>) -> Option<Vec<i64>> {
        let texts = self.texts(key)?;
        let numbers = texts.iter().enumerate();
        let numbers = numbers.map(|(at, text)| self.number(place_in(key, at), text, &bounds));
        numbers.collect()
    }

    /// `limit`: a number of entries. More than the store gives at once ([`PAGE_MAX`]) is as much as it
    /// gives.
    pub(crate) fn limit(&mut self, default: u32) -> u32 {
        self.limit_within(default, 0..=i64::MAX)
    }

    /// As [`Query::limit`], for lists of which the contract bounds the number itself.
    pub(crate) fn limit_within(&mut self, default: u32, bounds: RangeInclusive<i64>) -> u32 {
        let limit = self.integer("limit", bounds).map(u32::try_from);
        limit.map_or(default, |limit| limit.unwrap_or(PAGE_MAX).min(PAGE_MAX))
    }

    /// `order`.
    pub(crate) fn order(&mut self, default: Order) -> Order {
        self.literal("order", Order::NAMES).unwrap_or(default)
    }

    /// `before`, `after`, `limit` and `order`.
    pub(crate) fn page(&mut self, limit: u32, order: Order) -> Page {
        Page {
            before: self.text("before"),
            after: self.text("after"),
            limit: self.limit(limit),
            order: self.order(order),
        }
    }

    /// As [`Query::page`], and [`ByCreation`].
    pub(crate) fn page_by_creation(&mut self, limit: u32, order: Order) -> Page {
        let page = self.page(limit, order);
        self.literal("order_by", &[("created_at", ())]);
        page
    }

    /// The order in which a list goes that takes `ascending`, the older spelling of `order`, too: the
    /// newest first unless told otherwise.
    pub(crate) fn older_order(&mut self) -> Order {
        match self.boolean("ascending") {
            Some(true) => Order::Ascending,
            _ => Order::Descending,
        }
    }

    /// One of several words, where the contract lists them at the parameter itself (`order_by`).
    pub(crate) fn literal<T: Copy>(&mut self, key: &str, choices: &[(&str, T)]) -> Option<T> {
        let text = self.text(key)?;
        self.choice("literal_error", place(key), &text, choices)
    }

    /// As [`Query::literal`], for a list.
    pub(crate) fn literals<T: Copy>(&mut self, key: &str, choices: &[(&str, T)]) -> Option<Vec<T>> {
        self.choices("literal_error", key, choices)
    }

    /// One of several words, where the contract has a type of its own for them (`StopReasonType`).
    pub(crate) fn variant<T: Copy>(&mut self, key: &str, choices: &[(&str, T)]) -> Option<T> {
        let text = self.text(key)?;
        self.choice("enum", place(key), &text, choices)
    }

    /// As [`Query::variant`], for a list.
    pub(crate) fn variants<T: Copy>(&mut self, key: &str, choices: &[(&str, T)]) -> Option<Vec<T>> {
        self.choices("enum", key, choices)
    }

    /// A point in time, in UTC where it has no zone.
    pub(crate) fn date(&mut self, key: &str) -> Option<Timestamp> {
        let text = self.text(key)?;
        match date::date(&text) {
            Ok(at) => Some(at),
            Err(error) => {
                let (kind, message) = date::NO_DATE;
                let fault =
                    Fault::new(kind, place(key), format!("{message}, {error}"), json!(text));
                self.fault(fault.with(json!({ "error": error })));
                None
            }
        }
    }

    /// An id, where the contract checks its form. Most parameters that name things take any text
    /// there, and one that names nothing finds nothing.
    pub(crate) fn id<K: Kind>(&mut self, key: &str) -> Option<Id<K>> {
        let text = self.text(key)?;
        let parsed = text.parse();
        if parsed.is_err() {
            self.fault(id::fault(K::PREFIX, place(key), &text));
        }
        parsed.ok()
    }

    fn all(&self, key: &str) -> impl DoubleEndedIterator<Item = &str> {
        let pairs = self.pairs.iter().filter(move |(name, _)| name == key);
        pairs.map(|(_, value)| value.as_ref())
    }

    fn last(&self, key: &str) -> Option<&str> {
        self.all(key).next_back()
    }

    fn fault(&mut self, fault: Fault) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(fault);
        }
    }

    fn number(
        &mut self,
        place: Vec<Value>,
        text: &str,
        bounds: &RangeInclusive<i64>,
    ) -> Option<i64> {
        let input = json!(text);
        let fault = match scalar::integer(text) {
            Some(number) if number < *bounds.start() => {
                Fault::too_small(place, *bounds.start(), input)
            }
            Some(number) if number > *bounds.end() => Fault::too_large(place, *bounds.end(), input),
            Some(number) => return Some(number),
            None => {
                let (kind, message) = scalar::NO_INTEGER;
                Fault::new(kind, place, message, input)
            }
        };
        self.fault(fault);
        None
    }

    fn choice<T: Copy>(
        &mut self,
        kind: &'static str,
        place: Vec<Value>,
        text: &str,
        choices: &[(&str, T)],
    ) -> Option<T> {
        if let Some((_, chosen)) = choices.iter().find(|(name, _)| *name == text) {
            return Some(*chosen);
        }
        let names: Vec<_> = choices
            .iter()
            .map(|(name, _)| repr::repr(&json!(name)))
            .collect();
        self.fault(Fault::no_choice(kind, place, &names, json!(text)));
        None
    }

    fn choices<T: Copy>(
        &mut self,
        kind: &'static str,
        key: &str,
        choices: &[(&str, T)],
    ) -> Option<Vec<T>> {
        let texts = self.texts(key)?;
        let chosen = texts.iter().enumerate();
        let chosen = chosen.map(|(at, text)| self.choice(kind, place_in(key, at), text, choices));
        chosen.collect()
    }
}

fn place(key: &str) -> Vec<Value> {
    vec![json!("query"), json!(key)]
}

/// A place in a list.
fn place_in(key: &str, at: usize) -> Vec<Value> {
    vec![json!("query"), json!(key), json!(at)]
}

#[cfg(test)]
mod tests {
    use bulkhead_domain::id::IdentityKind;

    use super::*;

    /// What is read by `from`, and the faults.
    fn read_by<T>(text: &str, from: impl FnOnce(&mut Query) -> T) -> (T, Vec<String>) {
        let mut query = Query::new(text);
        let read = from(&mut query);
        (read, query.faults.iter().map(Fault::repr).collect())
    }

    #[test]
    fn a_list_repeats_its_key_and_of_one_value_the_last_counts() {
        let text = "tags=a%20b&name=x&tags=&name=y+z&other=1";
        let (read, faults) = read_by(text, |query| {
            (query.texts("tags"), query.text("name"), query.texts("none"))
        });
        let tags = vec!["a b".to_owned(), String::new()];
        assert_eq!(read, (Some(tags), Some("y z".to_owned()), None));
        assert!(faults.is_empty());
    }

    #[test]
    fn a_page_has_defaults_and_is_never_larger_than_the_largest() {
        let page = |text| read_by(text, |query| query.page(50, Order::Descending)).0;
        let default = Page {
            before: None,
            after: None,
            limit: 50,
            order: Order::Descending,
        };
        assert_eq!(page(""), default);
        assert_eq!(page("limit=0").limit, 0);
        assert_eq!(page("limit=99999999999999999999").limit, PAGE_MAX);
        let asked = page("limit=7&after=a%20b&before=c&order=asc");
        assert_eq!((asked.limit, asked.is_ascending()), (7, true));
        assert_eq!(
            (asked.after.as_deref(), asked.before.as_deref()),
            (Some("a b"), Some("c"))
        );
    }

    #[test]
    fn every_fault_is_told_in_the_words_of_the_contract() {
        let order_by = [("created_at", 0), ("updated_at", 1), ("name", 2)];
        let name = TextRule {
            length: 1..=3,
            pattern: Some(("^[a-z]+$", |c| c.is_ascii_lowercase())),
        };
        let check = |text: &str, from: &dyn Fn(&mut Query), expected: &str| {
            let ((), faults) = read_by(text, from);
            assert_eq!(faults, [expected], "{text}");
        };
        check(
            "limit=x",
            &|query| {
                query.page(1, Order::Ascending);
            },
            "{'type': 'int_parsing', 'loc': ('query', 'limit'), 'msg': 'Input should be a valid integer, unable to parse string as an integer', 'input': 'x'}",
        );
        check(
            "limit=1001",
            &|query| {
                query.limit_within(1, 1..=1000);
            },
            "{'type': 'less_than_equal', 'loc': ('query', 'limit'), 'msg': 'Input should be less than or equal to 1000', 'input': '1001', 'ctx': {'le': 1000}}",
        );
        check(
            "order_by=up",
            &|query| {
                query.literal("order_by", &order_by);
            },
            "{'type': 'literal_error', 'loc': ('query', 'order_by'), 'msg': \"Input should be 'created_at', 'updated_at' or 'name'\", 'input': 'up', 'ctx': {'expected': \"'created_at', 'updated_at' or 'name'\"}}",
        );
        check(
            "of=name&of=up",
            &|query| {
                query.variants("of", &order_by[2..]);
            },
            "{'type': 'enum', 'loc': ('query', 'of', 1), 'msg': \"Input should be 'name'\", 'input': 'up', 'ctx': {'expected': \"'name'\"}}",
        );
        check(
            "n=1&n=x",
            &|query| {
                query.integers("n", 0..=9);
            },
            "{'type': 'int_parsing', 'loc': ('query', 'n', 1), 'msg': 'Input should be a valid integer, unable to parse string as an integer', 'input': 'x'}",
        );
        check(
            "active=2",
            &|query| {
                query.boolean("active");
            },
            "{'type': 'bool_parsing', 'loc': ('query', 'active'), 'msg': 'Input should be a valid boolean, unable to interpret input', 'input': '2'}",
        );
        check(
            "start=now",
            &|query| {
                query.date("start");
            },
            "{'type': 'datetime_from_date_parsing', 'loc': ('query', 'start'), 'msg': 'Input should be a valid datetime or date, input is too short', 'input': 'now', 'ctx': {'error': 'input is too short'}}",
        );
        check(
            "",
            &|query| {
                query.required_text("query");
            },
            "{'type': 'missing', 'loc': ('query', 'query'), 'msg': 'Field required', 'input': None}",
        );
        check(
            "name=",
            &|query| {
                query.checked_text("name", &name);
            },
            "{'type': 'string_too_short', 'loc': ('query', 'name'), 'msg': 'String should have at least 1 character', 'input': '', 'ctx': {'min_length': 1}}",
        );
        check(
            "name=aA",
            &|query| {
                query.checked_text("name", &name);
            },
            "{'type': 'string_pattern_mismatch', 'loc': ('query', 'name'), 'msg': \"String should match pattern '^[a-z]+$'\", 'input': 'aA', 'ctx': {'pattern': '^[a-z]+$'}}",
        );
        let ((), faults) = read_by("id=identity-1", |query| {
            query.id::<IdentityKind>("id");
        });
        assert!(
            faults[0].contains("'loc': ('query', 'id'), 'msg': \"String should match pattern '^identity-[0-9a-f]{8}-"),
            "{faults:?}"
        );
    }

    #[test]
    fn a_query_is_refused_with_all_its_faults_at_once() {
        struct Both;
        impl FromQuery for Both {
            fn from_query(query: &mut Query) -> Self {
                query.limit(1);
                query.boolean("active");
                Self
            }
        }
        assert!(read::<Both>(Some("limit=1&active=yes")).is_ok());
        let Err(Refusal::Contract(status, body)) = read::<Both>(Some("limit=x&active=x")) else {
            panic!("it is refused in the contract's words");
        };
        assert_eq!(status, 422);
        let detail = body["detail"].as_str().unwrap_or_default();
        assert!(
            detail.contains("int_parsing") && detail.contains("bool_parsing"),
            "{detail}"
        );
    }
}
