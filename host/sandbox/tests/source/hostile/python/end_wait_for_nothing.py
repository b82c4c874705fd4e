# ends: tool_error RuntimeError
import asyncio


def t():
    asyncio.run(asyncio.Event().wait())
