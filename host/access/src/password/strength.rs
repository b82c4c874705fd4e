//! Which passwords are refused.
//!
//! There are no rules about kinds of characters: they make people write `Password1!`. What counts is
//! how many guesses somebody needs who knows common passwords, words, keyboards and the person; the
//! crate `zxcvbn` estimates that.

use bulkhead_domain::platform::User;
use zxcvbn::{Score, zxcvbn};

use super::Password;

/// Characters that a password has at least.
pub const CHARACTERS_MIN: usize = 8;
/// Characters that a password has at most: more than any sentence that a person types, and few
/// enough to be looked at.
pub const CHARACTERS_MAX: usize = 128;
/// Characters whose strength is estimated, from the first on: the time grows faster than the length,
/// and so many that can't be guessed are enough. What is hashed is the whole password.
const ESTIMATED_MAX: usize = 40;
/// What is refused takes less than a million guesses. A server that is asked for each of them
/// refuses long before; a stolen database costs an attacker some hours for each such password.
const LEAST: Score = Score::Two;
/// Letters of a part of a name or an address from which on it makes a password easier to guess.
const PART_MIN: usize = 3;
/// Parts of a person's names and address that are looked at.
const PARTS_MAX: usize = 64;

/// A password that may not be anybody's. The text says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Weakness {
    /// It has fewer than [`CHARACTERS_MIN`] characters.
    #[error("The password is too short: use at least {CHARACTERS_MIN} characters.")]
    TooShort,
    /// It has more than [`CHARACTERS_MAX`] characters.
    #[error("The password is too long: use at most {CHARACTERS_MAX} characters.")]
    TooLong,
    /// It is guessed soon.
    #[error("The password is too easy to guess. {advice}")]
    Guessable {
        /// Why, where that is known, and what helps, in sentences.
        advice: String,
    },
}

/// Whether this may be the password of this person, whose address and names make it easier to guess.
///
/// Takes about a millisecond of computing, for odd texts a tenth of a second; [`super::Passwords::accept`] does it off the
/// runtime's threads.
///
/// # Errors
///
/// [`Weakness`], with what to do about it.
pub fn check(password: &Password, user: &User) -> Result<(), Weakness> {
    let characters = password.text.chars().count();
    if password.is_too_long || characters > CHARACTERS_MAX {
        return Err(Weakness::TooLong);
    }
    if characters < CHARACTERS_MIN {
        return Err(Weakness::TooShort);
    }
    // Whatever its length and its parts.
    if password.text.trim().to_lowercase() == user.email {
        return Err(Weakness::Guessable {
            advice: "It is your e-mail address.".to_owned(),
        });
    }
    let parts = parts(user);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let estimate = zxcvbn(beginning(&password.text), &parts);
    if estimate.score() >= LEAST {
        return Ok(());
    }
    let mut sentences = Vec::new();
    if let Some(feedback) = estimate.feedback() {
        sentences.extend(feedback.warning().map(|warning| warning.to_string()));
        sentences.extend(feedback.suggestions().iter().map(ToString::to_string));
    }
    if sentences.is_empty() {
        sentences.push("Use a few words that do not belong together.".to_owned());
    }
    Err(Weakness::Guessable {
        advice: sentences.join(" "),
    })
}

/// What somebody who knows the person tries first.
fn parts(user: &User) -> Vec<String> {
    let (local, domain) = user.email.split_once('@').unwrap_or((&user.email, ""));
    let (first, last) = (&user.first_name, &user.last_name);
    let mut parts = vec![
        user.email.clone(),
        local.to_owned(),
        domain.to_owned(),
        first.clone(),
        last.clone(),
        format!("{first}{last}"),
        format!("{last}{first}"),
    ];
    for text in [local, domain, first, last] {
        parts.extend(
            text.split(|c: char| !c.is_alphanumeric())
                .map(str::to_owned),
        );
    }
    parts.retain(|part| part.chars().take(PART_MIN).count() == PART_MIN);
    parts.truncate(PARTS_MAX);
    for part in &mut parts {
        part.truncate(beginning(part).len());
    }
    parts
}

