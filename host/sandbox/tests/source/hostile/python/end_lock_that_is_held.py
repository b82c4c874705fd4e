# ends: ok
import threading


def t():
    lock = threading.Lock()
    lock.acquire()
    return lock.acquire(timeout=0.01)
