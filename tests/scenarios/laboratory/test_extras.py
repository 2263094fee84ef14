"""What else the page has, without a browser: a refusal can be read, names are short where they stand in labels."""

import html

import pytest

from hands_on import session_of, walk
from scenarios.laboratory.handling import Handling
from scenarios.laboratory.selection import Selection
from scenarios.laboratory.words import MAX_LABEL_LENGTH, RED, label_of, short

pytest.importorskip("viser")

from scenarios.laboratory.extras import Extras, status_html
from scenarios.laboratory.panels import name_page
from scenarios.laboratory.scene import Scene


def test_the_reason_of_a_refused_file_is_text_of_as_many_lines_as_it_takes(server):
    """Not a field of one line, of which all but the first words are hidden; and no failure is silent."""
    with session_of(dt=1e-3) as session:
        walk(session, 3)
        selection = Selection()
        page = Extras(server, session, Scene(server, Handling(session.post, selection), selection))
        reason = "because <it> is " + 40 * "long and "

        def broken(client, folder):
            raise KeyError(reason)

        for work, said in ((page._runs, "this session has no folder"), (broken, reason)):
            page._busy.acquire()
            page._doing(work, None)
            page.update(session.snapshot)
            assert html.escape(said, quote=True) in page.status.content
            assert "overflow-wrap:anywhere" in page.status.content
            assert not page._busy.locked()
    assert status_html("") == ""
    assert RED in status_html("not kept: no")
    assert RED not in status_html("motion.html, 1 MB")


def test_a_long_name_keeps_its_beginning_and_its_end_in_a_label():
    names = [f"connecting-rod-of-the-left-front-wheel-{k}" for k in range(12)]
    labels = {short(name) for name in names}
    assert len(labels) == len(names)
    assert max(map(len, labels)) == MAX_LABEL_LENGTH
    assert label_of("mass", "upper") == "mass of upper [kg]"
    assert label_of("mass", names[3]) == f"mass of {short(names[3])} [kg]"
    assert short("upper") == "upper"


def test_the_tab_of_the_page_has_the_name_of_the_model(server):
    name_page(server, 'a "model" </script>')
    kept = list(server._websock_server._broadcast_buffer.message_from_id.values())
    (told_to,) = [message.source for message in kept if type(message).__name__ == "RunJavascriptMessage"]
    assert told_to == 'document.title = "a \\"model\\" </script>";'
