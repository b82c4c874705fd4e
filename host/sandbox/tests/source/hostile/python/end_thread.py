# ends: tool_error RuntimeError
import threading


def t():
    threading.Thread(target=print).start()
