"""Descriptions: what clients know of schemas and of the texts of faults."""

import json
import unittest

from bulkhead.schema.faults import SourceFault
from tests.host import RuntimeTest

_MAP = ("{<class 'int'>: 'integer', <class 'str'>: 'string', <class 'bool'>: 'boolean', "
        "<class 'float'>: 'number', None: 'null'}")


def _tool(annotation, before=""):
    return f'{before}\ndef t(a: {annotation}):\n    """T.\n\n    Args:\n        a: An a.\n    """\n'


class DescribeTest(RuntimeTest):
    def test_annotations_become_properties(self):
        table = {
            "str": {"type": "string"}, "int": {"type": "integer"}, "float": {"type": "number"},
            "bool": {"type": "boolean"}, "list": {"type": "array", "items": {"type": "string"}},
            "List[int]": {"type": "array", "items": {"type": "integer"}},
            "list[list[bool]]": {"type": "array", "items": {"type": "array",
                                                            "items": {"type": "boolean"}}},
            "dict": {"type": "object"}, "List[dict]": {"type": "array", "items": {"type": "object"}},
            "Optional[int]": {"type": "integer"},
            "Literal['a', 'b']": {"type": "string", "enum": ["a", "b"]},
            "Literal[1, 'b']": {"enum": [1, "b"]},
        }
        for annotation, expected in table.items():
            with self.subTest(annotation):
                found = self.schema(_tool(annotation))
                self.assertEqual(found["properties"]["a"], {**expected, "description": "An a."})
                self.assertEqual(found["required"], [] if "Optional" in annotation else ["a"])

    def test_what_has_no_schema_is_a_fault_with_the_known_text(self):
        value = "Value error in schema generation: "
        none = "has no corresponding JSON schema type - full map: " + _MAP
        table = {
            "Union[int, str]": f"{value}Python type Union[(int, str)] {none}",
            "int | None": f"{value}Python type int | None {none}",
            "Any": f"{value}Python type Any {none}",
            "typing.List[int]": f"{value}Python type typing.List[int] {none}",
            "'str'": f"{value}Python type 'str' {none}",
            "Dict[str, int]": f"{value}Dictionary types dict['(str, int)'] with nested type arguments "
                              "are not supported (consider using a Pydantic model instead)",
        }
        for annotation, expected in table.items():
            with self.subTest(annotation):
                found = self.fault(_tool(annotation))
                self.assertEqual((found.message, found.line, found.parameter), (expected, 2, "a"))

    def test_missing_parts_are_faults(self):
        self.assertEqual(self.fault("def t3(a: int): pass").message, "Function t3 missing docstring")
        self.assertEqual(
            self.fault("def t4(a):\n  'x'").message,
            "Type error in schema generation: Parameter 'a' in function 't4' lacks a type annotation")
        self.assertEqual(
            self.fault("def t5(a: int):\n  'x'").message,
            "Value error in schema generation: Parameter 'a' in function 't5' lacks a description in "
            "the docstring")

    def test_source_without_a_function_can_not_be_described(self):
        table = {
            "def f(:": "Failed to parse source code: invalid syntax (<unknown>, line 1)",
            "async def f(): pass": "No functions found in source code",
            "x = 1": "No functions found in source code",
            "if True:\n  def f(): pass": "No functions found in source code",
            "(" * 5000: None, "a\0b": None, "#" * (1 << 20) + "#": None,
        }
        for text, expected in table.items():
            with self.subTest(text[:20]), self.assertRaises(SourceFault) as caught:
                self.describe(text)
            if expected:
                self.assertEqual(caught.exception.message, expected)

    def test_the_last_top_level_function_is_the_tool_unless_one_is_named(self):
        text = "def a(): 'A.'\ndef b(): 'B.'\nclass C:\n  def d(self): 'D.'\nasync def e(): 'E.'\n"
        self.assertEqual(self.describe(text).name, "b")
        self.assertEqual(self.describe(text, "a").name, "a")
        self.assertEqual(self.describe(text, "e").description, "E.")
        with self.assertRaises(SourceFault) as caught:
            self.describe(text, "z")
        self.assertEqual(caught.exception.message,
                         "No function 'z' found in source code; it defines: a, b, e")

    def test_a_class_with_a_name_and_run_is_a_tool(self):
        text = ('class T(BaseTool):\n    name: str = "named"\n    def run(self, q: int):\n'
                '        """Runs.\n\n        Args:\n            q: A q.\n        """\n')
        found = self.describe(text, "named")
        self.assertEqual((found.name, found.description), ("named", "Runs."))
        self.assertEqual(list(json.loads(found.schema.value)["properties"]), ["q"])

    def test_reserved_parameters_are_hidden(self):
        text = ('def t(self, a: int, agent_state: "AgentState", *args, agent_id: str, b: int = 1, '
                '**kw):\n    """T.\n\n    Args:\n        a: x\n        agent_id: y\n        b: z\n'
                '    """\n')
        found = self.describe(text)
        self.assertEqual([(each.name, each.required) for each in found.parameters],
                         [("a", True), ("agent_id", False), ("b", False)])
        self.assertTrue(found.open)
        self.assertEqual(json.loads(found.schema.value)["required"], ["a", "agent_id"])

    def test_docstrings_in_three_styles(self):
        google = "S.\n\n    Long.\n\n    Args:\n        a (int): one\n            two\n    Returns:\n        x\n"
        sphinx = "S.\n\n    Long.\n\n    :param a: one\n        two\n    :returns: x\n"
        numpy = "S.\n\n    Long.\n\n    Parameters\n    ----------\n    a : int\n        one\n        two\n"
        for style in (google, sphinx, numpy):
            text = f'def t(a: int):\n    """{style}    """\n'
            with self.subTest(style):
                self.assertEqual(self.describe(text).description, "S.\n\nLong.")
                self.assertEqual(self.schema(text)["properties"]["a"]["description"], "one\ntwo")

    def test_examples_stay_at_the_end_of_the_description(self):
        text = ('def t():\n    """S.\n    More.\n\n    Examples:\n        t()\n\n    Raises:\n'
                '        E: x\n    """\n')
        self.assertEqual(self.describe(text).description, "S.\n\nMore.\n\nExamples:\n    t()")

    def test_classes_of_the_source_are_written_out(self):
        before = (
            "class Color(str, Enum):\n    RED = 'r'\n    BLUE = 'b'\n"
            "class Inner(BaseModel):\n    n: int = Field(..., description='N', ge=1)\n"
            "    again: Optional['Outer'] = None\n"
            "class Outer(Inner):\n    c: Color\n    many: List[Inner] = []\n    u: int | str\n"
        )
        found = self.schema(_tool("Outer", before))["properties"]["a"]
        self.assertEqual(found["required"], ["n", "c", "u"])
        self.assertEqual(found["properties"]["n"],
                         {"type": "integer", "description": "N", "minimum": 1})
        self.assertEqual(found["properties"]["c"], {"type": "string", "enum": ["r", "b"]})
        self.assertEqual(found["properties"]["again"], {"type": "object"})
        self.assertEqual(found["properties"]["u"], {"anyOf": [{"type": "integer"},
                                                              {"type": "string"}]})

    def test_classes_that_name_each_other_end(self):
        names = [f"M{index}" for index in range(30)]
        fields = "".join(f"    f{name}: {name}\n" for name in names)
        text = "".join(f"class {name}(BaseModel):\n{fields}" for name in names)
        self.assertIn("too large a schema", self.fault(_tool("M0", text)).message)


if __name__ == "__main__":
    unittest.main()
