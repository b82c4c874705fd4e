//! Limits of which only some are given.

use bulkhead_policy::Limits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

macro_rules! patch {
    ($($(#[$doc:meta])* $field:ident,)*) => {
        /// Limits of a call of which only some are given: those of a request, a grant or the
        /// `[ceiling]` of the settings. What is left out comes from the layer below.
        #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        #[schema(as = Limits)]
        #[serde(deny_unknown_fields, default)]
        pub struct LimitsPatch {
            $(
                $(#[$doc])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $field: Option<u64>,
            )*
        }

        impl LimitsPatch {
            /// These where given, else those of `below`.
            #[must_use]
            pub fn over(self, below: Self) -> Self {
                Self { $($field: self.$field.or(below.$field),)* }
            }

            /// The larger of each, where two grants give it.
            #[must_use]
            pub fn or_larger(self, other: &Self) -> Self {
                Self { $($field: self.$field.max(other.$field),)* }
            }

            /// `base` with what is given here in its place.
            #[must_use]
            pub fn applied_to(&self, base: &Limits) -> Limits {
                Limits { $($field: self.$field.unwrap_or(base.$field),)* }
            }

            /// Whether nothing is given.
            pub fn is_empty(&self) -> bool {
                *self == Self::default()
            }
        }
    };
}

patch! {
    /// Units of fuel, about one WebAssembly instruction each.
    fuel,
    /// Wall-clock milliseconds, host calls included, waiting for a slot not included.
    timeout_ms,
    /// Bytes of all linear memories together.
    memory_bytes,
    /// Entries of all tables together.
    table_elements,
    /// Bytes of the input text.
    input_bytes,
    /// Bytes of the result.
    output_bytes,
    /// Bytes of log lines, stdout and stderr.
    log_bytes,
    /// Bytes of progress and partial output.
    event_bytes,
    /// Requests of one call.
    http_requests,
    /// Bytes of all request bodies.
    http_request_bytes,
    /// Bytes of all answers.
    http_response_bytes,
    /// Bytes written to one folder that names no quota.
    folder_bytes,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_given_replaces_the_layer_below() {
        let patch = LimitsPatch {
            fuel: Some(7),
            ..LimitsPatch::default()
        };
        let limits = patch.applied_to(&Limits::default());
        assert_eq!(
            limits,
            Limits {
                fuel: 7,
                ..Limits::default()
            }
        );
        let both = patch.over(LimitsPatch {
            fuel: Some(1),
            timeout_ms: Some(2),
            ..Default::default()
        });
        assert_eq!((both.fuel, both.timeout_ms), (Some(7), Some(2)));
    }

    #[test]
    fn of_two_grants_the_larger_limit_counts() {
        let small = LimitsPatch {
            fuel: Some(1),
            ..Default::default()
        };
        let large = LimitsPatch {
            fuel: Some(2),
            ..Default::default()
        };
        assert_eq!(small.clone().or_larger(&large), large);
        assert_eq!(LimitsPatch::default().or_larger(&small), small);
    }
}
