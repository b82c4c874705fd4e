//! The capabilities that `wishes(…)` names.

use serde_json::{Map, Value, json};
use syn::{
    Ident, LitStr, Token,
    parse::{Parse, ParseStream},
};

/// Every wish that may be named, for the message about an unknown one.
const KNOWN: &str = "`http(…)`, `credentials(…)`, `reveal(…)`, `state`, `memory(…)`, `recall`, `files`, \
                     `agents(…)`, `peers(…)`, `env(…)` and `folders(…)`";

/// The wishes of one tool, in the JSON form that the host reads.
#[derive(Default)]
pub(crate) struct Wishes(Map<String, Value>);

impl Wishes {
    /// The line of the custom section: one JSON object and a newline, which keeps the lines of
    /// several tools apart after the linker has joined their sections. None without wishes.
    pub(crate) fn line(&self, tool: &str) -> Option<String> {
        let wishes = &self.0;
        (!wishes.is_empty()).then(|| format!("{}\n", json!({ "tool": tool, "wishes": wishes })))
    }

    fn wish(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let name = key.to_string();
        match name.as_str() {
            "state" | "recall" | "files" => {
                self.0.insert(name, Value::Bool(true));
            }
            "http" => {
                let names = Names::parse(key, input, false)?;
                for target in &names.texts {
                    check_target(target)?;
                }
                self.0.insert(name, names.json());
            }
            "credentials" | "reveal" | "agents" | "peers" | "env" => {
                let names = Names::parse(key, input, false)?;
                self.0.insert(name, names.json());
            }
            "memory" => {
                let names = Names::parse(key, input, true)?;
                self.0.insert(
                    name,
                    json!({ "labels": names.json(), "write": names.write }),
                );
            }
            "folders" => {
                let names = Names::parse(key, input, true)?;
                let folders = names.texts.iter().map(|text| {
                    check_folder(text)?;
                    Ok(json!({ "guest": text.value(), "write": names.write }))
                });
                let folders = folders.collect::<syn::Result<Vec<_>>>()?;
                let list = self
                    .0
                    .entry(name)
                    .or_insert_with(|| Value::Array(Vec::new()));
                if let Value::Array(list) = list {
                    list.extend(folders);
                }
            }
            _ => {
                let message = format!("unknown wish `{key}`; known are {KNOWN}");
                return Err(syn::Error::new(key.span(), message));
            }
        }
        Ok(())
    }
}

impl Parse for Wishes {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut this = Self::default();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            // Folders may stand several times: each has a `write` of its own.
            if key != "folders" && this.0.contains_key(&key.to_string()) {
                return Err(syn::Error::new(
                    key.span(),
                    format!("the wish `{key}` stands here twice"),
                ));
            }
            this.wish(&key, input)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(this)
    }
}

/// The parenthesised texts of a wish, with `write` after them where the wish knows it.
struct Names {
    texts: Vec<LitStr>,
    write: bool,
}

impl Names {
    fn parse(key: &Ident, input: ParseStream<'_>, may_write: bool) -> syn::Result<Self> {
        if !input.peek(syn::token::Paren) {
            let message = format!("the wish `{key}` takes text literals: `{key}(\"…\")`");
            return Err(syn::Error::new(key.span(), message));
        }
        let content;
        syn::parenthesized!(content in input);
        let mut this = Self {
            texts: Vec::new(),
            write: false,
        };
        while !content.is_empty() {
            if content.peek(LitStr) {
                this.texts.push(not_blank(content.parse()?)?);
            } else if may_write
                && content.peek(Ident)
                && content.fork().parse::<Ident>()? == "write"
            {
                content.parse::<Ident>()?;
                this.write = true;
            } else {
                let or_write = if may_write { " or `write`" } else { "" };
                let message = format!(
                    "a wish is readable without running the tool: only text literals{or_write} may stand here"
                );
                return Err(content.error(message));
            }
            if !content.is_empty() {
                content.parse::<Token![,]>()?;
            }
        }
        if this.texts.is_empty() {
            let message = format!("the wish `{key}` names nothing; `\"*\"` wishes for all");
            return Err(syn::Error::new(key.span(), message));
        }
        Ok(this)
    }

