//! The schema that a model gets, from the source.

use serde_json::{Value, json};

use super::{detail, python};
use crate::support::{TestServer, has_python};

async fn derived(server: &TestServer, code: &str, source_type: &str) -> Value {
    let body = json!({ "code": code, "source_type": source_type });
    let derived = server.post("/v1/tools/generate-schema", &body).await;
    assert_eq!(derived.status, 200, "{derived:?}");
    derived.body
}

#[tokio::test]
async fn python_gives_name_description_and_parameters_of_its_last_function() {
    if !has_python() {
        return;
    }
    let server = TestServer::start().await;
    let code = r#"
from typing import List, Literal, Optional
from pydantic import BaseModel, Field

class Item(BaseModel):
    sku: str = Field(description="The number in stock.")
    count: int = Field(1, description="How many.")

def helper(x):
    return x

def order(agent_state: "AgentState", item: Item, tags: List[str], size: Literal['s', 'm'], note: Optional[str] = None, express: bool = False, **rest):
    """Order something.

    Long text.

    Args:
        item (Item): What to order.
        tags (List[str]): Words
            on two lines.
        size (str): How large.
        note (Optional[str]): A note.
        express (bool): Whether it is urgent.

    Returns:
        str: The number of the order.
    """
    return helper(item.sku)
"#;
    let schema = derived(&server, code, "python").await;
    assert_eq!(schema["name"], "order");
    let description = schema["description"].as_str().unwrap();
    assert_eq!(description, "Order something.\n\nLong text.");
    let parameters = &schema["parameters"];
    assert_eq!(parameters["required"], json!(["item", "tags", "size"]));
    let properties = &parameters["properties"];
    assert!(properties.get("agent_state").is_none() && properties.get("rest").is_none());
    assert_eq!(properties["size"]["enum"], json!(["s", "m"]));
    assert_eq!(
        properties["note"],
        json!({ "type": "string", "description": "A note." })
    );
    assert_eq!(properties["express"]["type"], "boolean");
    assert_eq!(
        properties["tags"],
        json!({ "type": "array", "items": { "type": "string" }, "description": "Words\non two lines." })
    );
    let item = &properties["item"];
    assert_eq!(
        (&item["type"], &item["required"]),
        (&json!("object"), &json!(["sku"]))
    );
    assert_eq!(
        item["properties"]["sku"]["description"],
        "The number in stock."
    );
}

#[tokio::test]
async fn typescript_gives_types_and_what_may_be_left_out() {
    let server = TestServer::start().await;
    let code = "export function f(a: number, b: boolean, c: string[], d?: string, e = 1): number { return a }";
    let schema = derived(&server, code, "typescript").await;
    let expected = json!({
        "name": "f", "description": "TypeScript function f",
        "parameters": {
            "type": "object", "required": ["a", "b", "c"],
            "properties": {
                "a": { "type": "number" }, "b": { "type": "boolean" },
                "c": { "type": "array", "items": { "type": "string" } },
                "d": { "type": "string" }, "e": { "type": "number" },
            },
        },
    });
    assert_eq!(schema, expected);
}

#[tokio::test]
async fn javascript_gives_what_its_comment_says() {
    let server = TestServer::start().await;
    let code = "/**\n * Adds one.\n * @param {number} a The number.\n * @param {string} [note] A note.\n */\nfunction next(a, note) { return a + 1 }";
    let schema = derived(&server, code, "javascript").await;
    assert_eq!(
        (&schema["name"], &schema["description"]),
        (&json!("next"), &json!("Adds one."))
    );
    let parameters = &schema["parameters"];
    assert_eq!(parameters["required"], json!(["a"]));
    assert_eq!(
        parameters["properties"]["a"],
        json!({ "type": "number", "description": "The number." })
    );
}

/// Nothing of the source is executed: each of these would end in an error otherwise.
#[tokio::test]
async fn reading_a_schema_runs_nothing() {
    if !has_python() {
        return;
    }
    let server = TestServer::start().await;
    let code = format!(
        "import no_such_module\n{}raise SystemExit(1)\n",
        python("f(a: int)", "return a")
    );
    assert_eq!(derived(&server, &code, "python").await["name"], "f");
    let code = "throw new Error('ran');\nexport function f(a: number) { return a }";
    assert_eq!(derived(&server, code, "typescript").await["name"], "f");
}

#[tokio::test]
async fn what_has_no_schema_says_why() {
    let server = TestServer::start().await;
    let missing = server.post("/v1/tools/generate-schema", &json!({})).await;
    assert_eq!(
        detail(&missing),
        (
            422,
            "[{'type': 'missing', 'loc': ('body', 'code'), 'msg': 'Field required', 'input': {}}]"
        )
    );
    let body = json!({ "code": "const x = 1;", "source_type": "typescript" });
    let none = server.post("/v1/tools/generate-schema", &body).await;
    assert_eq!(
        detail(&none),
        (
            400,
            "Failed to derive json schema: Schema generation failed: No functions found in source code"
        )
    );
}
