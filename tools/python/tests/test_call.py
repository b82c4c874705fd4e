"""Calls: arguments, results, exceptions, the agent, other tools."""

import json
import sys
import unittest

from tests.host import Err, RuntimeTest, wit

from bulkhead import arguments

AGENT = {"id": "agent-1", "name": "Bob", "llm_config": {"model": "m"}, "tools": [{"name": "t"}],
         "blocks": [{"label": "ro", "value": "x", "read_only": True, "limit": 9},
                    {"label": "human", "value": "hi", "limit": 9}]}


def _returns(expression):
    return f"import datetime, decimal, dataclasses, enum, pydantic\ndef t():\n    return {expression}\n"


class ArgumentTest(RuntimeTest):
    def test_arguments_become_what_annotations_ask_for(self):
        table = [
            ("int", "5", 5), ("int", 5.0, 5), ("float", "1.5", 1.5), ("bool", "true", True),
            ("str", 5, "5"), ("List[int]", "[1, \"2\"]", [1, 2]), ("dict", '{"a": 1}', {"a": 1}),
            ("Optional[int]", None, None), ("Literal['a', 'b']", "b", "b"), ("list", "[1]", [1]),
            ("Dict[str, int]", {"a": "1"}, {"a": 1}), ("'int'", "5", 5), ("int | None", "5", 5),
        ]
        for annotation, given, expected in table:
            with self.subTest(annotation):
                self.assertEqual(self.value(f"def t(a: {annotation}):\n    return a\n", a=given),
                                 expected)

    def test_what_can_not_be_meant_is_a_problem_at_its_place(self):
        text = "def t(a: int, b: List[int] = [], c: str = ''):\n    return 1\n"
        found = self.problems(text, a="x", b=[1, "y"], c=[1], d=1)
        self.assertEqual(set(found), {"/a", "/b/1", "/c", "/d"})
        self.assertIn('got "x"', found["/a"])
        self.assertEqual(found["/c"], "expected a string, got [1] (a list)")
        self.assertEqual(found["/d"], "t takes no argument 'd'; it takes: a, b (optional), c (optional)")
        self.assertEqual(self.problems(text), {"/a": "t needs the argument 'a', which is missing"})

    def test_models_are_built_of_objects(self):
        text = ("from pydantic import BaseModel\nclass M(BaseModel):\n    n: int\n    s: str = 'd'\n"
                "def t(m: M, ms: List[M]):\n    return [type(m).__name__, m.n, [x.s for x in ms]]\n")
        self.assertEqual(self.value(text, m={"n": "1"}, ms='[{"n": 2}]'), ["M", 1, ["d"]])
        self.assertEqual(set(self.problems(text, m={}, ms=[{"n": "z"}])), {"/m/n", "/ms/0/n"})

    def test_enums_take_values_and_names(self):
        text = ("import enum\nclass E(enum.Enum):\n    A = 'x'\ndef t(e: E):\n    return e.name\n")
        self.assertEqual([self.value(text, e="x"), self.value(text, e="A")], ["A", "A"])
        self.assertIn("'x'", self.problems(text, e="y")["/e"])

    def test_a_class_that_the_source_lacks_gets_an_object_with_attributes(self):
        text = "from __future__ import annotations\ndef t(m: Missing):\n    return [m.a.b, m['a']]\n"
        self.assertEqual(self.value(text, m={"a": {"b": 1}}), [1, {"b": 1}])

    def test_every_kind_of_parameter_is_filled(self):
        text = "def t(a, /, b, *rest, c=3, **more):\n    return [a, b, rest, c, more]\n"
        self.assertEqual(self.value(text, a=1, b=2, z=4), [1, 2, [], 3, {"z": 4}])
        wrapped = ("import functools\ndef w(f):\n    @functools.wraps(f)\n    def g(*a, **k):\n"
                   "        return f(*a, **k)\n    return g\n@w\ndef t(a: int):\n    return a\n")
        self.assertEqual(self.value(wrapped, a="7"), 7)

    def test_text_that_is_no_utf_8_is_shown(self):
        self.assertEqual(self.problems("def t(a: int): pass\n", a="\ud800"),
                         {"/a": self.problems("def t(a: int): pass\n", a="?")["/a"]})
        self.assertEqual(set(self.problems("def t(): pass\n", **{"\udfff": 1})), {"/?"})

    def test_nesting_is_bounded(self):
        for deep in ("[" * 9000 + "]" * 9000, "[" * 9000, '{"a":' * 900 + "1" + "}" * 900):
            with self.subTest(deep[:9]), self.assertRaises(arguments.InvalidInput) as caught:
                arguments.parse('{"a": %s}' % deep)
            self.assertIn("nested more than 500 deep", str(caught.exception))
        part = ["[[[[", '\\"{{{', {"b": [[]]}]
        wide = {"a": [part] * 900}
        self.assertEqual(arguments.parse(json.dumps(wide)), wide)
        with self.assertRaisesRegex(arguments.InvalidInput, "not JSON"):
            arguments.parse("]" * 900)

    def test_arguments_are_data(self):
        evil = "'; import os; os.abort() #\n\"\"\" {__import__('os')}"
        self.assertEqual(self.value("def t(a: str):\n    return a\n", a=evil), evil)


