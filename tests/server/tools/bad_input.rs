//! What can't become a tool, and the words that say why.

use serde_json::{Value, json};

use super::{NOBODY, detail, javascript, python, saved, schema_of};
use crate::support::{Answer, TestServer, has_python};

const DERIVE: &str = "Failed to derive json schema: Schema generation failed: ";

#[tokio::test]
async fn source_that_says_too_little_is_refused_in_the_contract_s_words() {
    if !has_python() {
        return;
    }
    let server = TestServer::start().await;
    let documented = |signature: &str| python(signature, "return 1");
    for (source, expected) in [
        (
            "def t3(a: int):\n    return a".to_owned(),
            "Function t3 missing docstring",
        ),
        (
            "def t4(a):\n    \"\"\"Doc.\n\n    Args:\n        a: The a.\n    \"\"\"".to_owned(),
            "Type error in schema generation: Parameter 'a' in function 't4' lacks a type annotation",
        ),
        (
            "def t5(a: int):\n    \"\"\"Doc.\"\"\"".to_owned(),
            "Value error in schema generation: Parameter 'a' in function 't5' lacks a description in the docstring",
        ),
        (
            documented("f(a: dict[str, int])"),
            "Value error in schema generation: Dictionary types dict['(str, int)'] with nested type arguments are not supported (consider using a Pydantic model instead)",
        ),
        (
            "def f(:\n    pass".to_owned(),
            "Failed to parse source code: invalid syntax (<unknown>, line 1)",
        ),
        ("x = 1".to_owned(), "No functions found in source code"),
        (String::new(), "No functions found in source code"),
        (
            format!("async {}", documented("f(a: int)")),
            "No functions found in source code",
        ),
        (
            "This is a letter, not a program.".to_owned(),
            "Failed to parse source code: invalid syntax (<unknown>, line 1)",
        ),
        (
            "a\0b".to_owned(),
            "Failed to parse source code: source code string cannot contain null bytes",
        ),
    ] {
        let body = json!({ "source_code": source });
        for refused in [
            server.post("/v1/tools/", &body).await,
            server
                .post("/v1/tools/generate-schema", &json!({ "code": source }))
                .await,
            server
                .post(
                    "/v1/tools/run",
                    &json!({ "source_code": source, "args": {} }),
                )
                .await,
        ] {
            assert_eq!(
                detail(&refused),
                (400, format!("{DERIVE}{expected}").as_str())
            );
            assert_eq!(
                refused.body,
                json!({ "detail": format!("{DERIVE}{expected}") })
            );
        }
    }
    assert_eq!(server.get("/v1/tools/count").await.body, 0);
}

#[tokio::test]
async fn types_without_a_schema_are_named() {
    if !has_python() {
        return;
    }
    let server = TestServer::start().await;
    for (annotation, named) in [
        ("Union[int, str]", "Union[(int, str)]"),
        ("int | None", "int | None"),
        ("set", "set"),
        ("typing.List[int]", "typing.List[int]"),
        ("'int'", "'int'"),
    ] {
        let source = python(&format!("f(a: {annotation})"), "return a");
        let refused = server
            .post("/v1/tools/", &json!({ "source_code": source }))
            .await;
        let (status, text) = detail(&refused);
        let expected = format!(
            "{DERIVE}Value error in schema generation: Python type {named} has no corresponding JSON schema type - full map: {{"
        );
        assert!(
            status == 400 && text.starts_with(&expected),
            "{annotation}: {text}"
        );
    }
}

