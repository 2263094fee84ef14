"""Objects that stay as long as pytest does are not looked at by every collection of garbage.

Some hundred thousand of them come with the libraries and the collected tests; a full collection among them takes half a second
or more, and what measures, or asks whether it leaves nothing behind, collects often.
"""

import gc


def pytest_collection_finish():
    gc.collect()
    gc.freeze()
