import base64
import binascii
import quopri
import struct


def encode_data(text: str) -> dict:
    """Encode a text in the ways of the web.

    Args:
        text (str): The text.
    """
    data = text.encode("utf-8")
    return {
        "base64": base64.b64encode(data).decode(),
        "url": base64.urlsafe_b64encode(data).decode().rstrip("="),
        "base32": base64.b32encode(data).decode(),
        "base85": base64.b85encode(data).decode(),
        "hex": binascii.hexlify(data, "-").decode(),
        "quoted": quopri.encodestring(data).decode(),
        "struct": struct.pack(">IhB3s", 7, -2, 255, data).hex(),
        "back": base64.b64decode(base64.b64encode(data)).decode(),
    }
