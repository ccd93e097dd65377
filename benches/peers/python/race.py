"""Taking turns, as src/race.rs does it."""

import random
import statistics
import time

# How long a turn should take, in seconds, so that starting it does not count.
TURN = 4e-3
MOST = 1000
ROUNDS = 5
# How long a turn gathers untimed before: until the system has spread threads that slept over the
# cores. It may do so late: see ../../results/README.md.
UNTIMED = 40e-3
# Threads of a library may spin for a while after its work; nobody should pay for others' threads.
# A turn waits until those of this process sleep: this long, and no longer than this in all.
PAUSE = 2e-3
LONGEST_PAUSE = 2.0


def race(contestants, seconds, sets):
    """The seconds of one gather, of every contestant in every round."""
    following = [0] * len(contestants)

    def turn(who, untimed, repeats):
        first = following[who]
        following[who] = first + untimed + repeats
        return contestants[who].time(first, repeats, untimed)

    def timed_turn(who):
        settle()
        # What the one before left behind, in caches and in the system's memory, is not to be paid
        # for by the next either.
        return turn(who, *repeats[who])

    everyone = range(len(contestants))
    repeats = [enough(lambda n, who=who: turn(who, 0, n), sets) for who in everyone]
    times = [[] for _ in contestants]
    until = seconds * len(contestants)
    started = time.perf_counter()
    shuffled = random.Random(0)
    round_ = 0
    while round_ < ROUNDS or time.perf_counter() - started < until:
        for who in shuffled.sample(everyone, len(everyone)):
            times[who].append(timed_turn(who))
        round_ += 1
    return times


def settle():
    """Returns when no thread of this process computes."""
    give_up = time.perf_counter() + LONGEST_PAUSE
    while time.perf_counter() < give_up:
        before = time.process_time()
        time.sleep(PAUSE)
        if time.process_time() - before < PAUSE / 5:
            return


def enough(turn, sets):
    """How many repetitions come before a turn, and make it; finding that out is the warm-up."""
    turn(sets)
    repeats = 1
    while True:
        one = turn(repeats)
        if one * repeats >= TURN or repeats == MOST:
            return max(1, int(UNTIMED / max(one, TURN / MOST))), repeats
        wanted = int(TURN / max(one, 1e-9)) + 1
        repeats = min(max(wanted, repeats + 1), repeats * 8, MOST)


def figures(times, **against):
    """Milliseconds, and the medians of the ratios to times of ours in the same round."""

    def digits(number):
        return float(f"{number:.3e}")

    def quantile(part):
        return digits(1e3 * sorted(times)[round((len(times) - 1) * part)])

    def ratio(theirs):
        return digits(statistics.median(a / b for a, b in zip(times, theirs)))

    found = {
        "median_ms": quantile(0.5),
        "p10_ms": quantile(0.1),
        "p90_ms": quantile(0.9),
        "rounds": len(times),
    }
    return found | {name: ratio(ours) for name, ours in against.items() if ours is not None}
