"""The stand-in for pydantic gives what pydantic gave."""

import json
import unittest

from tests import host  # noqa: F401  (puts the stand-in first in the path)
from tests import pydantic_cases


class PydanticTest(unittest.TestCase):
    maxDiff = None

    def test_results_and_errors_are_those_of_pydantic(self):
        expected = json.loads(pydantic_cases.EXPECTED.read_text())
        found = pydantic_cases.results()
        self.assertEqual(set(found), set(expected))
        for name in expected:
            with self.subTest(name):
                self.assertEqual(found[name], expected[name])


if __name__ == "__main__":
    unittest.main()
