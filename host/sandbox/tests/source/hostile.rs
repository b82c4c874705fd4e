//! Source that uses up what it can: each call ends in its typed outcome, and harms no other.

use bulkhead_domain::Outcome::{self, *};
use bulkhead_policy::Limits;
use serde_json::json;

use crate::common::*;

/// What was tried, the source, how the call ends, and the kind of what was raised.
type Attack = (&'static str, &'static str, Outcome, &'static str);

/// Calls each within tight limits, compares how it ended, and shows that the next call is unharmed.
async fn attack(tool: fn(&str) -> Tool, attacks: &[Attack]) {
    let mut wrong = Vec::new();
    for (name, source, expected, kind) in attacks {
        let report = tool(source).tight().call(json!({})).await;
        let raised = report.exception.as_ref().map_or("", |it| it.kind.as_str());
        if (outcome(&report), raised) != (*expected, *kind) {
            wrong.push(format!(
                "{name}: {:?} {:?}",
                report.report.result, report.exception
            ));
        }
        the_next_call_is_unharmed().await;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn python_that_takes_all_time_is_stopped() {
    if !has_python() {
        return;
    }
    let attacks: &[Attack] = &[
        (
            "an endless loop",
            "def t():\n    while True:\n        pass\n",
            OutOfFuel,
            "",
        ),
        (
            "at import",
            "while True:\n    pass\ndef t():\n    pass\n",
            OutOfFuel,
            "",
        ),
        (
            "a catching loop",
            "def t():\n    while True:\n        try:\n            1 / 0\n        except BaseException:\n            pass\n",
            OutOfFuel,
            "",
        ),
        (
            "an endless generator",
            "import itertools\ndef t():\n    return sum(itertools.count())\n",
            OutOfFuel,
            "",
        ),
        (
            "an endless generator of its own",
            "def numbers():\n    n = 0\n    while True:\n        n = (n + 1) % 7\n        yield n\ndef t():\n    return max(numbers())\n",
            OutOfFuel,
            "",
        ),
        (
            "a regular expression",
            "import re\ndef t():\n    return re.match('(a+)+$', 'a' * 60 + 'b')\n",
            OutOfFuel,
            "",
        ),
        (
            "a power",
            "def t():\n    return 7 ** 7 ** 9 > 0\n",
            OutOfFuel,
            "",
        ),
        (
            "a finaliser",
            "class D:\n    def __del__(self):\n        while True:\n            pass\ndef t():\n    D()\n    return 1\n",
            OutOfFuel,
            "",
        ),
        (
            "a text that never ends",
            "class D:\n    def __str__(self):\n        while True:\n            pass\ndef t():\n    return D()\n",
            OutOfFuel,
            "",
        ),
        (
            "an error that never ends",
            "class E(Exception):\n    def __str__(self):\n        while True:\n            pass\ndef t():\n    raise E\n",
            OutOfFuel,
            "",
        ),
        (
            "a class that never ends",
            "class M(type):\n    def __getattr__(cls, name):\n        while True:\n            pass\nclass D(metaclass=M):\n    pass\ndef t():\n    return D()\n",
            OutOfFuel,
            "",
        ),
        (
            "an annotation",
            "def spin():\n    while True:\n        pass\ndef t(a: spin() = 1):\n    return a\n",
            OutOfFuel,
            "",
        ),
        (
            "an endless coroutine",
            "import asyncio\nasync def t():\n    while True:\n        await asyncio.sleep(0)\ndef u():\n    return asyncio.run(t())\n",
            OutOfFuel,
            "",
        ),
        (
            "many processes",
            "import os\ndef t():\n    while True:\n        try:\n            os.fork()\n        except OSError:\n            pass\n",
            OutOfFuel,
            "",
        ),
    ];
    attack(Tool::python, attacks).await;
}

#[tokio::test]
async fn python_that_takes_all_memory_is_stopped() {
    if !has_python() {
        return;
    }
    let attacks: &[Attack] = &[
        (
            "a growing list",
            "def t():\n    l = []\n    while True:\n        l.append(bytes(1 << 20))\n",
            ToolError,
            "MemoryError",
        ),
        (
            "a growing list of numbers",
            "def t():\n    l = []\n    while True:\n        l.append(len(l))\n",
            ToolError,
            "MemoryError",
        ),
        (
            "a growing text",
            "def t():\n    s = 'x'\n    while True:\n        s += s\n",
            ToolError,
            "MemoryError",
        ),
        (
            "one large block",
            "def t():\n    return bytearray(1 << 30)\n",
            ToolError,
            "MemoryError",
        ),
        (
            "more than there is",
            "def t():\n    return [0] * (1 << 40)\n",
            ToolError,
            "MemoryError",
        ),
        (
            "a catching loop",
            "def t():\n    l = []\n    while True:\n        try:\n            l.append(bytes(1 << 20))\n        except MemoryError:\n            pass\n",
            OutOfFuel,
            "",
        ),
        (
            "an archive",
            "import zlib\ndef t():\n    c = zlib.compressobj(9)\n    data = b''.join([c.compress(bytes(1 << 20)) for _ in range(64)] + [c.flush()])\n    return len(zlib.decompress(data) * 9)\n",
            ToolError,
            "MemoryError",
        ),
    ];
    attack(Tool::python, attacks).await;
}

#[tokio::test]
async fn python_that_nests_too_deep_is_stopped() {
    if !has_python() {
        return;
    }
    let attacks: &[Attack] = &[
        (
            "recursion",
            "def t():\n    return t()\n",
            ToolError,
            "RecursionError",
        ),
        (
            "recursion without a limit",
            "import sys\nsys.setrecursionlimit(10 ** 9)\ndef t():\n    return t()\n",
            ToolError,
            "RecursionError",
        ),
        (
            "recursion through C",
            "import sys\nsys.setrecursionlimit(10 ** 9)\ndef t():\n    return sorted([1, 2], key=lambda n: t())\n",
            ToolError,
            "RecursionError",
        ),
        (
            "recursion through operators",
            "import sys\nsys.setrecursionlimit(10 ** 9)\nclass A:\n    def __add__(self, other):\n        return self + other\n    __eq__ = __getattr__ = __call__ = __add__\ndef t():\n    return A() + A()\n",
            ToolError,
            "RecursionError",
        ),
        (
            "recursion through repr",
            "import sys\nsys.setrecursionlimit(10 ** 9)\nclass A:\n    def __repr__(self):\n        return repr([self])\ndef t():\n    return repr(A())\n",
            ToolError,
            "RecursionError",
        ),
        (
            "a nested list to show",
            "def t():\n    l = []\n    for _ in range(200_000):\n        l = [l]\n    return repr(l)\n",
            ToolError,
            "RecursionError",
        ),
        (
            "a nested list to return",
            "def t():\n    l = []\n    for _ in range(200_000):\n        l = [l]\n    return l\n",
            ToolError,
            "RecursionError",
        ),
        (
            "nested JSON",
            "import json\ndef t():\n    return json.loads('[' * 200_000)\n",
            ToolError,
            "RecursionError",
        ),
        (
            "a nested expression",
            "def t():\n    return eval('(' * 200_000 + ')' * 200_000)\n",
            ToolError,
            "MemoryError",
        ),
        (
            "nested pickles",
            "import pickle\ndef t():\n    l = []\n    for _ in range(200_000):\n        l = [l]\n    return len(pickle.dumps(l))\n",
            ToolError,
            "RecursionError",
        ),
        (
            "a nested regular expression",
            "import re\ndef t():\n    return re.compile('(' * 20_000 + ')' * 20_000)\n",
            ToolError,
            "RecursionError",
        ),
        (
            "nested exceptions",
            "def t():\n    e = None\n    for n in range(100_000):\n        a = ValueError(n)\n        a.__context__ = e\n        e = a\n    raise e\n",
            ToolError,
            "ValueError",
        ),
    ];
    attack(Tool::python, attacks).await;
}

#[tokio::test]
async fn python_that_ends_oddly_is_an_outcome() {
    if !has_python() {
        return;
    }
    let attacks: &[Attack] = &[
        (
            "an endless result",
            "import itertools\ndef t():\n    return itertools.count()\n",
            Ok,
            "",
        ),
        (
            "a finaliser at the end",
            "class D:\n    def __del__(self):\n        while True:\n            pass\nkept = D()\ndef t():\n    return 1\n",
            Ok,
            "",
        ),
        (
            "a handler at the end",
            "import atexit\ndef spin():\n    while True:\n        pass\natexit.register(spin)\ndef t():\n    return 1\n",
            Ok,
            "",
        ),
        (
            "an abort",
            "import os\ndef t():\n    os.abort()\n",
            Trap,
            "",
        ),
        (
            "a number too long to show",
            "def t():\n    return 10 ** 5000\n",
            ToolError,
            "ValueError",
        ),
        (
            "a thread",
            "import threading\ndef t():\n    threading.Thread(target=print).start()\n",
            ToolError,
            "RuntimeError",
        ),
        (
            "a lock that is held",
            "import threading\ndef t():\n    lock = threading.Lock()\n    lock.acquire()\n    return lock.acquire(timeout=0.01)\n",
            Ok,
            "",
        ),
        (
            "a wait for nothing",
            "import asyncio\ndef t():\n    asyncio.run(asyncio.Event().wait())\n",
            ToolError,
            "RuntimeError",
        ),
        (
            "a keyboard",
            "def t():\n    return input('name? ')\n",
            ToolError,
            "EOFError",
        ),
    ];
    attack(Tool::python, attacks).await;
}

#[tokio::test]
async fn javascript_that_takes_all_time_is_stopped() {
    let attacks: &[Attack] = &[
        (
            "an endless loop",
            "function t() { for (;;); }",
            OutOfFuel,
            "",
        ),
        ("at the top", "for (;;); function t() {}", OutOfFuel, ""),
        (
            "a catching loop",
            "function t() { for (;;) { try { null.x } catch {} } }",
            OutOfFuel,
            "",
        ),
        (
            "an endless generator",
            "function* n() { for (;;) yield 1 }\nfunction t() { let s = 0; for (const i of n()) s = i; return s }",
            OutOfFuel,
            "",
        ),
        (
            "a regular expression",
            "function t() { return /^(a+)+$/.test('a'.repeat(60) + 'b') }",
            OutOfFuel,
            "",
        ),
        (
            "a power",
            "function t() { return String(7n ** 9999999n).length }",
            OutOfFuel,
            "",
        ),
        (
            "a result that never ends",
            "function t() { return { toJSON() { for (;;); } } }",
            OutOfFuel,
            "",
        ),
        (
            "a getter that never ends",
            "function t() { return { get a() { for (;;); } } }",
            OutOfFuel,
            "",
        ),
        (
            "an error that never ends",
            "function t() { throw { get message() { for (;;); } } }",
            OutOfFuel,
            "",
        ),
        (
            "promises without end",
            "async function t() { for (;;) await null }",
            OutOfFuel,
            "",
        ),
        (
            "microtasks without end",
            "function t() { const again = () => queueMicrotask(again); again(); return 1 }",
            OutOfFuel,
            "",
        ),
        (
            "a proxy",
            "function t() { return new Proxy({}, { ownKeys() { for (;;); } }) }",
            OutOfFuel,
            "",
        ),
        (
            "a sort",
            "function t() { return [1, 2].sort(() => { for (;;); }) }",
            OutOfFuel,
            "",
        ),
        (
            "code from text",
            "function t() { return new Function('for (;;);')() }",
            OutOfFuel,
            "",
        ),
    ];
    attack(Tool::javascript, attacks).await;
}

#[tokio::test]
async fn javascript_that_takes_all_memory_is_stopped() {
    let attacks: &[Attack] = &[
        (
            "a growing array",
            "function t() { const a = []; for (;;) a.push(new Uint8Array(1 << 20)) }",
            OutOfMemory,
            "",
        ),
        (
            "a growing array of numbers",
            "function t() { const a = []; for (;;) a.push(a.length) }",
            OutOfMemory,
            "",
        ),
        (
            "a growing text",
            "function t() { let s = 'x'; for (;;) s += s }",
            OutOfMemory,
            "",
        ),
        (
            "an endless generator",
            "function* n() { for (;;) yield 'text' }\nfunction t() { return [...n()] }",
            OutOfMemory,
            "",
        ),
        (
            "one large text",
            "function t() { return 'x'.repeat(2 ** 30) }",
            OutOfMemory,
            "",
        ),
        (
            "one large block",
            "function t() { return new ArrayBuffer(2 ** 31) }",
            ToolError,
            "RangeError",
        ),
        (
            "a large array",
            "function t() { return new Array(2 ** 32 - 1).fill(0) }",
            OutOfMemory,
            "",
        ),
        (
            "a large number",
            "function t() { return 2n ** (2n ** 40n) }",
            ToolError,
            "RangeError",
        ),
    ];
    attack(Tool::javascript, attacks).await;
}

#[tokio::test]
async fn javascript_that_nests_too_deep_is_stopped() {
    let attacks: &[Attack] = &[
        (
            "recursion",
            "function t() { return t() }",
            ToolError,
            "RangeError",
        ),
        (
            "recursion through callbacks",
            "function t() { return [1].map(t) }",
            ToolError,
            "RangeError",
        ),
        (
            "recursion through text",
            "function t() { return `${{ toString: t }}` }",
            ToolError,
            "RangeError",
        ),
        (
            "recursion through a getter",
            "function t() { return { get a() { return t() } }.a }",
            ToolError,
            "RangeError",
        ),
        (
            "recursion through a proxy",
            "function t() { const p = new Proxy({}, { get(o, n, r) { return r[n] } }); return p.x }",
            ToolError,
            "RangeError",
        ),
        (
            "a nested array to return",
            "function t() { let a = []; for (let n = 0; n < 100000; n++) a = [a]; return a }",
            ToolError,
            "RangeError",
        ),
        (
            "a nested array to print",
            "function t() { let a = []; for (let n = 0; n < 100000; n++) a = [a]; console.log(a); return 1 }",
            Ok,
            "",
        ),
        (
            "nested JSON",
            "function t() { return JSON.parse('['.repeat(100000)) }",
            ToolError,
            "SyntaxError",
        ),
        (
            "a nested expression",
            "function t() { return eval('('.repeat(100000)) }",
            ToolError,
            "SyntaxError",
        ),
        (
            "a nested regular expression",
            "function t() { return new RegExp('('.repeat(100000) + ')'.repeat(100000)) }",
            ToolError,
            "SyntaxError",
        ),
    ];
    attack(Tool::javascript, attacks).await;
}

#[tokio::test]
async fn sleeping_ends_at_the_deadline() {
    let mut tools = vec![
        Tool::javascript(
            "async function t() { await new Promise((done) => setTimeout(done, 1e9)) }",
        ),
        Tool::javascript("function t() { return new Promise((done) => setInterval(() => 1, 10)) }"),
    ];
    if has_python() {
        tools.push(Tool::python("import time\ndef t():\n    time.sleep(1e6)\n"));
        tools.push(Tool::python(
            "import asyncio\ndef t():\n    asyncio.run(asyncio.sleep(1e6))\n",
        ));
    }
    for mut tool in tools {
        tool.limits = Limits {
            timeout_ms: 300,
            ..Limits::default()
        };
        let report = tool.call(json!({})).await;
        assert_eq!(outcome(&report), DeadlineExceeded, "{report:?}");
    }
    the_next_call_is_unharmed().await;
}

#[tokio::test]
async fn a_giant_result_is_refused() {
    let mut tools = vec![
        Tool::javascript("function t() { return 'x'.repeat(3e6) }"),
        Tool::javascript("function t() { return Array.from({ length: 3e5 }, (_, n) => n) }"),
    ];
    if has_python() {
        tools.push(Tool::python("def t():\n    return 'x' * 3_000_000\n"));
        tools.push(Tool::python("def t():\n    return list(range(300_000))\n"));
        tools.push(Tool::python(
            "def t():\n    return {str(n): 'x' * 1000 for n in range(10_000)}\n",
        ));
    }
    for tool in tools {
        let report = tool.call(json!({})).await;
        assert_eq!(
            outcome(&report),
            LimitExceeded,
            "{:?}",
            report.report.result.is_ok()
        );
    }
    the_next_call_is_unharmed().await;
}

#[tokio::test]
async fn a_giant_error_is_cut() {
    let mut tools = vec![Tool::javascript(
        "function t() { throw new Error('x'.repeat(3e6)) }",
    )];
    if has_python() {
        tools.push(Tool::python(
            "def t():\n    raise ValueError('x' * 3_000_000)\n",
        ));
        tools.push(Tool::python(
            "class E(Exception):\n    pass\nE.__name__ = 'E' * 3_000_000\ndef t():\n    raise E\n",
        ));
    }
    for tool in tools {
        let report = tool.call(json!({})).await;
        assert_eq!(outcome(&report), ToolError);
        let exception = report.exception.unwrap();
        let limit = Limits::default().output_bytes as usize + 1_000;
        for (part, text) in [
            ("kind", &exception.kind),
            ("message", &exception.message),
            ("traceback", &exception.traceback),
        ] {
            assert!(text.len() <= limit, "{part} has {} bytes", text.len());
        }
    }
    the_next_call_is_unharmed().await;
}

#[tokio::test]
async fn input_that_is_hard_to_read_is_refused_or_read() {
    let nested = |open: &str, close: &str| {
        let depth = 100_000;
        format!("{{\"a\": {}1{}}}", open.repeat(depth), close.repeat(depth))
    };
    for input in [
        nested("[", "]"),
        nested("{\"a\": ", "}"),
        format!("{{\"a\": {}}}", "9".repeat(200_000)),
        format!("{{\"a\": 1e{}}}", "9".repeat(1_000)),
        "{\"a\": \"\\ud800\"}".to_owned(),
        "{\"a\": NaN}".to_owned(),
        "{\"a\": 1, \"a\": 2, \"__proto__\": {\"x\": 1}}".to_owned(),
        "\u{feff}{\"a\": 1}".to_owned(),
    ] {
        let start: String = input.chars().take(20).collect();
        let mut tools = vec![Tool::javascript("function t(a, ...rest) { return 1 }")];
        if has_python() {
            tools.push(Tool::python(
                "def t(a: Any = None, **more):\n    return 1\n",
            ));
            tools.push(Tool::python("def t(a: List[List[int]]):\n    return 1\n"));
        }
        for tool in tools {
            let report = tool.tight().call_text(input.clone()).await;
            let found = outcome(&report);
            assert!(
                matches!(found, Ok | ToolError),
                "{start}: {:?}",
                report.report.result
            );
        }
    }
    the_next_call_is_unharmed().await;
}
