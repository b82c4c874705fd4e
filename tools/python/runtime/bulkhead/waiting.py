"""The event loop: timers and tasks, without sockets, threads and signals, which are not here."""

import asyncio
import time
import warnings


class _Timers:
    """In the place of a selector: there is nothing to wait for but time."""

    def select(self, timeout):
        """Sleeps until the next timer is due."""
        if timeout is None:
            raise RuntimeError(
                "every task waits for something that no other task will do: this would never end"
            )
        if timeout > 0:
            time.sleep(timeout)
        return []

    def close(self):
        """Nothing is held."""


class Loop(asyncio.BaseEventLoop):
    """Python's own loop with what a sandbox has: `sleep`, tasks, locks, queues, timeouts."""

    def __init__(self):
        super().__init__()
        self._selector = _Timers()

    def _process_events(self, event_list):
        """There are no events of files."""

    def _write_to_self(self):
        """Nothing wakes the loop from outside: there is one thread."""

    def run_in_executor(self, executor, func, *args):
        """Runs the function at once; `asyncio.to_thread` comes here too."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            future.set_exception(error)
        return future

    async def shutdown_default_executor(self, timeout=None):
        """There is none."""


class _Policy(asyncio.events._AbstractEventLoopPolicy
              if hasattr(asyncio.events, "_AbstractEventLoopPolicy")
              else asyncio.AbstractEventLoopPolicy):
    """Makes `asyncio.run` and `asyncio.get_event_loop` use this loop."""

    def __init__(self):
        self._loop = None

    def get_event_loop(self):
        """The loop of the only thread; made when first asked for."""
        if self._loop is None:
            self._loop = self.new_event_loop()
        return self._loop

    def set_event_loop(self, loop):
        """Remembers the loop."""
        self._loop = loop

    def new_event_loop(self):
        """A fresh loop."""
        return Loop()


def install():
    """Makes this loop the one that `asyncio` uses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        asyncio.set_event_loop_policy(_Policy())


def result_of(awaitable):
    """What the awaitable gives, waited for to the end."""

    async def wait():
        return await awaitable

    return asyncio.run(wait())
