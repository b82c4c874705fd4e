# ends: out_of_fuel
import asyncio


async def t():
    while True:
        await asyncio.sleep(0)


def u():
    return asyncio.run(t())
