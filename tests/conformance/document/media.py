"""Bodies that are no JSON, for schemathesis."""

import schemathesis
from hypothesis import strategies

# Past the first eight, which say that it is a component, the bytes are anything.
component = strategies.binary(max_size=64).map(lambda rest: b"\0asm\x0d\0\x01\0" + rest)
schemathesis.openapi.media_type("application/wasm", component | strategies.binary(max_size=64))