    fn json(&self) -> Value {
        self.texts.iter().map(LitStr::value).collect()
    }
}

fn not_blank(text: LitStr) -> syn::Result<LitStr> {
    let value = text.value();
    if value.is_empty()
        || value.contains(|character: char| character.is_whitespace() || character.is_control())
    {
        return Err(syn::Error::new(
            text.span(),
            "a wish is neither empty nor holds white space",
        ));
    }
    Ok(text)
}

/// A host pattern (`example.com`, `*.example.com`, `*`) or the beginning of a URL.
fn check_target(text: &LitStr) -> syn::Result<()> {
    let value = text.value();
    let rest = match value.split_once("://") {
        Some(("http" | "https", rest)) => rest,
        Some((scheme, _)) => {
            let message =
                format!("`{scheme}` is no scheme that a tool can use; `http` and `https` are");
            return Err(syn::Error::new(text.span(), message));
        }
        None => value.as_str(),
    };
    let host = rest.split('/').next().unwrap_or_default();
    if host.is_empty() || rest.contains(['?', '#', '@', '\\']) {
        let message = "an `http` wish is a host (`example.com`, `*.example.com`, `*`) or the beginning of a URL \
                       (`https://example.com/v1/`), without user, query and fragment";
        return Err(syn::Error::new(text.span(), message));
    }
    if host.strip_prefix("*.").unwrap_or(host).contains('*') && host != "*" {
        let message = "`*` stands alone or for one leading label, as in `*.example.com`";
        return Err(syn::Error::new(text.span(), message));
    }
    Ok(())
}

/// An absolute path in the guest without dots, or `*`.
fn check_folder(text: &LitStr) -> syn::Result<()> {
    let value = text.value();
    let dotted = value.split('/').any(|part| part == "." || part == "..");
    if value == "*" || (value.starts_with('/') && !dotted) {
        return Ok(());
    }
    Err(syn::Error::new(
        text.span(),
        "a folder is an absolute path in the guest, such as `/data`, or `*`",
    ))
}

#[cfg(test)]
mod tests {
    use super::Wishes;

    fn line(text: &str) -> Option<String> {
        syn::parse_str::<Wishes>(text)
            .expect("the wishes parse")
            .line("greet")
    }

    #[test]
    fn every_wish_has_its_json_form() {
        let all = r#"http("https://api.example.com/v1/", "*.example.org"), credentials("example"), reveal("x"), state,
            memory("human", "persona", write), recall, files, agents("*"), peers("other"), env("TZ"),
            folders("/data", write), folders("/in")"#;
        let value: serde_json::Value =
            serde_json::from_str(&line(all).expect("there are wishes")).expect("it is JSON");
        let expected = serde_json::json!({"tool": "greet", "wishes": {
            "http": ["https://api.example.com/v1/", "*.example.org"], "credentials": ["example"], "reveal": ["x"],
            "state": true, "memory": {"labels": ["human", "persona"], "write": true}, "recall": true, "files": true,
            "agents": ["*"], "peers": ["other"], "env": ["TZ"],
            "folders": [{"guest": "/data", "write": true}, {"guest": "/in", "write": false}],
        }});
        assert_eq!(value, expected);
    }

    #[test]
    fn no_wishes_make_no_line_and_wishes_make_exactly_one() {
        assert_eq!(line(""), None);
        let text = line("state").expect("there is a wish");
        assert_eq!(text.matches('\n').count(), 1);
        assert!(text.ends_with('\n'));
    }

    #[test]
    fn a_target_that_is_no_host_is_refused() {
        for wrong in [
            "ftp://example.com",
            "https://",
            "https://a@b",
            "a.*.com",
            "https://a/?q",
            "a b",
            "",
        ] {
            let text = format!("http({wrong:?})");
            assert!(syn::parse_str::<Wishes>(&text).is_err(), "{wrong}");
        }
    }
}
