"""Tests that are left out for want of a program do not vanish in silence."""

import subprocess
import sys
from pathlib import Path

import pytest

import own_sshd
from campaign import more
from left_out import sentences
from waiting import GUARD


def test_what_is_missing_is_said_once_with_the_remedy_and_other_reasons_are_not():
    reasons = [*3 * ["Skipped: there is no sshd"], "Skipped: there is no ssh", "Skipped: no IPv6 here"]
    assert sentences(reasons) == [
        "3 tests of workers on other machines left out: there is no sshd here (Debian: apt-get install openssh-server).",
        "1 test of workers on other machines left out: there is no ssh here (Debian: apt-get install openssh-client).",
    ]
    assert sentences([]) == []


@pytest.mark.campaign
@pytest.mark.parametrize("processes", ["1", *more(["0"])])
def test_the_last_line_of_a_run_says_so(processes, tmp_path):
    """Also where tests run in processes of their own."""
    support = Path(own_sshd.__file__).parent
    conftest = (support.parent / "conftest.py").read_text()
    (tmp_path / "conftest.py").write_text(f"import sys\nsys.path.insert(0, {str(support)!r})\n{conftest}")
    (tmp_path / "test_away.py").write_text("import pytest\n\n\ndef test_away():\n    pytest.skip('there is no sshd')\n")
    call = [sys.executable, "-m", "pytest", "-q", "-n", processes, "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    ended = subprocess.run([*call, str(tmp_path)], cwd=tmp_path, capture_output=True, text=True, timeout=GUARD)
    assert ended.stdout.splitlines()[-1] == (
        "1 test of workers on other machines left out: there is no sshd here (Debian: apt-get install openssh-server)."
    ), ended.stdout + ended.stderr
