//! Wishes and hints; tools may stand in modules.

use bulkhead_sdk::tools;

mod inner {
    use bulkhead_sdk::tool;

    /// Wishes.
    #[tool(
        destructive,
        open_world,
        wishes(
            http("https://api.example.com/v1/", "*.example.org"),
            credentials("example"),
            reveal("x"),
            state,
            memory("human", "persona", write),
            recall,
            files,
            agents("*"),
            peers("other"),
            env("TZ"),
            folders("/data", write),
        ),
    )]
    pub fn wishful() {}
}

tools![inner::wishful];

fn main() {
    assert!(TOOLS[0].wishes().starts_with(r#"{"tool":"wishful","wishes":{"#));
    assert!(TOOLS[0].hints().destructive && TOOLS[0].hints().open_world && !TOOLS[0].hints().read_only);
}
