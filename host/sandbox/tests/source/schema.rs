//! JSON Schema from signatures.

use serde_json::{Value, json};

use crate::common::*;

async fn parameter(annotation: &str, before: &str) -> Value {
    let text = format!(
        "{before}\ndef t(a: {annotation}):\n    '''T.\n\n    Args:\n        a (anything): An a.\n    '''\n"
    );
    let schema = Tool::python(&text)
        .describe()
        .await
        .unwrap()
        .schema
        .unwrap();
    let mut property = schema["properties"]["a"].clone();
    let description = property.as_object_mut().unwrap().remove("description");
    assert_eq!(description, Some(json!("An a.")));
    property
}

#[tokio::test]
async fn annotations_of_python_become_schemas() {
    if !has_python() {
        return;
    }
    for (annotation, expected) in [
        ("str", json!({"type": "string"})),
        ("int", json!({"type": "integer"})),
        ("float", json!({"type": "number"})),
        ("bool", json!({"type": "boolean"})),
        (
            "list",
            json!({"type": "array", "items": {"type": "string"}}),
        ),
        (
            "List[int]",
            json!({"type": "array", "items": {"type": "integer"}}),
        ),
        (
            "list[List[bool]]",
            json!({"type": "array", "items": {"type": "array", "items": {"type": "boolean"}}}),
        ),
        ("dict", json!({"type": "object"})),
        (
            "List[dict]",
            json!({"type": "array", "items": {"type": "object"}}),
        ),
        ("Optional[str]", json!({"type": "string"})),
        (
            "Literal['a', 'b']",
            json!({"type": "string", "enum": ["a", "b"]}),
        ),
        ("Literal[1, 2]", json!({"type": "integer", "enum": [1, 2]})),
    ] {
        assert_eq!(parameter(annotation, "").await, expected, "{annotation}");
    }
}

#[tokio::test]
async fn classes_of_the_source_become_objects() {
    if !has_python() {
        return;
    }
    let before = "from pydantic import BaseModel, Field\nfrom enum import Enum\n\
                  class Size(str, Enum):\n    S = 's'\n    L = 'l'\n\
                  class Address(BaseModel):\n    city: str = Field(..., description='The city')\n    zip: Optional[int] = Field(None, description='The code', ge=0)\n\
                  class Person(BaseModel):\n    name: str = Field(..., description='The name', min_length=1)\n    homes: List[Address] = Field(..., description='Where')\n    size: Size = Size.S\n";
    let address = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "The city"},
            "zip": {"type": "integer", "description": "The code", "minimum": 0},
        },
        "required": ["city"],
    });
    assert_eq!(parameter("Address", before).await, address);
    let person = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The name", "minLength": 1},
            "homes": {"type": "array", "description": "Where", "items": address},
            "size": {"type": "string", "enum": ["s", "l"]},
        },
        "required": ["name", "homes"],
    });
    assert_eq!(parameter("Person", before).await, person);
    let people = json!({"type": "array", "items": person});
    assert_eq!(parameter("List[Person]", before).await, people);
}

#[tokio::test]
async fn a_whole_signature_becomes_a_schema() {
    if !has_python() {
        return;
    }
    let text = "def search(agent_state: 'AgentState', query: str, limit: int = 5, tags: Optional[List[str]] = None, exact: Optional[bool] = False, *args, agent_id: str, **more):\n    \
                '''Search the notes.\n\n    Looks at titles\n    and texts.\n\n    Args:\n        query (str): What to look for,\n            in any language.\n        limit: How many.\n        tags (List[str]): Only these.\n        exact: Whether case counts.\n        agent_id (str): Whose notes.\n\n    Returns:\n        list: Notes.\n\n    Examples:\n        search('tea')\n    '''\n";
    let description = Tool::python(text).describe().await.unwrap();
    assert_eq!(description.name, "search");
    assert_eq!(
        description.description,
        "Search the notes.\n\nLooks at titles\nand texts.\n\nExamples:\n    search('tea')"
    );
    assert_eq!(
        description.schema.unwrap(),
        json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What to look for,\nin any language."},
                "limit": {"type": "integer", "description": "How many."},
                "tags": {"type": "array", "items": {"type": "string"}, "description": "Only these."},
                "exact": {"type": "boolean", "description": "Whether case counts."},
                "agent_id": {"type": "string", "description": "Whose notes."},
            },
            "required": ["query", "agent_id"],
        })
    );
    let passed = description.parameters.iter();
    let passed: Vec<_> = passed
        .map(|(name, required)| (name.as_str(), *required))
        .collect();
    let expected = [
        ("query", true),
        ("limit", false),
        ("tags", false),
        ("exact", false),
        ("agent_id", false),
    ];
    assert_eq!(passed, expected);
    assert!(description.open);
}

#[tokio::test]
async fn docstrings_of_other_styles_are_read() {
    if !has_python() {
        return;
    }
    for docstring in [
        "T.\n\n    :param a: An a.\n    :type a: int\n    :returns: x",
        "T.\n\n    Args:\n        a: An a.",
        "T.\n\n    Parameters\n    ----------\n    a : int\n        An a.",
    ] {
        let text = format!("def t(a: int):\n    '''{docstring}\n    '''\n");
        let description = Tool::python(&text).describe().await.unwrap();
        assert_eq!(description.description, "T.", "{docstring}");
        let schema = description.schema.unwrap();
        assert_eq!(
            schema["properties"]["a"]["description"], "An a.",
            "{docstring}"
        );
    }
}

#[tokio::test]
async fn types_of_typescript_become_schemas() {
    let text = "interface Place { city: string; zip?: number }\n\
                /**\n * Finds a way.\n * @param from where to start\n */\n\
                export async function route(from: Place, to: string, by: 'car' | 'foot' = 'car', via?: string[], fast?: boolean) {}";
    let description = Tool::typescript(text).describe().await.unwrap();
    assert_eq!(
        (description.name.as_str(), description.description.as_str()),
        ("route", "Finds a way.")
    );
    assert_eq!(
        description.schema.unwrap(),
        json!({
            "type": "object",
            "properties": {
                "from": {
                    "type": "object",
                    "description": "where to start",
                    "properties": {"city": {"type": "string"}, "zip": {"type": "number"}},
                    "required": ["city"],
                },
                "to": {"type": "string"},
                "by": {"type": "string", "enum": ["car", "foot"]},
                "via": {"type": "array", "items": {"type": "string"}},
                "fast": {"type": "boolean"},
            },
            "required": ["from", "to"],
        })
    );
    let plain = Tool::typescript("export function f(a: number, b?: string) {}");
    assert_eq!(
        plain.describe().await.unwrap().description,
        "TypeScript function f"
    );
}