/// The first [`ESTIMATED_MAX`] characters.
fn beginning(text: &str) -> &str {
    let end = text.char_indices().nth(ESTIMATED_MAX);
    end.map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(email: &str, first_name: &str, last_name: &str) -> User {
        User {
            first_name: first_name.to_owned(),
            last_name: last_name.to_owned(),
            ..User::new(email)
        }
    }

    fn ada() -> User {
        user("ada.lovelace@example.com", "Ada", "Lovelace")
    }

    fn refusal(password: &str) -> Option<Weakness> {
        check(&Password::new(password), &ada()).err()
    }

    #[test]
    fn what_clients_of_this_api_sign_up_with_is_strong_enough() {
        for (password, email, first, last) in [
            (
                "RegularPass123!",
                "regular-1f0c9a3e@example.com",
                "Regular",
                "User",
            ),
            (
                "ListerPass123!",
                "lister-1f0c9a3e@example.com",
                "List",
                "User",
            ),
            (
                "OtherPass123!",
                "other-user-1f0c9a3e@example.com",
                "Other",
                "User",
            ),
            ("TestPass123!", "test-1f0c9a3e@example.com", "Test", "User"),
            (
                "SuperPass123!",
                "superuser-1f0c9a3e@example.com",
                "Super",
                "User",
            ),
            ("correct horse battery", "ada@example.com", "", ""),
        ] {
            let checked = check(&Password::new(password), &user(email, first, last));
            assert_eq!(checked, Ok(()), "{password}");
        }
    }

    #[test]
    fn what_is_guessed_first_is_refused_with_advice() {
        for password in [
            "password",
            "Password1",
            "12345678",
            "aaaaaaaaaa",
            "qwertyuiop",
            "ada.lovelace@example.com",
            "ADA.LOVELACE@example.com",
            "ada.lovelace1",
            "adalovelace",
            "Lovelace1!",
            "lovelaceada",
        ] {
            match refusal(password) {
                Some(Weakness::Guessable { advice }) => {
                    assert!(advice.ends_with('.'), "{password}: {advice}");
                }
                other => panic!("{password}: {other:?}"),
            }
        }
    }

    #[test]
    fn the_address_is_refused_however_long_it_is() {
        let long = format!("ada-{}@example.com", "x7k2q9".repeat(9));
        let longest = format!("{long}.{}.com", "q4w8".repeat(12));
        for email in [long, longest] {
            for password in [email.clone(), format!("{email}7")] {
                let checked = check(&Password::new(password), &user(&email, "", ""));
                let is_refused = matches!(checked, Err(Weakness::Guessable { .. }));
                assert!(is_refused, "{email}: {checked:?}");
            }
        }
    }

    #[test]
    fn characters_are_counted_not_bytes() {
        assert_eq!(refusal("short1!"), Some(Weakness::TooShort));
        assert_eq!(refusal("пароль"), Some(Weakness::TooShort));
        // Seven letters, of which one is written as two characters.
        assert_eq!(refusal("zc\u{e}vb\u{65}\u{301}n"), Some(Weakness::TooShort));
        assert_eq!(refusal("жираф на велосипеде"), None);
        let longest: String = ('a'..='z')
            .cycle()
            .step_by(7)
            .take(CHARACTERS_MAX)
            .collect();
        assert_eq!(refusal(&longest), None);
        assert_eq!(refusal(&format!("{longest}x")), Some(Weakness::TooLong));
        assert_eq!(refusal(&"x".repeat(1 << 20)), Some(Weakness::TooLong));
    }

    #[test]
    fn a_name_in_it_does_not_make_a_long_password_weak() {
        assert_eq!(refusal("ada keeps 9 purple walruses"), None);
    }

    #[test]
    fn a_person_without_names_has_no_parts_that_match_everything() {
        assert!(
            parts(&user("a@b.c", "", ""))
                .iter()
                .all(|part| part == "a@b.c" || part == "b.c")
        );
        let wordy = user("a@b.c", &"ab cde ".repeat(10_000), "x");
        assert!(parts(&wordy).len() <= PARTS_MAX);
        assert!(parts(&wordy).iter().all(|part| part.len() <= ESTIMATED_MAX));
    }

    #[test]
    fn no_password_keeps_a_thread_for_long() {
        let all: String = (' '..='~').collect();
        for part in [
            "a",
            "ab",
            "1",
            "p4$$w0rd",
            "qwerty",
            "4@8({[<369!1|0$5+7%2",
            "19",
            &all,
        ] {
            let password: String = part.chars().cycle().take(CHARACTERS_MAX).collect();
            let begin = std::time::Instant::now();
            let _ = check(&Password::new(password), &ada());
            // An optimised build needs a fraction of it.
            assert!(
                begin.elapsed().as_secs() < 2,
                "{part}: {:?}",
                begin.elapsed()
            );
        }
    }
}
