import hashlib
import hmac
import zlib


def digests(text: str, key: str = "secret") -> dict:
    """Compute checksums of a text.

    Args:
        text (str): The text.
        key (str): The key of the HMAC.
    """
    data = text.encode()
    found = {name: hashlib.new(name, data).hexdigest() for name in ("md5", "sha1", "sha256", "sha3_256")}
    found["sha512"] = hashlib.sha512(data).hexdigest()[:32]
    found["blake2b"] = hashlib.blake2b(data, digest_size=16).hexdigest()
    found["hmac"] = hmac.new(key.encode(), data, "sha256").hexdigest()
    found["pbkdf2"] = hashlib.pbkdf2_hmac("sha256", data, b"salt", 50).hex()
    found["crc32"] = zlib.crc32(data)
    found["adler32"] = zlib.adler32(data)
    return found
