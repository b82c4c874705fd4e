//! Texts as numbers and truths, by the rules of the contract's own validator.

/// Type and message of a fault in a text that should be an integer.
pub(crate) const NO_INTEGER: (&str, &str) = (
    "int_parsing",
    "Input should be a valid integer, unable to parse string as an integer",
);

/// Type and message of a fault in a text that should be a truth.
pub(crate) const NO_BOOLEAN: (&str, &str) = (
    "bool_parsing",
    "Input should be a valid boolean, unable to interpret input",
);

/// An integer: with spaces around it, underscores between digits, and zeros behind a point. One
/// that is too large for 64 bits is the largest or the smallest of them.
pub(crate) fn integer(text: &str) -> Option<i64> {
    let text = text.trim();
    let whole = match text.split_once('.') {
        None => text,
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0') => {
            whole
        }
        Some(_) => return None,
    };
    let (is_negative, digits) = match whole.as_bytes().first() {
        Some(b'-') => (true, &whole[1..]),
        Some(b'+') => (false, &whole[1..]),
        _ => (false, whole),
    };
    let is_grouped = digits
        .split('_')
        .all(|group| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit()));
    if !is_grouped {
        return None;
    }
    let mut number = 0_i64;
    for digit in digits.bytes().filter(u8::is_ascii_digit) {
        let digit = i64::from(digit - b'0');
        let digit = if is_negative { -digit } else { digit };
        number = number.saturating_mul(10).saturating_add(digit);
    }
    Some(number)
}

/// A truth, in one of the words that the contract knows for it.
pub(crate) fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "y" | "on" | "1" => Some(true),
        "false" | "f" | "no" | "n" | "off" | "0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_the_numbers_that_the_contract_takes_them_for() {
        for (text, number) in [
            ("7", Some(7)),
            (" 1 ", Some(1)),
            ("+1", Some(1)),
            ("-12", Some(-12)),
            ("1_000", Some(1000)),
            ("1.0", Some(1)),
            ("00012", Some(12)),
            ("999999999999999999999999", Some(i64::MAX)),
            ("-999999999999999999999999", Some(i64::MIN)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("", None),
            ("-", None),
            ("1.", None),
            ("1.5", None),
            ("1e3", None),
            ("_1", None),
            ("1__0", None),
            ("0x1", None),
            ("- 1", None),
            ("١", None),
        ] {
            assert_eq!(integer(text), number, "{text}");
        }
    }

    #[test]
    fn texts_are_the_truths_that_the_contract_takes_them_for() {
        for (text, truth) in [
            ("TRUE", Some(true)),
            ("y", Some(true)),
            ("Off", Some(false)),
            ("0", Some(false)),
            ("2", None),
            ("", None),
            (" true", None),
        ] {
            assert_eq!(boolean(text), truth, "{text}");
        }
    }
}
