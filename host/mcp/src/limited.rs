//! Lists of bounded length: a few bytes of JSON can become a hundred times as many in memory.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{Error, SeqAccess, Visitor},
};

/// A list of `MAX` entries at most; a longer one is refused while it is read.
#[derive(Debug)]
pub(crate) struct Limited<T, const MAX: usize>(pub(crate) Vec<T>);

impl<T, const MAX: usize> Default for Limited<T, MAX> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for Limited<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reading<T, const MAX: usize>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for Reading<T, MAX> {
            type Value = Vec<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = list.next_element()? {
                    if entries.len() == MAX {
                        return Err(A::Error::custom(format_args!("more than {MAX} entries")));
                    }
                    entries.push(entry);
                }
                Ok(entries)
            }
        }

        deserializer
            .deserialize_seq(Reading::<T, MAX>(PhantomData))
            .map(Self)
    }
}
