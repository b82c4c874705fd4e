//! Addresses: from what stands in the page to what can be fetched.

use url::Url;

use crate::dom::{Dom, ROOT};

/// A longer address is data in disguise; its text is kept without it.
const MAX_ADDRESS_BYTES: usize = 2048;

/// Where the page's relative addresses start from.
#[derive(Debug)]
pub(crate) struct Base {
    page: Option<Url>,
    base: Option<Url>,
}

impl Base {
    /// From the page's own address and its `<base>`.
    pub(crate) fn of(page: &str, dom: &Dom) -> Self {
        let page = Url::parse(page).ok();
        let declared = dom
            .find(ROOT, "base")
            .and_then(|id| dom.attribute(id, "href"))
            .and_then(|href| match &page {
                Some(page) => page.join(href.trim()).ok(),
                None => Url::parse(href.trim()).ok(),
            })
            .filter(|url| matches!(url.scheme(), "http" | "https"));
        let base = declared.or_else(|| page.clone());
        Self { page, base }
    }

    /// The absolute address of a link. None for what a reader can't follow (`javascript:`,
    /// `data:`, a broken address) and for a place in the page itself.
    pub(crate) fn link(&self, href: &str) -> Option<String> {
        let url = self.resolve(href)?;
        if !matches!(url.scheme(), "http" | "https" | "mailto" | "tel") {
            return None;
        }
        if url.fragment().is_some() && self.is_page(&url) {
            return None;
        }
        Some(written(&url))
    }

    /// The absolute address of an image.
    pub(crate) fn image(&self, source: &str) -> Option<String> {
        let url = self.resolve(source)?;
        matches!(url.scheme(), "http" | "https").then(|| written(&url))
    }

    fn resolve(&self, address: &str) -> Option<Url> {
        let address = address.trim();
        if address.is_empty() || address.len() > MAX_ADDRESS_BYTES {
            return None;
        }
        let url = match &self.base {
            Some(base) => base.join(address).ok()?,
            None => Url::parse(address).ok()?,
        };
        (url.as_str().len() <= MAX_ADDRESS_BYTES).then_some(url)
    }

    fn is_page(&self, url: &Url) -> bool {
        self.page.as_ref().is_some_and(|page| {
            let end = url::Position::AfterQuery;
            page[..end] == url[..end]
        })
    }
}

/// The address without characters that end a link in Markdown.
fn written(url: &Url) -> String {
    let mut text = String::with_capacity(url.as_str().len());
    for c in url.as_str().chars() {
        match c {
            '(' => text.push_str("%28"),
            ')' => text.push_str("%29"),
            '<' => text.push_str("%3C"),
            '>' => text.push_str("%3E"),
            '|' => text.push_str("%7C"),
            ' ' => text.push_str("%20"),
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(html: &str) -> Base {
        Base::of(
            "https://a.example/dir/page?x=1",
            &crate::parse::parse(html).dom,
        )
    }

    #[test]
    fn relative_addresses_start_from_the_page_or_from_its_base() {
        let plain = base("");
        assert_eq!(plain.link("b").as_deref(), Some("https://a.example/dir/b"));
        assert_eq!(
            plain.link("//c.example/").as_deref(),
            Some("https://c.example/")
        );
        let declared = base("<base href='/root/'>");
        assert_eq!(
            declared.link("b").as_deref(),
            Some("https://a.example/root/b")
        );
        let hostile = base("<base href='javascript:alert(1)//'>");
        assert_eq!(
            hostile.link("b").as_deref(),
            Some("https://a.example/dir/b")
        );
    }

    #[test]
    fn what_a_reader_cannot_follow_is_no_link() {
        let base = base("");
        for href in [
            "javascript:alert(1)",
            " JavaScript:alert(1)",
            "java\nscript:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "http://[broken",
            "",
            "#here",
            "page?x=1#here",
        ] {
            assert_eq!(base.link(href), None, "{href}");
        }
        assert_eq!(base.link(&format!("/{}", "x".repeat(5000))), None);
        assert_eq!(
            base.link("mailto:a@b.example").as_deref(),
            Some("mailto:a@b.example")
        );
    }

    #[test]
    fn an_address_cannot_end_its_own_link() {
        let written = base("").link("/a_(b)").expect("a link");
        assert_eq!(written, "https://a.example/a_%28b%29");
    }
}
