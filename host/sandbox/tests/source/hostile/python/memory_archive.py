# ends: tool_error MemoryError
import zlib


def t():
    packer = zlib.compressobj(1)
    data = b''.join([packer.compress(bytes(1 << 20)) for _ in range(9)] + [packer.flush()])
    return len(zlib.decompress(data) * 40)
