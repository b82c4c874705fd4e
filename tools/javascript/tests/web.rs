//! The interfaces of the web that are in scope.

mod support;

use std::rc::Rc;

use support::{TestHost, javascript, run, run_raised, run_with, structured};
use tool_javascript::abi::{HttpError, Response};

fn answering(text: &str) -> String {
    let host = TestHost::answering(|request| {
        Ok(Response {
            status: if request.url.ends_with("/missing") {
                404
            } else {
                200
            },
            url: request.url.clone(),
            headers: vec![("Content-Type".to_owned(), "application/json".to_owned())],
            body: br#"{"a": [1, 2]}"#.to_vec(),
        })
    });
    structured(run_with(&javascript(text), host))
}

#[test]
fn an_answer_is_read_as_json_text_and_bytes() {
    assert_eq!(
        answering(
            "const r = await fetch('https://x.example/a'); [r.ok, r.status, r.statusText, r.url, r.headers.get('content-type'), await r.json()]"
        ),
        r#"[true,200,"OK","https://x.example/a","application/json",{"a":[1,2]}]"#
    );
    assert_eq!(
        answering(
            "const r = await fetch(new URL('https://x.example/missing')); [r.ok, r.status, (await r.text()).length]"
        ),
        "[false,404,13]"
    );
    assert_eq!(
        answering(
            "const r = await fetch('https://x.example'); const c = r.clone(); [(await r.bytes()).length, (await c.arrayBuffer()).byteLength, r.bodyUsed]"
        ),
        "[13,13,true]"
    );
    assert_eq!(
        answering(
            "const r = await fetch('https://x.example'); await r.text(); let e; try { await r.text() } catch (x) { e = x.message } e"
        ),
        "\"the body was read already\""
    );
}

#[test]
fn a_request_has_a_method_headers_and_a_body() {
    let host = TestHost::answering(|request| {
        Ok(Response {
            status: 201,
            url: request.url.clone(),
            headers: Vec::new(),
            body: Vec::new(),
        })
    });
    let source = javascript(
        "await fetch('https://x.example/p', { method: 'post', headers: { 'X-A': 'b' }, body: new URLSearchParams({ q: 'ä b' }) });\n\
         await fetch('https://x.example/p', { method: 'PUT', headers: [['Accept', 'text/plain']], body: new Uint8Array([1, 2]), signal: AbortSignal.timeout(500) });\n\
         await fetch(new Request('https://x.example/p', { method: 'PATCH', headers: new Headers({ 'content-type': 'application/json' }), body: JSON.stringify({ a: 1 }) }));\n1",
    );
    let begun = std::time::Instant::now();
    assert_eq!(structured(run_with(&source, Rc::clone(&host))), "1");
    assert!(
        begun.elapsed().as_millis() < 450,
        "a timeout that is not needed any more is not waited for"
    );
    let requests = host.requests.borrow();
    assert_eq!(requests[0].method, "POST");
    assert_eq!(requests[0].body.as_deref(), Some(b"q=%C3%A4+b".as_slice()));
    assert!(
        requests[0]
            .headers
            .contains(&("x-a".to_owned(), "b".to_owned()))
    );
    assert!(requests[0].headers.contains(&(
        "content-type".to_owned(),
        "application/x-www-form-urlencoded;charset=UTF-8".to_owned()
    )));
    assert_eq!(requests[1].body.as_deref(), Some([1, 2].as_slice()));
    assert_eq!(requests[1].timeout_ms, Some(500));
    assert_eq!(requests[2].method, "PATCH");
    assert_eq!(
        requests[2].headers,
        [("content-type".to_owned(), "application/json".to_owned())]
    );
}

