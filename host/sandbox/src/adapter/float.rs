//! WIT's floats in JSON, which has no NaN and no infinities: they are strings there.

use serde_json::{Value, json};

const NAN: &str = "NaN";
const INFINITY: &str = "Infinity";
const NEGATIVE_INFINITY: &str = "-Infinity";

/// What an input must be.
pub(super) const EXPECTED: &str = r#"a number, or one of "NaN", "Infinity", "-Infinity""#;

pub(super) fn schema() -> Value {
    json!({"anyOf": [
        {"type": "number"},
        {"type": "string", "enum": [NAN, INFINITY, NEGATIVE_INFINITY]},
    ]})
}

pub(super) fn read(json: &Value) -> Option<f64> {
    match json {
        Value::Number(number) => number.as_f64().filter(|value| value.is_finite()),
        Value::String(text) => match text.as_str() {
            NAN => Some(f64::NAN),
            INFINITY => Some(f64::INFINITY),
            NEGATIVE_INFINITY => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

/// The nearest `f32`; none for a finite number beyond its range.
pub(super) fn read32(json: &Value) -> Option<f32> {
    let wide = read(json)?;
    let value = wide as f32;
    (value.is_finite() || !wide.is_finite()).then_some(value)
}

pub(super) fn write(value: f64) -> Value {
    if value.is_nan() {
        NAN.into()
    } else if value == f64::INFINITY {
        INFINITY.into()
    } else if value == f64::NEG_INFINITY {
        NEGATIVE_INFINITY.into()
    } else {
        value.into()
    }
}

/// The shortest decimal that reads back as `value`: 0.1, not 0.10000000149011612.
pub(super) fn write32(value: f32) -> Value {
    let exact = f64::from(value);
    let short = value.to_string().parse().unwrap_or(exact);
    write(if short as f32 == value { short } else { exact })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_json_has_no_number_for_goes_as_a_string_both_ways() {
        for value in [
            f64::INFINITY,
            f64::NEG_INFINITY,
            0.1,
            -0.0,
            f64::MAX,
            5e-324,
        ] {
            let back = read(&write(value)).expect("a float");
            assert_eq!(back.to_bits(), value.to_bits(), "{value}");
        }
        assert!(read(&write(f64::NAN)).expect("a float").is_nan());
        assert_eq!(read(&json!("inf")), None);
        assert_eq!(read(&json!("1.0")), None);
    }

    #[test]
    fn a_32_bit_float_is_written_short_and_reads_back() {
        assert_eq!(write32(0.1), json!(0.1));
        for value in [
            f32::MAX,
            f32::MIN_POSITIVE,
            1e-45,
            -0.0,
            16_777_217.0,
            f32::INFINITY,
        ] {
            let back = read32(&write32(value)).expect("a float");
            assert_eq!(back.to_bits(), value.to_bits(), "{value}");
        }
    }

    #[test]
    fn a_number_beyond_32_bits_is_no_32_bit_infinity() {
        assert_eq!(read32(&json!(1e39)), None);
        assert_eq!(read32(&json!("Infinity")), Some(f32::INFINITY));
    }
}
