"""What a test run says at its end of tests that were left out because this machine lacks something."""

from collections import Counter

LACKS = {  # what is in the reason of a skip: of what the tests are, what is missing, and what brings it
    "no sshd": ("workers on other machines", "there is no sshd here (Debian: apt-get install openssh-server)"),
    "no ssh": ("workers on other machines", "there is no ssh here (Debian: apt-get install openssh-client)"),
    "Chromium": ("pages in a browser", "Chromium is not installed (Debian: apt-get install chromium)"),
    "could not import": ("what needs more packages", "some are missing (python -m pip install -e '.[test]')"),
}


def sentences(reasons):
    """One for each thing that is missing; nothing of tests that are left out for another reason."""
    found = Counter(next((lack for lack in LACKS if lack in reason), None) for reason in reasons)
    said = []
    for lack, (subject, remedy) in LACKS.items():
        if count := found[lack]:
            said.append(f"{count} {'test' if count == 1 else 'tests'} of {subject} left out: {remedy}.")
    return said
