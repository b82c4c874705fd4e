//! Slugs: short names that stand in URLs.

/// Bytes of a slug: it is read and typed by people.
pub const SLUG_MAX: usize = 100;

/// A text that is no slug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a slug: 1 to {SLUG_MAX} lower-case letters (a-z), digits and single dashes between them"
)]
pub struct InvalidSlug;

/// Whether a text is a slug: words of `a`–`z` and `0`–`9` with one dash between two. Nothing is
/// changed on the way: what a client wrote is what it finds the thing by.
///
/// # Errors
///
/// [`InvalidSlug`] where it is none.
pub fn check(text: &str) -> Result<(), InvalidSlug> {
    let word = |word: &str| {
        !word.is_empty()
            && word
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    if text.len() <= SLUG_MAX && text.split('-').all(word) {
        Ok(())
    } else {
        Err(InvalidSlug)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_words_of_small_letters_and_digits() {
        for text in ["a", "2", "test-agent-1f", &"a".repeat(SLUG_MAX)] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
        let long = "a".repeat(SLUG_MAX + 1);
        for text in [
            "", "-", "a-", "-a", "a--b", "A", "a_b", "a b", "ä", "a/b", &long,
        ] {
            assert_eq!(check(text), Err(InvalidSlug), "{text}");
        }
    }
}
