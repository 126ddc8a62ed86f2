"""The noise: every guard forced, every extension driven by chosen words, and the generators."""

from __future__ import annotations

import decimal
import os
import pickle
from collections.abc import Callable, Iterable

import mpmath
import numpy as np
import pytest

from prolate.errors import InputError
from prolate.noise import MAX_SCALE, SeededBits, SystemBits, gaussian, random_bits, rounded_gaussian
from prolate.noise.gaussian import _Uniform

WORD = 2**64


class Words:
    """A stream of chosen words; asking for more than there are is an error."""

    private = False

    def __init__(self, words: Iterable[int]) -> None:
        self.left = [int(word) for word in words]

    def words(self, count: int) -> np.ndarray:
        assert count <= len(self.left), "more words were drawn than the test has planted"
        taken, self.left = self.left[:count], self.left[count:]
        return np.array(taken, dtype=np.uint64)


def tail(k: int) -> mpmath.mpf:
    """P(K >= k), where P(K = k) is proportional to exp(-k**2 / 2), with 120 digits."""
    with mpmath.workdps(140):
        mass = [mpmath.exp(-mpmath.mpf(j * j) / 2) for j in range(60)]
        return mpmath.fsum(mass[k:]) / mpmath.fsum(mass)


def digits_of(value: mpmath.mpf, *lengths: int) -> list[int]:
    """Return the leading binary digits of a number in [0, 1) in groups of these lengths."""
    with mpmath.workdps(140):
        total = sum(lengths)
        whole = int(mpmath.floor(value * mpmath.mpf(2) ** total))
        groups = []
        for length in lengths:
            total -= length
            groups.append(whole >> total)
            whole &= (1 << total) - 1
        return groups


def one_sample(
    choice: int, fraction: int, acceptance: int, extra: Iterable[int], scale: int, guard: float
) -> tuple[int, int]:
    """Draw one integer whose first proposal is planted; return it and the words left over.

    The other proposals are K = 0, X = 3/4, accepted, positive.
    """
    count = int(1.4 + 4.0) + 8
    sure = 2**63 + 2**62
    words = [choice, *[WORD - 2] * (count - 1)]
    words += [fraction, *[sure] * (count - 1)]
    words += [acceptance, *[0] * (count - 1)]
    bits = Words([*words, *extra])
    (drawn,) = rounded_gaussian(scale, 1, bits, guard=guard).tolist()
    return drawn, len(bits.left)


GUARDS = [gaussian._GUARD, 2.0]


def test_floors_against_mpmath() -> None:
    expected = []
    while not expected or expected[-1] > 0:
        expected.append(digits_of(tail(len(expected) + 1), 63)[0])
    assert [int(floor) for floor in gaussian._floors()] == expected
    assert sorted(set(expected), reverse=True) == expected


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8, 9])
@pytest.mark.parametrize("guard", GUARDS)
def test_step_one_where_the_prefix_is_the_tables(k, guard) -> None:
    """R < P(K >= k) decided by the 64 bits after the prefix, or the 64 after these."""
    prefix, first, second = digits_of(tail(k), 63, 64, 64)
    scale = 1000
    for sign in (0, 1):
        for extra, reached in [
            ([first - 1], k),
            ([first + 1], k - 1),
            ([first, second - 1], k),
            ([first, second + 1], k - 1),
        ]:
            drawn, left = one_sample(2 * prefix + sign, 0, 0, extra, scale, guard)
            assert drawn == (-1 if sign else 1) * scale * reached
            assert left == 0


