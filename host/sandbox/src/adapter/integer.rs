//! WIT's integers in JSON.
//!
//! Many readers of JSON hold a number as a double, which is exact to 2⁵³ only. A 64-bit integer
//! may therefore come as a decimal string as well, and goes out as one where a double would
//! round it. What goes out is accepted again, so nothing is lost on the way there and back.

use serde_json::{Number, Value, json};
use wasmtime::component::Val;

/// The largest integer up to which a double holds every integer: 2⁵³ − 1.
const MAX_EXACT: i64 = (1 << 53) - 1;

/// The kinds of integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Integer {
    S8,
    U8,
    S16,
    U16,
    S32,
    U32,
    S64,
    U64,
}

impl Integer {
    /// The least and the greatest value.
    fn range(self) -> (i64, u64) {
        match self {
            Self::S8 => (i8::MIN.into(), i8::MAX as u64),
            Self::U8 => (0, u8::MAX.into()),
            Self::S16 => (i16::MIN.into(), i16::MAX as u64),
            Self::U16 => (0, u16::MAX.into()),
            Self::S32 => (i32::MIN.into(), i32::MAX as u64),
            Self::U32 => (0, u32::MAX.into()),
            Self::S64 => (i64::MIN, i64::MAX as u64),
            Self::U64 => (0, u64::MAX),
        }
    }

    fn is_wide(self) -> bool {
        matches!(self, Self::S64 | Self::U64)
    }

    /// The name in WIT.
    pub(super) fn wit(self) -> &'static str {
        match self {
            Self::S8 => "s8",
            Self::U8 => "u8",
            Self::S16 => "s16",
            Self::U16 => "u16",
            Self::S32 => "s32",
            Self::U32 => "u32",
            Self::S64 => "s64",
            Self::U64 => "u64",
        }
    }

    /// What an input must be.
    pub(super) fn expected(self) -> String {
        let (least, greatest) = self.range();
        let form = if self.is_wide() {
            ", as a number or as a decimal string"
        } else {
            ""
        };
        format!("an integer from {least} to {greatest}{form}")
    }

    pub(super) fn schema(self) -> Value {
        let (least, greatest) = self.range();
        let number = json!({"type": "integer", "minimum": least, "maximum": greatest});
        let pattern = match self {
            Self::S64 => "^(0|-?[1-9][0-9]{0,18})$",
            Self::U64 => "^(0|[1-9][0-9]{0,19})$",
            _ => return number,
        };
        json!({"anyOf": [number, {"type": "string", "pattern": pattern}]})
    }

    /// The value of `json`, if it is one of this kind.
    pub(super) fn read(self, json: &Value) -> Option<Val> {
        match json {
            Value::Number(number) => self.val(integral(number)?),
            Value::String(text) if self.is_wide() => self.val(decimal(text)?),
            _ => None,
        }
    }

    /// The value as one of this kind, if it is in its range.
    fn val(self, value: i128) -> Option<Val> {
        match self {
            Self::S8 => value.try_into().ok().map(Val::S8),
            Self::U8 => value.try_into().ok().map(Val::U8),
            Self::S16 => value.try_into().ok().map(Val::S16),
            Self::U16 => value.try_into().ok().map(Val::U16),
            Self::S32 => value.try_into().ok().map(Val::S32),
            Self::U32 => value.try_into().ok().map(Val::U32),
            Self::S64 => value.try_into().ok().map(Val::S64),
            Self::U64 => value.try_into().ok().map(Val::U64),
        }
    }
}

/// The integer that `number` is. `1.0` and `1e3` are integers, as JSON Schema has it; beyond
/// what a double holds exactly, only digits without a point or an exponent are.
fn integral(number: &Number) -> Option<i128> {
    if let Some(value) = number.as_i64() {
        return Some(value.into());
    }
    if let Some(value) = number.as_u64() {
        return Some(value.into());
    }
    let value = number.as_f64()?;
    let exact = value.fract() == 0.0 && value.abs() <= MAX_EXACT as f64;
    exact.then_some(value as i128)
}

/// The integer that `text` writes, where it writes it in the one usual way: `007`, `+7` and
/// `-0` are more often mistakes than meant.
fn decimal(text: &str) -> Option<i128> {
    let value: i128 = text.parse().ok()?;
    (value.to_string() == text).then_some(value)
}

/// The JSON form of an integer; none for another value.
pub(super) fn write(val: &Val) -> Option<Value> {
    Some(match *val {
        Val::S8(value) => value.into(),
        Val::U8(value) => value.into(),
        Val::S16(value) => value.into(),
        Val::U16(value) => value.into(),
        Val::S32(value) => value.into(),
        Val::U32(value) => value.into(),
        Val::S64(value) if value.unsigned_abs() > MAX_EXACT.unsigned_abs() => {
            value.to_string().into()
        }
        Val::S64(value) => value.into(),
        Val::U64(value) if value > MAX_EXACT.unsigned_abs() => value.to_string().into(),
        Val::U64(value) => value.into(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Integer; 8] = [
        Integer::S8,
        Integer::U8,
        Integer::S16,
        Integer::U16,
        Integer::S32,
        Integer::U32,
        Integer::S64,
        Integer::U64,
    ];

    #[test]
    fn the_ends_of_every_range_are_in_and_their_neighbours_are_out() {
        for kind in ALL {
            let (least, greatest) = kind.range();
            let (least, greatest) = (i128::from(least), i128::from(greatest));
            for value in [least, greatest] {
                let val = kind.val(value).expect("in range");
                let json = write(&val).expect("an integer");
                assert_eq!(kind.read(&json), Some(val), "{kind:?} {value}");
            }
            for value in [least - 1, greatest + 1] {
                assert_eq!(kind.val(value), None, "{kind:?} {value}");
                assert_eq!(
                    kind.read(&json!(value.to_string())),
                    None,
                    "{kind:?} {value}"
                );
            }
        }
    }

    #[test]
    fn a_64_bit_integer_goes_out_as_a_string_where_a_double_would_round_it() {
        assert_eq!(
            write(&Val::U64(9_007_199_254_740_991)),
            Some(json!(9_007_199_254_740_991_u64))
        );
        assert_eq!(
            write(&Val::U64(9_007_199_254_740_993)),
            Some(json!("9007199254740993"))
        );
        assert_eq!(
            write(&Val::S64(i64::MIN)),
            Some(json!("-9223372036854775808"))
        );
    }

    #[test]
    fn an_integral_float_is_an_integer_while_it_is_exact() {
        assert_eq!(Integer::U8.read(&json!(1.0)), Some(Val::U8(1)));
        assert_eq!(Integer::S8.read(&json!(-0.0)), Some(Val::S8(0)));
        for json in [json!(1.5), json!(1e300), json!(9_007_199_254_740_994.0)] {
            assert_eq!(Integer::U64.read(&json), None, "{json}");
        }
    }

    #[test]
    fn a_decimal_string_has_one_form_and_is_for_64_bits_only() {
        for text in ["007", "+7", "-0", "", " 7", "7 ", "0x7", "7.0", "1e3", "٧"] {
            assert_eq!(Integer::S64.read(&json!(text)), None, "{text:?}");
        }
        assert_eq!(Integer::S64.read(&json!("-7")), Some(Val::S64(-7)));
        assert_eq!(Integer::S32.read(&json!("7")), None);
    }
}
