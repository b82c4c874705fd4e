//! How much of what was found is given: a model reads some pages, and the host takes no result
//! without end.

/// Characters of one text.
const TEXT_MAX: usize = 8_000;
/// Characters of all texts together: twice what a model is shown of a result, and far within the
/// host's limit however much of it has to be escaped.
const TOTAL_MAX: usize = 100_000;
/// What stands where a text was cut.
const CUT: &str = " […]";

/// The first of what was found, each text cut to its limit, as many as fit.
pub(crate) fn fitting<T>(
    found: impl IntoIterator<Item = T>,
    text: impl Fn(&mut T) -> &mut String,
) -> Vec<T> {
    let mut left = TOTAL_MAX;
    let mut kept = Vec::new();
    for mut each in found {
        let text = text(&mut each);
        cut(text);
        let Some(rest) = left.checked_sub(text.chars().count()) else {
            break;
        };
        left = rest;
        kept.push(each);
    }
    kept
}

fn cut(text: &mut String) {
    if let Some((end, _)) = text.char_indices().nth(TEXT_MAX) {
        text.truncate(end);
        text.push_str(CUT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_with_a_mark_and_many_are_not_all_given() {
        let texts = vec!["ä".repeat(TEXT_MAX + 1); 50];
        let kept = fitting(texts, |text| text);
        assert!(kept.iter().all(|text| text.ends_with("ä […]")));
        let total: usize = kept.iter().map(|text| text.chars().count()).sum();
        assert!(
            (TOTAL_MAX - TEXT_MAX - 4..=TOTAL_MAX).contains(&total),
            "{total}"
        );
        assert_eq!(fitting(["short".to_owned()], |text| text), ["short"]);
    }
}
