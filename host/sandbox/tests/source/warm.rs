//! Caches may be warm, state never is: nothing that one call did is seen by the next.

use std::collections::BTreeSet;

use bulkhead_domain::Outcome;
use serde_json::{Value, json};

use crate::common::*;

/// Changes whatever a call can reach, beside what it returns.
const PYTHON_VANDAL: &str = r#"
import builtins, collections, datetime, decimal, gc, json, locale, logging, math, os, random, re
import sys, types, typing, warnings
import pydantic, requests
import bulkhead.results, bulkhead.arguments, bulkhead.environment

class Evil:
    pass

def t():
    builtins.len = lambda value: 42
    builtins.print = lambda *args: None
    builtins.secret = "left behind"
    json.dumps = json.loads = lambda *args, **named: "patched"
    math.pi = 3
    datetime.datetime = Evil
    sys.modules["left_behind"] = types.ModuleType("left_behind")
    sys.modules["csv"] = None
    sys.path.append("/left")
    sys.meta_path.clear()
    sys.setrecursionlimit(60)
    sys.stdout = sys.stderr = None
    os.environ["LEFT"] = "behind"
    os.getcwd = lambda: "/left"
    random.seed(1)
    random.random = lambda: 0.5
    decimal.getcontext().prec = 2
    re.compile = None
    warnings.simplefilter("error")
    logging.disable(logging.CRITICAL)
    gc.disable()
    typing.List = None
    pydantic.BaseModel.model_dump = lambda self: "patched"
    requests.get = lambda *args, **named: "patched"
    collections.OrderedDict.left = 1
    bulkhead.results.output = bulkhead.arguments.bind = bulkhead.environment.enter = None
    globals()["count"] = globals().get("count", 0) + 1
    return count
"#;

/// What the vandal would have changed.
const PYTHON_WITNESS: &str = r#"
import builtins, collections, csv, datetime, decimal, gc, json, logging, math, os, random, re, sys
import typing, warnings
import pydantic, requests

class Model(pydantic.BaseModel):
    a: int = 1

def t(a: List[int]):
    print("still here")
    return {
        "len": len(a), "secret": hasattr(builtins, "secret"), "json": json.loads(json.dumps([1])),
        "pi": round(math.pi, 2), "year": datetime.datetime(2024, 1, 2).year,
        "module": "left_behind" in sys.modules, "path": sys.path, "limit": sys.getrecursionlimit() > 500,
        "environment": dict(os.environ), "third": str(decimal.Decimal(1) / 3), "re": bool(re.compile("a")),
        "log": logging.getLogger("x").isEnabledFor(logging.ERROR), "gc": gc.isenabled(),
        "model": Model().model_dump(), "requests": callable(requests.get("x")) if False else requests.get.__module__,
        "left": hasattr(collections.OrderedDict, "left"), "count": "count" in globals(),
        "cwd": os.getcwd() == "/left", "random": random.random.__name__,
    }
"#;

#[tokio::test]
async fn nothing_of_a_python_call_is_seen_by_the_next() {
    if !has_python() {
        return;
    }
    let witness = || async {
        Tool::python(PYTHON_WITNESS)
            .call(json!({"a": [1, 2]}))
            .await
    };
    let before = value(witness().await);
    assert_eq!(before["len"], 2);
    assert_eq!(before["environment"], json!({}));
    assert_eq!(before["third"], "0.3333333333333333333333333333");
    for _ in 0..3 {
        // The vandal breaks what would return its result; that is its own affair.
        let report = Tool::python(PYTHON_VANDAL).call(json!({})).await;
        assert_ne!(outcome(&report), Outcome::HostError);
        let report = witness().await;
        assert_eq!(
            lines(&report, bulkhead_sandbox::LogLevel::Stdout),
            ["still here"]
        );
        assert_eq!(value(report), before);
    }
}

#[tokio::test]
async fn a_module_runs_anew_for_each_call() {
    if has_python() {
        let text = "import functools\ncount = 0\nseen = []\n@functools.cache\ndef cached():\n    seen.append(1)\n    return len(seen)\n\
                    def t(kept=[]):\n    global count\n    count += 1\n    kept.append(count)\n    return [count, kept, cached()]\n";
        for _ in 0..3 {
            assert_eq!(
                value(Tool::python(text).call(json!({})).await),
                json!([1, [1], 1])
            );
        }
    }
    let text = "let count = 0; const kept = [];\nexport function t() { count += 1; kept.push(count); globalThis.x = (globalThis.x ?? 0) + 1; return [count, kept, x] }";
    for _ in 0..3 {
        assert_eq!(
            value(Tool::javascript(text).call(json!({})).await),
            json!([1, [1], 1])
        );
    }
}

