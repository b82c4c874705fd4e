"""The component's entry: what the world `runtime` exports.

Importing this module does all slow work; the component is a snapshot taken right after it. A call
starts from that snapshot, so nothing here may depend on the moment or the machine of the build.
"""

from componentize_py_types import Err
from wit_world.exports import source_runtime

from bulkhead import snapshot  # Imported first: it prepares modules that the others import.
from bulkhead import call as tool_call
from bulkhead import script
from bulkhead.schema import describe as description
from bulkhead.schema.faults import SourceFault


class SourceRuntime:
    """The interface `source-runtime`; its methods carry the names of the WIT file."""

    def describe(self, source):
        """What can be read in a source without running it."""
        try:
            return description.describe(source)
        except SourceFault as fault:
            raise Err(fault.as_wit()) from None

    def call(self, source, input, order, environment):
        """Calls the tool with the arguments in `input`, a JSON object.

        Python takes arguments by name, so `order` is of no use here.
        """
        return tool_call.call(source, input, environment)

    def run(self, source, environment):
        """Runs a script; the value of its last expression is the result."""
        return script.run(source, environment)


# A first use fills caches (of `ast`, `inspect`, `json`, the compiler) that calls then find warm.
snapshot.rehearse(SourceRuntime(), source_runtime)
snapshot.seal(SourceRuntime(), source_runtime)
