# ends: tool_error, or trap
import faulthandler


def t():
    faulthandler._sigsegv()
