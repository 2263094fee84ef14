"""A macro step with dry friction: all stages of the composition for every part between two switches (switches.py).

Where contacts or walls count by steps it is taken whole (whole_ticks.py).
"""

from __future__ import annotations

from coordinator.couplings.compositions import walls_are_near
from coordinator.couplings.interface.fields import SHAPE
from coordinator.couplings.interface.stepping import play_stages
from coordinator.couplings.interface.switches import expects_switch, has_switched, locate, note_part
from coordinator.couplings.interface.verbs import DECIDE, TELL, play
from coordinator.couplings.interface.whole_ticks import end_pending, weigh_switches
from modular.elements import STEP, TIME
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

MOST_PARTS, MOST_PARTS_EACH = 20, 4  # of a step, and more for each friction: beyond, switches are as good as steps


@kernel
def advance_between_switches(interface: View, elements: View, step: float, end: float, even: bool) -> int:
    """Parts of a step up to each switch, and what is left; who went wrong, or -1."""
    done, most = 0.0, MOST_PARTS + MOST_PARTS_EACH * interface.rubbing
    while done < step:
        left = part = step - done
        if most > 0 and expects_switch(interface, left):
            if interface.undivided == 1:
                weigh_switches(interface, elements, left, end, even)
            else:
                part = locate(interface, elements, left, end, even)
        most -= 1
        if part > 0.0:
            wrong = play_stages(interface, elements, part, end if part == left else end - left + part, even)
            if wrong >= 0:
                return wrong
            note_part(interface, part, step)
            done = step if part == left else done + part
        if has_switched(interface, step):
            elements.clock[STEP], elements.clock[TIME] = step, end - step + done
            end_pending(interface)
            play(interface, DECIDE)
    return NO_FAILED_ROW


@loop
def advance_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """One macro step in place of that of stepping.py; who went wrong, or -1."""
    step, end = elements.clock[STEP], elements.clock[TIME]
    interface.trouble = SHAPE
    even = walls_are_near(interface)
    wrong = advance_between_switches(interface, elements, step, end, even)
    elements.clock[STEP], elements.clock[TIME] = step, end
    play(interface, TELL)
    return wrong


LOOPS = {"advance": advance_loop}