@pytest.mark.parametrize("guard", GUARDS)
def test_step_one_beyond_the_table(guard) -> None:
    """The 63 leading bits of P(K >= 10) are zero: the words after them decide."""
    assert digits_of(tail(10), 63) == [0]
    _, first, second = digits_of(tail(10), 63, 64, 64)
    for extra, reached in [([first - 1], 10), ([first + 1], 9), ([first, second + 1], 9)]:
        assert one_sample(0, 0, 0, extra, 10**6, guard) == (10**7 * reached // 10, 0)
    # Zeros for ever would be K without end; 400 digits of them are K = 14, say.
    _, *words = digits_of(tail(14), 63, 64, 64)
    words[-1] -= 1
    assert one_sample(0, 0, 0, words, 1, guard) == (14, 0)


def exact_chance(whole: int, x: mpmath.mpf) -> mpmath.mpf:
    with mpmath.workdps(140):
        return mpmath.exp(-x * (2 * whole + x) / 2)


@pytest.mark.parametrize("whole", [0, 1, 2, 4])
@pytest.mark.parametrize("fraction", [1, 2**40 + 3, 0x5555555555555555, 2**63, WORD - 2])
@pytest.mark.parametrize("guard", GUARDS)
def test_step_two_within_the_guard(whole, fraction, guard) -> None:
    """Acceptance decided by the 64 bits after those that the fast path sees."""
    # An R just below P(K >= whole), or just below one.
    choice = 2 * (digits_of(tail(whole), 63)[0] - 1 if whole else 2**63 - 1)
    scale = 2**20
    with mpmath.workdps(140):
        for word in (0, 2**62 + 1, WORD - 1):
            low = (mpmath.mpf(fraction) * WORD + word) / mpmath.mpf(WORD) ** 2
            high = low + mpmath.mpf(WORD) ** -2
            # 128 bits of the chance at the lower and the upper end of X.
            most = int(mpmath.floor(exact_chance(whole, low) * mpmath.mpf(WORD) ** 2))
            least = int(mpmath.floor(exact_chance(whole, high) * mpmath.mpf(WORD) ** 2))
            assert least <= most
            accepted = int(mpmath.floor(scale * (whole + low) + mpmath.mpf(1) / 2))
            rejected = int(0.75 * scale)
            for planted, expected in [(least - 2, accepted), (most + 2, rejected)]:
                if planted >= WORD**2:
                    continue
                prefix, following = divmod(planted, WORD)
                drawn, left = one_sample(choice, fraction, prefix, [word, following], scale, guard)
                assert drawn == expected
                # Where the first 64 bits are enough, no more are drawn.
                assert left in (0, 2)


def test_step_two_goes_on_to_a_third_word() -> None:
    fraction, x_words = 2**62 + 12345, [17, 99]
    with mpmath.workdps(140):
        low = (
            mpmath.mpf(fraction * WORD**2 + x_words[0] * WORD + x_words[1]) / mpmath.mpf(WORD) ** 3
        )
        planted = int(mpmath.floor(exact_chance(3, low) * mpmath.mpf(WORD) ** 3))
    drawn = []
    for offset in (-8, 8):
        words = [(planted + offset) // WORD**2, (planted + offset) // WORD % WORD]
        words.append((planted + offset) % WORD)
        x, variate = _Uniform(fraction), _Uniform(words[0])
        bits = Words([x_words[0], words[1], x_words[1], words[2]])
        drawn.append(gaussian._accept_exactly(3, x, variate, bits))
        assert x.length == variate.length == 192
        assert x.prefix == fraction * WORD**2 + x_words[0] * WORD + x_words[1]
        assert not bits.left
    assert drawn == [True, False]


@pytest.mark.parametrize("scale", [3, 7, 1001, 3**20, 2**34 + 1, 2**56 - 1])
@pytest.mark.parametrize("guard", GUARDS)
def test_step_three_where_the_rounding_carries(scale, guard) -> None:
    """scale * X + 1/2 crosses an integer inside the last 2**-64 of X."""
    for half in {1, scale + 2, 2 * scale - 1}:
        # X = half / (2 scale) is where floor(scale * X + 1/2) steps up to (half + 1) / 2.
        below = (half - 1) // 2
        edge = half * WORD**3 // (2 * scale)  # floor of the edge, 192 bits
        first, second, third = edge >> 128, (edge >> 64) % WORD, edge % WORD
        cases = [
            ([second - 1], below),
            ([second + 1], below + 1),
            ([second, third - 1], below),
            ([second, third + 1], below + 1),
        ]
        for extra, expected in cases:
            assert one_sample(WORD - 2, first, 0, extra, scale, guard) == (expected, 0)
            assert one_sample(WORD - 1, first, 0, extra, scale, guard) == (-expected, 0)


def test_step_three_goes_on_with_the_bits_that_step_two_drew() -> None:
    """X may have been extended for the acceptance; rounding must see the same X."""
    scale = 3
    edge = WORD**2 // 6  # floor(3 X + 1/2) steps up at X = 1/6
    fraction, following = divmod(edge, WORD)
    with mpmath.workdps(140):
        x = mpmath.mpf(edge - 1) / mpmath.mpf(WORD) ** 2
        planted = int(mpmath.floor(exact_chance(0, x) * mpmath.mpf(WORD) ** 2)) - 4
    prefix, accept = divmod(planted, WORD)
    for offset, expected in [(-1, 0), (1, 1)]:
        extra = [following + offset, accept]
        assert one_sample(WORD - 2, fraction, prefix, extra, scale, gaussian._GUARD) == (
            expected,
            0,
        )


@pytest.mark.parametrize("scale", [1, 3, 1000, 2**34, MAX_SCALE])
def test_the_forced_fallback_gives_the_same_integers(scale) -> None:
    fast = rounded_gaussian(scale, 4000, SeededBits(5))
    assert np.array_equal(fast, rounded_gaussian(scale, 4000, SeededBits(5), guard=2.0))
    assert np.array_equal(fast, rounded_gaussian(scale, 4000, SeededBits(5), guard=2.0**-8))


@pytest.mark.parametrize("scale", [1, 10, 2**34 + 1])
def test_against_a_plain_reading_of_the_algorithm(scale) -> None:
    """The same words, decided by mpmath with 60 digits instead."""
    size = 2000
    tails = [tail(k) for k in range(1, 14)]
    count = int(1.4 * size + 4.0 * size**0.5) + 8
    words = SeededBits(11).words(3 * count).tolist()
    expected = []
    with mpmath.workdps(60):
        for r, u, v in zip(
            words[:count], words[count : 2 * count], words[2 * count :], strict=True
        ):
            chosen = (mpmath.mpf(r // 2) + 0.5) / 2**63
            whole = sum(chosen < t for t in tails)
            x = (mpmath.mpf(u) + 0.5) / WORD
            if (mpmath.mpf(v) + 0.5) / WORD < exact_chance(whole, x):
                rounded = int(mpmath.floor(scale * (whole + x) + 0.5))
                expected.append(-rounded if r % 2 else rounded)
    assert len(expected) >= size
    assert rounded_gaussian(scale, size, SeededBits(11)).tolist() == expected[:size]


def test_the_callers_decimal_settings_play_no_part() -> None:
    expected = rounded_gaussian(2**34 + 1, 1000, SeededBits(8), guard=2.0)
    prefix, first, second = digits_of(tail(1), 63, 64, 64)
    gaussian._tails.cache_clear()
    gaussian._floors.cache_clear()
    try:
        with decimal.localcontext() as context:
            context.prec, context.rounding, context.Emin = 3, decimal.ROUND_UP, -5
            for signal in (decimal.Inexact, decimal.Rounded, decimal.Subnormal):
                context.traps[signal] = True
            again = rounded_gaussian(2**34 + 1, 1000, SeededBits(8), guard=2.0)
            drawn = one_sample(2 * prefix, 0, 0, [first, second - 1], 10, gaussian._GUARD)
    finally:
        gaussian._tails.cache_clear()
        gaussian._floors.cache_clear()
    assert np.array_equal(again, expected)
    assert drawn == (10, 0)


def worst_exp(points: np.ndarray) -> float:
    """Return the largest error of np.exp(-t), in units of 2**-53."""
    context = decimal.Context(prec=40)
    values = np.exp(-points)
    worst = decimal.Decimal(0)
    for t, value in zip(points.tolist(), values.tolist(), strict=True):
        exact = context.exp(context.minus(decimal.Decimal(t)))
        worst = max(worst, abs(context.subtract(decimal.Decimal(value), exact)))
    return float(worst * 2**53)


def test_numpy_exp_is_good_enough_for_the_guard() -> None:
    """The proof of step 2 allows an absolute error of 16 units of 2**-53."""
    rng = np.random.default_rng(3)
    multiples = np.arange(0, 24) * np.log(2.0) / 2.0
    points = np.concatenate(
        [
            rng.uniform(0.0, 1.0, 6000),
            rng.uniform(0.0, 16.0, 6000),
            2.0 ** -rng.uniform(0.0, 64.0, 2000),
            multiples,  # where the argument reduction of exp changes over
            np.nextafter(multiples, 99.0),
            np.abs(np.nextafter(multiples, -1.0)),
            np.arange(0.0, 16.0, 1.0 / 128.0),
            [0.0, 5e-324, 2.0**-53, 2.0**-54],
        ]
    )
    assert worst_exp(points) < 4.0
    # SIMD loops treat ends and strides differently.
    for length in range(1, 20):
        assert worst_exp(points[:length]) < 4.0
        assert worst_exp(points[: 3 * length : 3]) < 4.0


def test_the_fast_comparison_is_well_inside_the_guard() -> None:
    """acceptance - chance, as computed, against its value: the proof says 2**-46."""
    rng = np.random.default_rng(4)
    fraction = np.concatenate(
        [
            rng.integers(0, WORD, 3000, dtype=np.uint64),
            np.array([0, 1, WORD - 1, 2**63, 2**63 - 1, 2**11 - 1, WORD - 2**10], dtype=np.uint64),
        ]
    )
    for whole in (0, 1, 3, 9, 15):
        x = fraction * 2.0**-64
        chance = np.exp(-x * (whole + 0.5 * x))
        with mpmath.workdps(40):
            for u, value in zip(fraction.tolist(), chance.tolist(), strict=True):
                for end in (u, u + 1):
                    assert abs(value - exact_chance(whole, mpmath.mpf(end) / WORD)) < 2.0**-47


def test_a_scale_for_each_coordinate() -> None:
    scales = np.array([1, 3, 1000, 2**34, 2**56, 7] * 9000, dtype=np.int64)
    drawn = rounded_gaussian(scales, scales.size, SeededBits(6))
    for scale in (1, 3, 1000, 2**34, 2**56, 7):
        alone = rounded_gaussian(scale, scales.size, SeededBits(6))
        assert np.array_equal(drawn[scales == scale], alone[scales == scale])


@pytest.mark.parametrize("size", [0, 1, 2, gaussian._BATCH, 2 * gaussian._BATCH + 5])
def test_sizes(size) -> None:
    drawn = rounded_gaussian(2**40, size, SeededBits(7))
    assert drawn.shape == (size,)
    assert drawn.dtype == np.int64
    assert np.unique(drawn).size == size


@pytest.mark.parametrize(
    "scale",
    [0, -1, MAX_SCALE + 1, 2**70, 1.5, np.nan, True, np.array([1, 0]), np.array([1.0, 2.0]), "1"],
)
def test_scales_that_are_refused(scale) -> None:
    with pytest.raises(InputError, match="scale must be an integer between 1 and"):
        rounded_gaussian(scale, 2, SeededBits(1))


def test_the_largest_scale_does_not_overflow() -> None:
    """With K = 63, which takes 2**63 zero bits' worth of luck, and with K far beyond it."""
    largest = 63 * MAX_SCALE
    assert largest + MAX_SCALE <= 2**62
    x = _Uniform(WORD - 1)
    assert gaussian._round_exactly(MAX_SCALE, 63, x, Words([0])) <= 2**62
    assert gaussian._round_exactly(MAX_SCALE, 10**6, x, Words([0])) == 2**62
    drawn = rounded_gaussian(MAX_SCALE, 100_000, SeededBits(9)).astype(float) / MAX_SCALE
    assert 0.98 < drawn.std() < 1.02
    assert np.abs(drawn).max() < 7.0


@pytest.mark.parametrize("make", [SystemBits, lambda: random_bits(None)])
def test_the_systems_generator_does_not_repeat(make: Callable[[], SystemBits]) -> None:
    bits = make()
    assert bits.private
    draws = [rounded_gaussian(2**40, 50, b) for b in (bits, bits, make())]
    draws.append(rounded_gaussian(2**40, 50, pickle.loads(pickle.dumps(bits))))
    assert np.unique(np.concatenate(draws)).size == 200


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_draws_other_numbers() -> None:
    bits = SystemBits()
    rounded_gaussian(2**40, 10, bits)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover  runs in the child
        os.write(writer, rounded_gaussian(2**40, 20, bits).tobytes())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        theirs = np.frombuffer(pipe.read(), dtype=np.int64)
    os.waitpid(child, 0)
    ours = rounded_gaussian(2**40, 20, bits)
    assert theirs.size == 20
    assert not np.intersect1d(ours, theirs).size


def test_a_seed_repeats() -> None:
    bits = SeededBits(12)
    assert not bits.private
    first = bits.words(10)
    assert np.array_equal(first, SeededBits(12).words(10))
    assert not np.array_equal(first, SeededBits(13).words(10))
    # The stream goes on after a pickle, and does not depend on how it is asked for.
    twin = pickle.loads(pickle.dumps(bits))
    assert np.array_equal(twin.words(4), bits.words(4))
    whole, parts = SeededBits(1).words(9), SeededBits(1)
    assert np.array_equal(whole, np.concatenate([parts.words(k) for k in (1, 0, 3, 5)]))
    assert np.array_equal(random_bits(12).words(10), first)


@pytest.mark.parametrize("seed", [-1, 1.5, True, "1", np.nan])
def test_seeds_that_are_refused(seed) -> None:
    with pytest.raises(InputError, match="seed must be a non-negative integer or None"):
        random_bits(seed)
