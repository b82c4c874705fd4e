//! Text as it is searched: without case, by the rules of Unicode, which neither database knows
//! by itself.

/// A text, or a part of one, in lower case, character by character, so that a part of a text is
/// a part of the text's lower case.
pub(crate) fn folded(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// What `LIKE … ESCAPE '\\'` finds wherever the text stands; its own signs mean themselves.
pub(crate) fn pattern(search: &str) -> String {
    let mut pattern = String::from("%");
    for character in folded(search).chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}
