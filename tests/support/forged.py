"""Data and arrays with one thing in them changed: what a forger, or a mistake in what writes them, would make."""

import numpy as np

ODD = [0, 1, -1, 2**31, 2**32 - 1, 2**32, 2**48, 2**62, 2**63, 2**64, 1.5, 1e308, None, True, "", "a", "\u202e", "\ud800",
       "x" * 3000, [], [[]], [None], {}, {"a": 1}, "coordinator", "a" * 128, "../../elsewhere"]  # fmt: skip
WHOLE = [0, -1, 5, 255, 2**31, 2**62]
BROKEN = [np.nan, np.inf, 1e308, -1.0]


def forged(rng, data, arrays):
    """A copy of both, changed in one place."""
    for _ in range(100):
        if rng.random() < 0.6:
            found = twisted(rng, data)
            if isinstance(found, dict) and repr(found) != repr(data):
                return found, arrays
        else:
            found = dict(arrays)
            bend(rng, found)
            if repr(found) != repr(arrays):
                return data, found
    raise AssertionError("nothing to change")


def twisted(rng, value):
    """A JSON value with one thing in it changed, somewhere."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        match rng.randrange(8):
            case 0:
                return {k: v for k, v in value.items() if k != key}
            case 1:
                return {**value, rng.choice(["extra", "__class__", ""]): rng.choice(ODD)}
            case _:
                return {**value, key: twisted(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.8:
        place = rng.randrange(len(value))
        return [*value[:place], twisted(rng, value[place]), *value[place + 1 :], *value[: rng.choice([0, 0, 0, 3])]]
    return rng.choice(ODD)


def bend(rng, arrays):
    """One array lost, longer, shorter, of another type, or with one number that is out of place."""
    name = rng.choice(list(arrays))
    array = np.array(arrays[name])
    match rng.randrange(5):
        case 0:
            del arrays[name]
        case 1:
            arrays[name] = array[:-1] if array.ndim else array.reshape(1)
        case 2:
            arrays[name] = np.concatenate([array, array]) if array.ndim else array.reshape(1)
        case 3:
            arrays[name] = array.astype(
                rng.choice([kind for kind in ("int64", "float64", "uint8") if kind != array.dtype])
            )
        case 4 if array.size:
            odd = {"f": BROKEN, "i": WHOLE, "u": [0, 1, 255]}[array.dtype.kind]
            array.flat[rng.randrange(array.size)] = rng.choice(odd)
            arrays[name] = array
