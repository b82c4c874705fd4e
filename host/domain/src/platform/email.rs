//! Addresses of people: what is one, and which are the same.
//!
//! Upper and lower case are one, before the `@` too: hardly any mail server tells them apart, and
//! two accounts whose addresses look the same are one person's mistake or another one's trick.
//! Quoted names and addresses of hosts (`"a b"@[127.0.0.1]`) are none: nobody has one to sign in by.

/// Bytes of an address, as mail servers take it.
pub const EMAIL_MAX: usize = 254;
/// Bytes before the `@`, as mail servers take it.
const LOCAL_MAX: usize = 64;
/// Bytes between two dots of a domain, as name servers take it.
const LABEL_MAX: usize = 63;
/// What may stand before the `@` beside letters and digits.
const LOCAL_SIGNS: &str = "!#$%&'*+-/=?^_`{|}~.";

/// A text that is no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected an e-mail address like name@example.com")]
pub struct InvalidEmail;

/// The address as it is stored and compared: without blanks around it, in lower case by the rules of
/// Unicode.
///
/// # Errors
///
/// [`InvalidEmail`] where the text is no address, or longer than [`EMAIL_MAX`].
pub fn normalised(text: &str) -> Result<String, InvalidEmail> {
    let address = text.trim();
    if address.len() > EMAIL_MAX {
        return Err(InvalidEmail);
    }
    // Lower case may take more bytes.
    let address = address.to_lowercase();
    let (local, domain) = address.rsplit_once('@').ok_or(InvalidEmail)?;
    if address.len() <= EMAIL_MAX && is_local(local) && is_domain(domain) {
        Ok(address)
    } else {
        Err(InvalidEmail)
    }
}

fn is_local(local: &str) -> bool {
    let sign = |character: char| character.is_alphanumeric() || LOCAL_SIGNS.contains(character);
    local.len() <= LOCAL_MAX
        && local.split('.').all(|part| !part.is_empty())
        && local.chars().all(sign)
}

fn is_domain(domain: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= LABEL_MAX
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .chars()
                .all(|character| character.is_alphanumeric() || character == '-')
    };
    domain.contains('.') && domain.split('.').all(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_compared_without_blanks_and_case() {
        for (text, expected) in [
            (" Ada.L+x@Example.COM ", "ada.l+x@example.com"),
            ("Ä@Müller.de", "ä@müller.de"),
            ("o'neil@sub.example.org", "o'neil@sub.example.org"),
        ] {
            let address = normalised(text);
            assert_eq!(address.as_deref(), Ok(expected));
            assert_eq!(normalised(expected).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let long = format!("{}@example.com", "a".repeat(LOCAL_MAX + 1));
        let longer = format!("a@{}com", "example.".repeat(40));
        for text in [
            "",
            "@",
            "a",
            "a@",
            "@b.c",
            "a@b",
            "a b@c.d",
            "a@b..c",
            "a@.c",
            "a@b.",
            "a@-b.c",
            ".a@b.c",
            "a..b@c.d",
            "a@b@c.d",
            "a\0@b.c",
            "a\n@b.c",
            "a\u{200b}@b.c",
            "<a@b.c>",
            "a@[127.0.0.1]",
            &long,
            &longer,
        ] {
            assert_eq!(normalised(text), Err(InvalidEmail), "{text:?}");
        }
    }
}