#[tokio::test]
async fn nothing_of_a_javascript_call_is_seen_by_the_next() {
    let vandal = "function t() {\n\
                  Array.prototype.map = () => 'patched'; Object.prototype.left = 1; globalThis.behind = 1;\n\
                  JSON.stringify = JSON.parse = () => 'patched'; Math.random = () => 0.5; Math.PI = 3;\n\
                  process.env.LEFT = 'behind'; console.log = () => {}; String.prototype.trim = null;\n\
                  Promise = Map = Date = undefined; Object.freeze(Array.prototype);\n\
                  globalThis.fetch = () => 'patched'; RegExp.prototype.test = () => true; return 1 }";
    let witness = "function t(a) { console.log('still here'); return { map: a.map((n) => n + 1), left: ({}).left ?? null,\n\
                   behind: typeof behind, json: JSON.parse(JSON.stringify([1])), trim: ' a '.trim(), env: process.env,\n\
                   types: [typeof Promise, typeof Map, typeof Date], frozen: Object.isFrozen(Array.prototype),\n\
                   fetch: typeof fetch, test: /a/.test('b'), random: Math.random() !== Math.random() } }";
    let witness = || async { Tool::javascript(witness).call(json!({"a": [1]})).await };
    let before = value(witness().await);
    assert_eq!(before["map"], json!([2]));
    for _ in 0..3 {
        let report = Tool::javascript(vandal).call(json!({})).await;
        assert_ne!(outcome(&report), Outcome::HostError);
        let report = witness().await;
        assert_eq!(
            lines(&report, bulkhead_sandbox::LogLevel::Stdout),
            ["still here"]
        );
        assert_eq!(value(report), before);
    }
}

#[tokio::test]
async fn chance_differs_between_calls() {
    type Make = fn(&str) -> Tool;
    let mut tools: Vec<(Make, &str)> = vec![(
        Tool::javascript as Make,
        "function t() { return [Math.random(), crypto.randomUUID(), String(crypto.getRandomValues(new Uint8Array(8)))] }",
    )];
    if has_python() {
        tools.push((
            Tool::python,
            "import os, random, secrets, uuid\ndef t():\n    \
             return [random.random(), random.randint(0, 10 ** 12), random.Random().random(), str(uuid.uuid4()), secrets.token_hex(), os.urandom(8).hex(), random.SystemRandom().random()]\n",
        ));
    }
    for (tool, text) in tools {
        let mut seen = Vec::new();
        for _ in 0..4 {
            seen.push(value(tool(text).call(json!({})).await));
        }
        for index in 0..seen[0].as_array().unwrap().len() {
            let different: BTreeSet<String> = seen
                .iter()
                .map(|it: &Value| it[index].to_string())
                .collect();
            assert_eq!(different.len(), seen.len(), "value {index}: {different:?}");
        }
    }
}

#[tokio::test]
async fn the_clock_is_that_of_the_call() {
    let now = || {
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_secs_f64()
    };
    let mut tools = vec![Tool::javascript(
        "function t() { return Date.now() / 1000 }",
    )];
    if has_python() {
        tools.push(Tool::python(
            "import time\ndef t():\n    return time.time()\n",
        ));
        tools.push(Tool::python("import datetime\ndef t():\n    return datetime.datetime.now(datetime.timezone.utc).timestamp()\n"));
    }
    for tool in tools {
        let before = now();
        let found = value(tool.call(json!({})).await).as_f64().unwrap();
        assert!(
            (before - 0.01..now() + 0.01).contains(&found),
            "{found} is not after {before}"
        );
    }
}

#[tokio::test]
async fn a_runtime_that_its_source_took_apart_is_whole_again() {
    if !has_python() {
        return;
    }
    for code in [
        "import sys; sys.modules.clear()",
        "import builtins; vars(builtins).clear()",
        "import bulkhead.results; bulkhead.results.output = lambda value: 1 / 0",
        "import bulkhead.failures; bulkhead.failures.ended = None; 1 / 0",
        "import wit_world.exports.source_runtime as w; w.Ended_Returned = w.Execution = None",
        "import gc; [o.clear() for o in gc.get_objects() if type(o) is dict]",
        "import json; json.JSONEncoder.encode = lambda *a: '{broken'",
        "import sys; sys.settrace(lambda *a: 1 / 0); sys.setprofile(lambda *a: 1 / 0)",
        "import sys; sys.excepthook = sys.unraisablehook = lambda *a: 1 / 0; 1 / 0",
        "import os; os._exit(0)",
        "import ctypes",
    ] {
        let report = Tool::python(&format!("def t():\n    {code}\n"))
            .tight()
            .call(json!({}))
            .await;
        let found = outcome(&report);
        let known = [
            Outcome::Ok,
            Outcome::ToolError,
            Outcome::Trap,
            Outcome::Exited,
            Outcome::InvalidOutput,
            Outcome::OutOfFuel,
        ];
        assert!(known.contains(&found), "{code}: {found}");
        the_next_call_is_unharmed().await;
    }
}
