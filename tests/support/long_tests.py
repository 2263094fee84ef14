"""Tests that may cost more processor time than the budget (`budget.py`), and why; by the beginning of their names."""

LONG = {
    "tests/coordinator/test_black_boxes.py::test_a_checkpoint_goes_on": "two runs with two workers each",
    "tests/coordinator/test_black_boxes.py::test_where_it_is_installed": "the first of its cases runs all of them elsewhere",
    "tests/coordinator/test_by_hand.py::test_workers_wait_for_a_run": "four processes",
    "tests/coordinator/test_by_hand.py::test_workers_with_keys_are_killed": "four processes",
    "tests/coordinator/test_lost_messages.py::test_a_tenth_of_all_words": "a run that has to say most things twice",
    "tests/coordinator/test_processes.py::test_workers_that_are_killed": "six processes, one after the other",
    "tests/modular/test_kept_code.py::test_an_edited_joint_of_the_user": "three processes that compile",
    "tests/scenarios/laboratory/test_live_in_browser.py::test_a_session_of_clicks": "a browser that draws, and the run once more",
    "tests/scenarios/test_bench.py::test_a_race_tells": "every coupling at several steps, each against an exact motion",
    "tests/scenarios/test_bench.py::test_a_tiny_family": "the smallest benchmark of each kind, as its command runs them",
    "tests/scenarios/test_ends.py": "a command and two workers, started as users start them",
    "tests/scenarios/test_resume.py::test_a_run_that_was_struck_down": "runs until it is killed, goes on, and once as a whole",
    "tests/test_docs.py::test_a_page_runs_as_it_stands": "a page is worked through as its reader does",
}
