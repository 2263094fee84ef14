"""Real processes on bad days, as many as asked: are the bits always those of one process, and how soon does it go on?

    python benchmarks/chaos.py                          every kind, 10 of each
    python benchmarks/chaos.py --only kill --count 100

A case that goes wrong is named by its seed and can be had again with --seed. Exit code 1 if any did.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback

import numpy as np

from chaos_cases import FAMILIES, Case


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help=f"kinds, with commas between: {', '.join(FAMILIES)}")
    parser.add_argument("--count", type=int, default=10, help="cases of each kind; one of leaks takes some minutes")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    asked = parser.parse_args()
    kinds = asked.only.split(",") if asked.only else list(FAMILIES)
    for kind in kinds:
        if kind not in FAMILIES:
            parser.error(f"there is no kind '{kind}'; there are {', '.join(FAMILIES)}")
    wrong = 0
    for kind in kinds:
        cases, bad, started = [], [], time.perf_counter()
        for seed in range(asked.seed, asked.seed + asked.count):
            try:
                case = FAMILIES[kind](seed)
            except Exception:
                case = Case(False, note=traceback.format_exc(limit=-1))
            cases.append(case)
            if sys.stderr.isatty():
                print(f"\r{kind}: {len(cases)} of {asked.count}", end="\r", file=sys.stderr, flush=True)
            if not case.well:
                bad.append(seed)
                print(f"{kind}, seed {seed}: WRONG {case.note}", flush=True)
        seconds = [one for case in cases for one in case.seconds]
        figures = ""
        if seconds:
            median, late, most = np.percentile(seconds, (50, 95, 100))
            figures = f"; median {median:.2f}, 95 % {late:.2f}, most {most:.2f} ({len(seconds)} values)"
        took = time.perf_counter() - started
        print(f"{kind}: {len(cases) - len(bad)} of {len(cases)} right{figures}; {took:.0f} s", flush=True)
        wrong += len(bad)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
