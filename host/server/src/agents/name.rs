//! Names of agents.

use uuid::Uuid;

use crate::contract::Refusal;

/// First words of a name that nobody chose.
const FIRST: [&str; 32] = [
    "Amber", "Brave", "Bright", "Calm", "Clever", "Copper", "Curious", "Eager", "Early", "Fair",
    "Gentle", "Golden", "Happy", "Honest", "Humble", "Keen", "Kind", "Lively", "Lucky", "Merry",
    "Noble", "Patient", "Quick", "Quiet", "Sharp", "Silver", "Steady", "Sunny", "Swift", "Tidy",
    "Warm", "Wise",
];
/// Second words.
const SECOND: [&str; 32] = [
    "Badger", "Beacon", "Birch", "Brook", "Cedar", "Comet", "Compass", "Falcon", "Fern", "Finch",
    "Fox", "Harbor", "Hazel", "Heron", "Island", "Juniper", "Lantern", "Lark", "Maple", "Meadow",
    "Otter", "Owl", "Pebble", "Pine", "Raven", "River", "Robin", "Sparrow", "Stone", "Thistle",
    "Willow", "Wren",
];

/// A name for an agent to which nobody gave one: two words. Others may have the same.
pub(crate) fn random() -> String {
    let [first, second, ..] = *Uuid::new_v4().as_bytes();
    let word = |words: &[&'static str; 32], byte: u8| words[usize::from(byte) % words.len()];
    format!("{}{}", word(&FIRST, first), word(&SECOND, second))
}

/// Refuses names with which clients can't name files, which they do.
pub(crate) fn check(name: &str) -> Result<(), Refusal> {
    fault(name).map_or(Ok(()), |fault| Err(Refusal::unprocessable(fault)))
}

/// Why a name is refused; none where it is not.
pub(crate) fn fault(name: &str) -> Option<String> {
    if name.trim().is_empty() {
        return Some("Agent name must not be empty.".to_owned());
    }
    let is_taken = |c: char| c.is_alphanumeric() || " -_'".contains(c);
    if name.chars().all(is_taken) {
        return None;
    }
    Some(format!(
        "Agent name '{name}' contains invalid characters. Only letters of any language, digits, \
         spaces, hyphens, underscores and apostrophes are allowed."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_nobody_chose_is_two_words_and_a_valid_one() {
        for _ in 0..100 {
            let name = random();
            assert_eq!(name.chars().filter(|c| c.is_uppercase()).count(), 2);
            assert!(check(&name).is_ok(), "{name}");
        }
    }

    #[test]
    fn names_are_of_letters_digits_and_a_few_signs() {
        for name in ["Zoë's agent-2_b", "代理", "агент 7"] {
            assert!(check(name).is_ok(), "{name}");
        }
        for name in ["a/b", "", "  ", "a\nb", "a.b", "x<y>"] {
            assert!(check(name).is_err(), "{name:?}");
        }
    }
}
