//! Pages that were written to do harm.

mod support;

use support::page;

#[test]
fn a_hundred_thousand_nested_elements_are_read_with_their_text() {
    for name in [
        "div",
        "b",
        "blockquote",
        "span",
        "ul><li",
        "font size=1",
        "x-y",
        "table><tr><td",
    ] {
        let html = format!(
            "{}deepest words{}after",
            format!("<{name}>").repeat(100_000),
            "</div>".repeat(100_000)
        );
        let text = page(&html);
        assert!(text.contains("deepest words"), "{name}: {}", text.len());
    }
}

#[test]
fn elements_opened_again_after_stray_end_tags_stay_within_the_depth() {
    let html = "<div></x><p><b>".repeat(50_000);
    assert!(page(&format!("{html}words")).contains("words"));
}

#[test]
fn marks_that_reopen_in_every_paragraph_do_not_fill_the_memory() {
    let fonts: String = (0..400).map(|n| format!("<font size={n}>")).collect();
    let text = page(&format!("first words {fonts}{}", "<p>x".repeat(100_000)));
    assert!(text.contains("first words"));
    assert!(text.contains("[Cut: "), "{}", &text[text.len() - 200..]);
}

#[test]
fn a_long_address_repeated_does_not_fill_the_memory() {
    let href = "x".repeat(1900);
    for html in [
        format!("<a href='/{href}'>{}", "<p>x".repeat(100_000)),
        format!("<a href='/{href}'>{}", "x<br>".repeat(100_000)),
        format!(
            "<base href='/{href}/'>{}",
            "<a href=y>z</a> w ".repeat(60_000)
        ),
        format!(
            "<table>{}</table>",
            format!("<tr><td><a href='/{href}'>x</a><td>y").repeat(1_900)
        ),
    ] {
        let text = page(&html);
        assert!(text.contains("[Cut: "), "{}", text.len());
        let total = text
            .rsplit(" of ")
            .next()
            .and_then(|rest| rest.split(';').next());
        let total = total.and_then(|total| total.parse::<usize>().ok());
        let total =
            total.unwrap_or_else(|| panic!("{} … {}", &html[..20], &text[text.len() - 200..]));
        assert!(total < 6 << 20, "{total}");
    }
}

#[test]
fn a_huge_attribute_is_no_text() {
    let html = format!(
        "<p title='{}' class=\"{}\">words</p>",
        "t".repeat(1_000_000),
        "c ".repeat(500_000)
    );
    assert!(page(&html).ends_with("\n\nwords"));
}

#[test]
fn quotes_and_lists_without_end_have_short_lines() {
    let text = page(&format!("{}words", "<blockquote><ul><li>".repeat(5_000)));
    assert!(text.len() < 500, "{text}");
}

#[test]
fn text_of_a_script_never_shows_even_where_its_tag_is_too_deep() {
    let html = format!(
        "{}<script>secret()</script><style>hue</style>words",
        "<div>".repeat(5_000)
    );
    let text = page(&html);
    assert!(
        text.contains("words") && !text.contains("secret") && !text.contains("hue"),
        "{text}"
    );
}

#[test]
fn control_characters_do_not_reach_the_reader() {
    let text = page(
        "<title>a\u{1b}[2Jb</title><p>c\u{1b}[31md\u{8}\u{7f}</p><pre>e\u{1b}f\u{9b}g</pre><p>h</p>",
    );
    assert!(
        text.chars().all(|c| c == '\n' || !c.is_control()),
        "{text:?}"
    );
}

#[test]
fn a_page_above_the_size_limit_is_cut_with_a_note() {
    let text = page(&"<!-- filler -->".repeat(400_000));
    assert!(text.contains("URL: "));
    let mut html = "<p>words</p>".to_owned();
    html.push_str(&"<i></i>".repeat(700_000));
    let text = page(&html);
    assert!(
        text.contains("words") && text.contains("[Cut: the page is too large"),
        "{}",
        text.len()
    );
}
