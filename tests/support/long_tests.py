"""Tests that may cost more processor time than the budget (`budget.py`), and why; by the beginning of their names."""

LONG = {
    "tests/test_docs.py::test_a_page_runs_as_it_stands": "a page is worked through as its reader does, command after command",
}