#[tokio::test]
async fn a_body_that_is_none_is_refused_with_every_fault_as_one_text() {
    let server = TestServer::start().await;
    for (body, expected) in [
        (
            json!({}),
            "[{'type': 'missing', 'loc': ('body', 'source_code'), 'msg': 'Field required', 'input': {}}]",
        ),
        (
            json!({ "source_code": 1 }),
            "[{'type': 'string_type', 'loc': ('body', 'source_code'), 'msg': 'Input should be a valid string', 'input': 1}]",
        ),
        (
            json!({ "source_code": "x", "name": "n" }),
            "[{'type': 'extra_forbidden', 'loc': ('body', 'name'), 'msg': 'Extra inputs are not permitted', 'input': 'n'}]",
        ),
        (
            json!({ "source_code": "x", "return_char_limit": 1_000_001 }),
            "[{'type': 'less_than_equal', 'loc': ('body', 'return_char_limit'), 'msg': 'Input should be less than or equal to 1000000', 'input': 1000001, 'ctx': {'le': 1000000}}]",
        ),
        (
            json!({ "source_code": "x", "tags": ["a", null] }),
            "[{'type': 'string_type', 'loc': ('body', 'tags', 1), 'msg': 'Input should be a valid string', 'input': None}]",
        ),
        (
            json!({ "source_code": "x", "json_schema": [] }),
            "[{'type': 'dict_type', 'loc': ('body', 'json_schema'), 'msg': 'Input should be a valid dictionary', 'input': []}]",
        ),
        (
            json!({ "source_code": "x", "pip_requirements": [{ "version": "1" }] }),
            "[{'type': 'missing', 'loc': ('body', 'pip_requirements', 0, 'name'), 'msg': 'Field required', 'input': {'version': '1'}}]",
        ),
        (
            json!({ "source_code": "x", "enable_parallel_execution": "maybe" }),
            "[{'type': 'bool_parsing', 'loc': ('body', 'enable_parallel_execution'), 'msg': 'Input should be a valid boolean, unable to interpret input', 'input': 'maybe'}]",
        ),
    ] {
        let refused = server.post("/v1/tools/", &body).await;
        assert_eq!(detail(&refused), (422, expected));
        assert_eq!(refused.body, json!({ "trace_id": "", "detail": expected }));
    }
    let several = json!({ "source_code": 1, "return_char_limit": 0, "tags": "x", "nope": 1 });
    let refused = server.post("/v1/tools/", &several).await;
    for place in ["nope", "return_char_limit", "source_code", "tags"] {
        assert!(
            detail(&refused).1.contains(&format!("('body', '{place}')")),
            "{place}: {refused:?}"
        );
    }
}

#[tokio::test]
async fn bodies_that_are_no_objects_are_refused_and_end_nothing() {
    let server = TestServer::start().await;
    for (body, fault) in [
        ("", "'type': 'missing', 'loc': ('body',)"),
        ("{", "'type': 'json_invalid', 'loc': ('body', 0)"),
        ("[]", "'type': 'model_attributes_type', 'loc': ('body',)"),
        ("null", "'type': 'missing', 'loc': ('body',)"),
        ("\"x\"", "'type': 'model_attributes_type', 'loc': ('body',)"),
        (
            "{\"source_code\":\"\u{0}\"}",
            "'type': 'json_invalid', 'loc': ('body', 16)",
        ),
        (
            &"[".repeat(100_000),
            "'type': 'json_invalid', 'loc': ('body', 127)",
        ),
    ] {
        let request = server.request(reqwest::Method::POST, "/v1/tools/");
        let request = request
            .header("content-type", "application/json")
            .body(body.to_owned());
        let refused = Answer::read(request.send().await.unwrap()).await;
        let (status, text) = detail(&refused);
        assert!(
            status == 422 && text.contains(fault),
            "{body:.20}: {refused:?}"
        );
    }
}

#[tokio::test]
async fn ids_of_another_form_are_refused_with_an_example() {
    let server = TestServer::start().await;
    let pattern = "^tool-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$";
    for id in [
        "abc",
        "agent-00000000-0000-4000-8000-000000000000",
        "tool-1",
    ] {
        let refused = server.get(&format!("/v1/tools/{id}")).await;
        let expected = format!(
            "[{{'type': 'string_pattern_mismatch', 'loc': ('path', 'tool_id'), 'msg': \"String should match pattern '{pattern}'\", 'input': '{id}', 'ctx': {{'pattern': '{pattern}'}}}}]"
        );
        assert_eq!(detail(&refused), (422, expected.as_str()));
        assert_eq!(
            refused.body["examples"],
            json!(["tool-123e4567-e89b-42d3-8456-426614174000"])
        );
    }
    let missing = server.delete(&format!("/v1/tools/{NOBODY}")).await;
    assert_eq!(
        detail(&missing),
        (400, format!("Tool with id {NOBODY} not found.").as_str())
    );
}

#[tokio::test]
async fn five_megabytes_of_source_are_refused_by_their_size() {
    let server = TestServer::start().await;
    let source = "#".repeat(5_000_000);
    let expected =
        "INVALID_ARGUMENT: source_code has 5000000 bytes, more than the 1048576 that are allowed";
    for source_type in ["python", "typescript"] {
        let mut body = javascript("large");
        body["source_code"] = json!(source);
        body["source_type"] = json!(source_type);
        assert_eq!(
            detail(&server.post("/v1/tools/", &body).await),
            (400, expected)
        );
        let run = json!({ "source_code": source, "source_type": source_type, "args": {} });
        assert_eq!(
            detail(&server.post("/v1/tools/run", &run).await),
            (400, expected)
        );
        let code = json!({ "code": source, "source_type": source_type });
        assert_eq!(
            detail(&server.post("/v1/tools/generate-schema", &code).await),
            (400, expected)
        );
    }
}

