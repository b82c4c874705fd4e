"""`hashlib.pbkdf2_hmac`, which Python takes from OpenSSL and OpenSSL is not here."""

import hashlib
import hmac


def pbkdf2_hmac(hash_name, password, salt, iterations, dklen=None):
    """A key from a password (RFC 8018)."""
    if iterations < 1:
        raise ValueError("iteration value must be greater than 0.")
    keyed = hmac.new(password, digestmod=hash_name)
    length = keyed.digest_size if dklen is None else dklen
    if length < 1:
        raise ValueError("key length must be greater than 0.")

    def block(data):
        inner = keyed.copy()
        inner.update(data)
        return inner.digest()

    key = b""
    for number in range(1, -(-length // keyed.digest_size) + 1):
        last = block(bytes(salt) + number.to_bytes(4, "big"))
        total = int.from_bytes(last, "big")
        for _ in range(iterations - 1):
            last = block(last)
            total ^= int.from_bytes(last, "big")
        key += total.to_bytes(keyed.digest_size, "big")
    return key[:length]


def install():
    """Puts it in place where it is missing."""
    if not hasattr(hashlib, "pbkdf2_hmac"):
        hashlib.pbkdf2_hmac = pbkdf2_hmac