class ResultTest(RuntimeTest):
    def test_values_as_models_read_them(self):
        table = {
            "'abc'": "abc", "None": "None", "True": "True", "[1, 'a', None]": "[1, 'a', None]",
            "(1, 2)": "[1, 2]", "{'a': 1, 'b': None}": "{'a': 1, 'b': None}", "{2, 1}": "[1, 2]",
            "float('nan')": "nan", "b'abc'": "abc", "decimal.Decimal('1.10')": "1.10",
            "datetime.date(2024, 1, 2)": "2024-01-02", "{1: 2}": "{'1': 2}",
            "pydantic.create_model('M', a=1)()": "{'a': 1}",
        }
        for expression, expected in table.items():
            with self.subTest(expression):
                self.assertEqual(self.text(_returns(expression)), expected)

    def test_values_as_json(self):
        self.assertEqual(self.value(_returns("{'a': float('inf'), 'b': (1,)}")), {"a": None, "b": [1]})
        self.assertEqual(self.value("def t():\n    a = [1]\n    a.append(a)\n    return a\n"),
                         [1, "[...]"])
        self.assertEqual(self.value(_returns(r"'\ud800'")), "?")

    def test_nesting_is_bounded(self):
        text = ("def t(n: int):\n    value = 1\n    for _ in range(n):\n        value = [value]\n"
                "    return value\n")
        self.assertEqual(self.text(text, n=100), "[" * 100 + "1" + "]" * 100)
        for depth in (101, 5000):
            self.assertIn("nested more than 100 deep", self.raised(text, n=depth).message)

    def test_coroutines_are_awaited(self):
        text = ("import asyncio\nasync def one(n):\n    await asyncio.sleep(0.001)\n    return n\n"
                "async def t():\n    return await asyncio.gather(one(1), asyncio.to_thread(len, 'ab'))\n")
        self.assertEqual(self.value(text, "t"), [1, 2])

    def test_waiting_for_nothing_ends(self):
        text = "import asyncio\nasync def t():\n    await asyncio.Event().wait()\n"
        self.assertIn("would never end", self.raised(text, "t").message)

    def test_the_main_block_does_not_run(self):
        self.assertEqual(self.value("def t():\n    return __name__\nif __name__ == '__main__':\n    1/0\n"),
                         "tool")


class FailureTest(RuntimeTest):
    def test_tracebacks_show_the_lines_of_the_source_alone(self):
        found = self.raised("import json\n\ndef t():\n    return json.loads('{')\n")
        self.assertEqual(found.kind, "JSONDecodeError")
        self.assertIn('File "tool.py", line 4, in t\n    return json.loads', found.traceback)
        self.assertNotIn("decoder.py", found.traceback)
        self.assertNotIn("call.py", found.traceback)

    def test_what_is_there_many_times_is_formatted_once(self):
        found = self.raised("def t():\n    return t()\n")
        self.assertIn("Previous line repeated", found.traceback)
        deep = self.raised("def t():\n    error = None\n    for n in range(300):\n"
                           "        last, error = error, ValueError(n)\n"
                           "        error.__context__ = last\n    raise error\n")
        self.assertEqual(deep.message, "299")
        self.assertIn("ValueError: 0\n", deep.traceback)

    def test_causes_are_kept(self):
        text = "def t():\n    try:\n        1/0\n    except Exception as e:\n        raise KeyError('k') from e\n"
        found = self.raised(text)
        self.assertEqual((found.kind, found.message), ("KeyError", "'k'"))
        self.assertIn("ZeroDivisionError", found.traceback)

    def test_exceptions_of_all_kinds_end_the_call(self):
        table = {
            "def t():\n    return t()\n": "RecursionError", "def t(:\n": "SyntaxError",
            "class E(Exception):\n    def __str__(self): 1/0\ndef t():\n    raise E\n": "E",
            "def t():\n    raise KeyboardInterrupt\n": "KeyboardInterrupt", "1/0\ndef t(): 1\n":
            "ZeroDivisionError", "x = 1": "SyntaxError", "a\0": "SyntaxError",
        }
        for text, kind in table.items():
            with self.subTest(text):
                self.assertEqual(self.raised(text).kind, kind)
        self.assertIn("it defines: t", self.raised("def t(): 1\n", "z").message)

    def test_exit_gives_the_status(self):
        for code, status in (("", 0), ("3", 3), ("'text'", 1), ("1 << 40", 1), ("True", 1)):
            ended = self.call(f"import sys\ndef t():\n    sys.exit({code})\n").ended
            self.assertEqual(ended, wit.Ended_Exited(status))
        self.assertIn("text", self.printed.getvalue())


