//! What stands in `#[tool(…)]`.

use syn::{
    Ident, LitStr, Token,
    parse::{Parse, ParseStream},
};

use crate::wishes::Wishes;

/// Bytes of a tool's name: what model providers accept.
const MAX_NAME: usize = 64;

/// The arguments of the attribute. The default is an attribute without any.
#[derive(Default)]
pub(crate) struct ToolAttribute {
    /// Another name than the function's.
    pub(crate) name: Option<LitStr>,
    /// A name for people.
    pub(crate) title: Option<LitStr>,
    /// Changes nothing outside of itself.
    pub(crate) read_only: bool,
    /// May delete or overwrite.
    pub(crate) destructive: bool,
    /// Repeating the call with the same input has no further effect.
    pub(crate) idempotent: bool,
    /// Reaches an open set of outside systems.
    pub(crate) open_world: bool,
    /// Capabilities that it would like to have.
    pub(crate) wishes: Wishes,
}

impl Parse for ToolAttribute {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut this = Self::default();
        let mut seen: Vec<Ident> = Vec::new();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            if seen.contains(&key) {
                return Err(syn::Error::new(
                    key.span(),
                    format!("`{key}` stands here twice"),
                ));
            }
            this.argument(&key, input)?;
            if this.read_only && this.destructive {
                let message = "a tool can't be both `read_only` and `destructive`";
                return Err(syn::Error::new(key.span(), message));
            }
            seen.push(key);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(this)
    }
}

impl ToolAttribute {
    fn argument(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match key.to_string().as_str() {
            "name" => {
                let name = literal(key, input)?;
                check_name(&name.value()).map_err(|text| syn::Error::new(name.span(), text))?;
                self.name = Some(name);
            }
            "title" => {
                let title = literal(key, input)?;
                if title.value().trim().is_empty() {
                    return Err(syn::Error::new(title.span(), "the title is empty"));
                }
                self.title = Some(title);
            }
            "read_only" => self.read_only = true,
            "destructive" => self.destructive = true,
            "idempotent" => self.idempotent = true,
            "open_world" => self.open_world = true,
            "wishes" => {
                let content;
                syn::parenthesized!(content in input);
                self.wishes = content.parse()?;
            }
            _ => {
                let message = format!(
                    "unknown argument `{key}`; known are `name = \"…\"`, `title = \"…\"`, `read_only`, \
                     `destructive`, `idempotent`, `open_world` and `wishes(…)`"
                );
                return Err(syn::Error::new(key.span(), message));
            }
        }
        Ok(())
    }
}

/// The text after `key =`.
fn literal(key: &Ident, input: ParseStream<'_>) -> syn::Result<LitStr> {
    input.parse::<Token![=]>()?;
    input.parse().map_err(|error| {
        syn::Error::new(
            error.span(),
            format!("`{key}` takes a text literal: `{key} = \"…\"`"),
        )
    })
}

/// Whether `name` is one that every model provider accepts.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    let fits = (1..=MAX_NAME).contains(&name.len());
    let plain = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if fits && plain {
        return Ok(());
    }
    Err(format!(
        "a tool's name has 1 to {MAX_NAME} ASCII letters, digits, `_` and `-`; this one is {name:?}"
    ))
}

#[cfg(test)]
mod tests {
    use super::check_name;

    #[test]
    fn a_name_has_letters_digits_and_two_signs() {
        assert!(check_name("fetch_web-page2").is_ok());
        assert!(check_name(&"x".repeat(64)).is_ok());
        assert!(check_name(&"x".repeat(65)).is_err());
        assert!(check_name("").is_err());
        assert!(check_name("größe").is_err());
        assert!(check_name("a b").is_err());
    }
}