#[test]
fn a_request_that_is_not_granted_names_the_grant() {
    let host = TestHost::answering(|_| {
        Err(HttpError::Denied(
            "x.example needs the grant http(https://x.example)".to_owned(),
        ))
    });
    let source = javascript(
        "let e; try { await fetch('https://x.example') } catch (x) { e = [x.name, x.message, x instanceof TypeError] } e",
    );
    assert_eq!(
        structured(run_with(&source, host)),
        r#"["TypeError","fetch failed: x.example needs the grant http(https://x.example)",true]"#
    );
    assert_eq!(
        run_raised("await fetch('no address')").message,
        "Invalid URL"
    );
    assert_eq!(
        run_raised("await fetch('https://x.example', { body: 'x' })").message,
        "fetch: a GET request can't have a body"
    );
}

#[test]
fn addresses_are_read_and_changed() {
    assert_eq!(
        run(
            "const u = new URL('../c?d=1#e', 'https://me:pw@x.example:8080/a/b'); u.searchParams.append('f', 'g h'); u.hash = ''; [u.href, u.host, u.pathname, u.origin, u.searchParams.get('d')]"
        ),
        r#"["https://me:pw@x.example:8080/c?d=1&f=g+h","x.example:8080","/c","https://x.example:8080","1"]"#
    );
    assert_eq!(
        run(
            "[URL.canParse('x'), JSON.stringify(new URL('http://a/b')), String(new URLSearchParams([['a', '1'], ['a', '2']])), [...new URLSearchParams('x=%41+b&y')]]"
        ),
        r#"[false,"\"http://a/b\"","a=1&a=2",[["x","A b"],["y",""]]]"#
    );
}

#[test]
fn text_bytes_and_random_values_are_there() {
    assert_eq!(
        run(
            "[btoa('héllo'), atob('aGk='), [...new TextEncoder().encode('ü')], new TextDecoder().decode(new Uint8Array([0xc3, 0xbc]))]"
        ),
        r#"["aOlsbG8=","hi",[195,188],"ü"]"#
    );
    assert_eq!(
        run(
            "[Buffer.from('hi').toString('base64'), Buffer.from('aGk', 'base64').toString(), Buffer.from('6869', 'hex').toString('utf8'), Buffer.concat([Buffer.from('a'), Buffer.from('b')]).toString('hex')]"
        ),
        r#"["aGk=","hi","hi","6162"]"#
    );
    assert_eq!(
        run(
            "const a = crypto.randomUUID(); [a.length, a[14], a === crypto.randomUUID(), crypto.getRandomValues(new Uint32Array(4)).some(n => n > 0)]"
        ),
        r#"[36,"4",false,true]"#
    );
    assert_eq!(
        run(
            "const a = { d: new Date(0), m: new Map([[1, { x: [1] }]]) }; a.self = a; const b = structuredClone(a); [b.self === b, b.m.get(1).x !== a.m.get(1).x, b.d.getTime()]"
        ),
        "[true,true,0]"
    );
    assert_eq!(
        run("const t = performance.now(); typeof t === 'number' && performance.now() >= t"),
        "true"
    );
    assert_eq!(
        run("let e; try { structuredClone(() => 1) } catch (x) { e = x.name } e"),
        "\"DataCloneError\""
    );
}

#[test]
fn names_in_scope_can_be_replaced() {
    assert_eq!(run("fetch = () => 'mine'; fetch()"), "\"mine\"");
    assert_eq!(run("function fetch() { return 'own' } fetch()"), "\"own\"");
    assert_eq!(
        run("const URL = 5; class Headers {} [URL, typeof Headers, typeof Response]"),
        r#"[5,"function","function"]"#
    );
    assert_eq!(
        run("[typeof fetch, typeof globalThis.console.log, Object.keys(globalThis).length]"),
        r#"["function","function",0]"#
    );
    assert_eq!(run("'abc'.substr(1) + escape('ü')"), "\"bc%FC\"");
}

#[test]
fn names_in_scope_are_the_same_at_every_use() {
    assert_eq!(
        run(
            "const seen = new Set(); for (let i = 0; i < 40; i++) { seen.add(console.log); seen.add(URL); seen.add(crypto.randomUUID); if (i === 20) URL = 5; } seen.size"
        ),
        "4"
    );
}