class AgentTest(RuntimeTest):
    def test_changed_blocks_are_given_back(self):
        text = ("def t(agent_state, agent_id: str, v: str):\n"
                "    agent_state.memory.update_block_value(label='human', value=v)\n"
                "    return [agent_id, agent_state.name, agent_state.llm_config.model,\n"
                "            agent_state.memory.list_block_labels(), agent_state.tools[0].name,\n"
                "            agent_state.memory.get_block('human').value]\n")
        done = self.call(text, agent=AGENT, v="new")
        self.assertEqual(done.memory, '{"human": "new"}')
        self.assertIn("'agent-1', 'Bob', 'm', ['ro', 'human'], 't', 'new'",
                      done.ended.value.content[0].value)
        self.assertIsNone(self.call(text, agent=AGENT, v="hi").memory)
        failing = text.replace("    return [", "    1/0\n    return [")
        self.assertIsNone(self.call(failing, agent=AGENT, v="new").memory)

    def test_what_may_not_change_raises(self):
        table = {
            "agent_state.memory.get_block('no')":
                "'Block field no does not exist (available sections = ro, human)'",
            "agent_state.memory.update_block_value('no', 'x')": "Block with label no does not exist",
            "agent_state.memory.update_block_value('ro', 'y')":
                "This block is read-only and cannot be edited.",
            "agent_state.memory.get_block('human').value = 'x' * 10":
                "Edit failed: Exceeds 9 character limit (requested 10)",
        }
        for line, message in table.items():
            with self.subTest(line):
                found = self.raised(f"def t(agent_state):\n    {line}\n", agent=AGENT)
                self.assertEqual(found.message, message)

    def test_without_an_agent_there_is_none(self):
        self.assertEqual(self.value("def t(agent_state):\n    return agent_state is None\n"), True)
        self.assertIn("/agent_id", self.problems("def t(agent_id: str): pass\n"))


class SurroundingsTest(RuntimeTest):
    def test_the_environment_is_exactly_the_given_one(self):
        text = "import os\ndef t():\n    return dict(os.environ)\n"
        self.assertEqual(self.value(text, variables=[("A", "1")]), {"A": "1"})

    def test_tools_call_each_other_by_name(self):
        peers = sys.modules["wit_world.imports.peers"]
        types = sys.modules["wit_world.imports.types"]

        def called(name, text):
            if name == "bad":
                raise Err(peers.PeerError_Denied("not you"))
            return types.Output([types.Content_Text("t")], text if name == "json" else None)

        peers.call = called
        names = ["json", "plain", "bad"]
        self.assertEqual(self.value("def t():\n    return [json(a=1), json({'b': 2}), plain()]\n",
                                    peers=names), [{"a": 1}, {"b": 2}, "t"])
        self.assertEqual(self.raised("def t():\n    bad()\n", peers=names).message, "bad: not you")
        self.assertIn("by name", self.raised("def t():\n    json(1)\n", peers=names).message)

    def test_a_tool_class_runs_without_its_schema(self):
        text = ("class T(BaseTool):\n    name: str = 'named'\n    args_schema: Type = Missing\n"
                "    def run(self, q: int):\n        return q + 1\n")
        self.assertEqual(self.value(text, "named", q="1"), 2)


class ScriptTest(RuntimeTest):
    def test_the_last_expression_is_the_result(self):
        table = {"1 + 1": ("2", "2"), "'a'": ("'a'", '"a"'), "x = 5\nx": ("5", "5"),
                 "import asyncio\nawait asyncio.sleep(0, 3)": ("3", "3")}
        for text, expected in table.items():
            with self.subTest(text):
                output = self.run_script(text).value
                self.assertEqual((output.content[0].value, output.structured), expected)
        for text in ("None", "x = 1", "", "if __name__ != '__main__':\n    1/0"):
            self.assertEqual(self.run_script(text).value.content, [])

    def test_tracebacks_name_the_script(self):
        found = self.run_script("a = 1\na / 0").value
        self.assertIn('File "script.py", line 2', found.traceback)


if __name__ == "__main__":
    unittest.main()
