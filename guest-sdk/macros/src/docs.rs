//! Doc comments as text.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The text of the doc comments among `attributes`: one leading space of each line removed,
/// blank lines at both ends dropped. Empty when there is none.
pub(crate) fn text(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(line).flat_map(|text| {
        let lines = text
            .split('\n')
            .map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned());
        lines.collect::<Vec<_>>()
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// The text of one doc attribute, none for every other attribute.
fn line(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::text;

    #[test]
    fn lines_join_and_lose_their_leading_space() {
        let attributes: Vec<syn::Attribute> = vec![
            parse_quote!(#[doc = " First."]),
            parse_quote!(#[inline]),
            parse_quote!(#[doc = ""]),
            parse_quote!(#[doc = "   indented"]),
        ];
        assert_eq!(text(&attributes), "First.\n\n  indented");
    }
}
