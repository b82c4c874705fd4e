//! Pages beside the Markdown that they become. `BLESS=1 cargo test -p tool-fetch-webpage` writes
//! the Markdown anew.

mod support;

use std::path::Path;

#[test]
fn every_page_becomes_the_markdown_beside_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let bless = std::env::var_os("BLESS").is_some();
    let mut pages = 0;
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let html = entry.expect("an entry").path();
        if html.extension().is_none_or(|extension| extension != "html") {
            continue;
        }
        pages += 1;
        let source = std::fs::read_to_string(&html).expect("a page");
        let got = format!("{}\n", support::page(&source));
        let golden = html.with_extension("md");
        if bless {
            std::fs::write(&golden, got).expect("a file");
        } else if std::fs::read_to_string(&golden).unwrap_or_default() != got {
            wrong.push(format!("{}:\n{got}", golden.display()));
        }
    }
    assert!(pages >= 12, "only {pages} pages");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
