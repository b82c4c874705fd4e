"""The stand-in for OpenSSL's key derivation gives the same keys."""

import hashlib
import unittest

from tests import host  # noqa: F401  (puts the runtime in the path)

from bulkhead import hashing


class HashingTest(unittest.TestCase):
    def test_keys_are_those_of_openssl(self):
        for name, length in (("sha256", None), ("sha1", 50), ("sha512", 7)):
            arguments = (name, b"password", b"salt", 3, length)
            self.assertEqual(hashing.pbkdf2_hmac(*arguments), hashlib.pbkdf2_hmac(*arguments))


if __name__ == "__main__":
    unittest.main()