#[tokio::test]
async fn a_schema_that_contradicts_the_signature_is_refused_when_it_is_saved() {
    let server = TestServer::start().await;
    let properties = |properties: Value| {
        let mut schema = schema_of("f");
        schema["parameters"]["properties"] = properties;
        schema
    };
    for (schema, words) in [
        (
            properties(json!({ "a": {}, "b": {} })),
            "has a parameter 'b' that function 'f' does not take",
        ),
        (
            properties(json!({})),
            "needs a parameter 'a' that the JSON schema does not have",
        ),
        (properties(json!("a")), "must be an object"),
        (
            json!({ "name": "f", "parameters": "a" }),
            "must be an object",
        ),
        (
            json!({}),
            "json_schema needs a name of 1 to 64 letters, digits, _ and -",
        ),
        (json!({ "name": "f g" }), "json_schema needs a name"),
        (
            json!({ "name": "f".repeat(65) }),
            "json_schema needs a name",
        ),
    ] {
        let mut body = javascript("f");
        body["json_schema"] = schema;
        if has_python() {
            let mut body = body.clone();
            body["source_type"] = json!("python");
            body["source_code"] = json!("def f(a):\n    return a");
            let refused = server.post("/v1/tools/", &body).await;
            assert!(
                detail(&refused).0 == 400 && detail(&refused).1.contains(words),
                "{refused:?}"
            );
        }
        // In JavaScript every parameter may be left out.
        if words.contains("needs a parameter") {
            continue;
        }
        let refused = server.post("/v1/tools/", &body).await;
        assert!(
            detail(&refused).0 == 400 && detail(&refused).1.contains(words),
            "{refused:?}"
        );
    }
    assert_eq!(server.get("/v1/tools/count").await.body, 0);
}

#[tokio::test]
async fn a_schema_of_the_arguments_that_contradicts_the_signature_is_refused_too() {
    if !has_python() {
        return;
    }
    let server = TestServer::start().await;
    for (args, words) in [
        (
            json!({ "properties": { "z": {} } }),
            "has a parameter 'z' that function 'f' does not take",
        ),
        (json!({ "properties": {} }), "needs a parameter 'a'"),
        (
            json!({ "properties": { "a": { "$ref": "#/$defs/Gone" } } }),
            "args_json_schema has no #/$defs/Gone",
        ),
        (
            json!({ "properties": { "a": { "$ref": "#/$defs/A" } }, "$defs": { "A": { "items": { "$ref": "#/$defs/A" } } } }),
            "refers to itself",
        ),
        (
            json!({ "properties": [] }),
            "args_json_schema has no properties",
        ),
    ] {
        let source = python("f(a: int)", "return a");
        let body = json!({ "source_code": source, "args_json_schema": args });
        let refused = server.post("/v1/tools/", &body).await;
        assert!(
            detail(&refused).0 == 400 && detail(&refused).1.contains(words),
            "{words}: {refused:?}"
        );
    }
}

#[tokio::test]
async fn what_the_server_can_t_run_is_refused_by_name() {
    let server = TestServer::start().await;
    for (change, words) in [
        (
            json!({ "source_type": "ruby" }),
            "Unsupported source type: ruby; there are python, typescript and javascript",
        ),
        (
            json!({ "npm_requirements": [{ "name": "lodash" }] }),
            "npm_requirements: lodash can't be imported",
        ),
        (
            json!({ "pip_requirements": [{ "name": "--index-url=http://example.com" }] }),
            "is no name and version of a package",
        ),
        (
            json!({ "pip_requirements": [{ "name": "six", "version": "1 --pre" }] }),
            "is no name and version of a package",
        ),
        (
            json!({ "source_code": "function f(a {" }),
            "Syntax error in line 1",
        ),
        (
            json!({ "source_code": "const f = 1;" }),
            "No functions found in source code",
        ),
    ] {
        let mut body = javascript("f");
        body.as_object_mut()
            .unwrap()
            .extend(change.as_object().unwrap().clone());
        let refused = server.post("/v1/tools/", &body).await;
        assert!(
            detail(&refused).0 == 400 && detail(&refused).1.contains(words),
            "{words}: {refused:?}"
        );
    }
    saved(&server, &javascript("f")).await;
}

#[tokio::test]
async fn what_no_database_keeps_is_refused() {
    let server = TestServer::start().await;
    for (field, value) in [
        ("tags", json!(vec!["t"; 300])),
        ("description", json!("d".repeat(300_000))),
        ("description", json!("a\0b")),
    ] {
        let mut body = javascript("f");
        body[field] = value;
        let refused = server.post("/v1/tools/", &body).await;
        assert!(
            detail(&refused).0 == 422 && detail(&refused).1.contains(field),
            "{refused:?}"
        );
    }
}
