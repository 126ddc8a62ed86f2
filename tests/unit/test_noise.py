"""The noise: every guard forced, every extension driven by chosen words, and the generators."""

from __future__ import annotations

import bisect
import decimal
import math
import os
import pickle
from collections.abc import Callable, Iterable
from functools import cache

import mpmath
import numpy as np
import pytest

from prolate.errors import InputError
from prolate.noise import (
    MAX_SCALE,
    SeededBits,
    SystemBits,
    exact,
    gaussian,
    kernels,
    random_bits,
    rounded_gaussian,
)
from prolate.noise.exact import FINE, Uniform, accept_exactly, round_exactly
from prolate.noise.kernels import CHOICE, VARIATE

WORD = 2**64
STEPS = 2**FINE


class Words:
    """A stream of chosen words; asking for more than there are is an error."""

    private = False

    def __init__(self, words: Iterable[int]) -> None:
        self.left = [int(word) for word in words]

    def words(self, count: int) -> np.ndarray:
        assert count <= len(self.left), "more words were drawn than the test has planted"
        taken, self.left = self.left[:count], self.left[count:]
        return np.array(taken, dtype=np.uint64)


@cache
def tail(k: int) -> mpmath.mpf:
    """P(K >= k), where P(K = k) is proportional to exp(-(k / 16)**2 / 2), with 120 digits."""
    with mpmath.workdps(140):
        mass = masses()
        return mpmath.fsum(mass[k:]) / mpmath.fsum(mass)


@cache
def masses() -> list[mpmath.mpf]:
    with mpmath.workdps(140):
        return [mpmath.exp(-mpmath.mpf(j * j) / (2 * STEPS**2)) for j in range(40 * STEPS)]


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


def choice_of(whole: int) -> int:
    """Return a prefix of R that surely makes K = `whole`."""
    return digits_of(tail(whole), CHOICE)[0] - 1 if whole else 2**CHOICE - 1


def control(choice: int, variate: int = 0, sign: int = 0) -> int:
    return (choice << (VARIATE + 1)) | (variate << 1) | sign


def one_sample(
    first: int, fraction: int, extra: Iterable[int], scale: int, guard: float
) -> tuple[int, int]:
    """Draw one integer whose first proposal is planted; return it and the words left over.

    The other proposals are K = 0, X = 3/4, accepted, positive.
    """
    count = int(1.025 + 1.0) + 8
    words = [first, *[control(choice_of(0))] * (count - 1)]
    words += [fraction, *[2**63 + 2**62] * (count - 1)]
    bits = Words([*words, *extra])
    (drawn,) = rounded_gaussian(scale, 1, bits, guard=guard).tolist()
    return drawn, len(bits.left)


GUARDS = [gaussian._GUARD, 2.0]
LOOPS = ["compiled", "numpy"]


@pytest.fixture(params=LOOPS)
def loops(request, monkeypatch) -> str:
    """Run a test with the compiled loops, and again without numba."""
    if request.param == "numpy":
        monkeypatch.setattr(kernels, "_loaded", lambda: None)
    elif kernels._loaded() is None:
        pytest.skip("numba is not installed")
    return request.param


def test_floors_against_mpmath() -> None:
    expected = []
    while not expected or expected[-1] > 0:
        expected.append(digits_of(tail(len(expected) + 1), CHOICE)[0])
    assert list(exact.floors(CHOICE)) == expected
    assert sorted(expected, reverse=True) == expected


@pytest.mark.parametrize("k", [1, 2, 3, 5, 17, 40, 80, len(exact.floors(CHOICE)) - 1])
@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.usefixtures("loops")
def test_step_one_where_the_prefix_is_the_tables(k, guard) -> None:
    """R < P(K >= k) decided by the 64 bits after the prefix, or the 64 after these."""
    prefix, first, second = digits_of(tail(k), CHOICE, 64, 64)
    for sign in (0, 1):
        for extra, reached in [
            ([first - 1], k),
            ([first + 1], k - 1),
            ([first, second - 1], k),
            ([first, second + 1], k - 1),
        ]:
            drawn, left = one_sample(control(prefix, sign=sign), 0, extra, 1000 * STEPS, guard)
            assert drawn == (-1 if sign else 1) * 1000 * reached
            assert left == 0


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.usefixtures("loops")
def test_step_one_beyond_the_table(guard) -> None:
    """The 31 leading bits of P(K >= k) are zero: the words after them decide."""
    k = len(exact.floors(CHOICE))
    zero, first, second = digits_of(tail(k), CHOICE, 64, 64)
    assert zero == 0
    for extra, reached in [([first - 1], k), ([first + 1], k - 1), ([first, second + 1], k - 1)]:
        assert one_sample(0, 0, extra, 1000 * STEPS, guard) == (1000 * reached, 0)
    # Zeros for ever would be K without end; 141 of them are |Z| = 14, say.
    zero, *words = digits_of(tail(14 * STEPS), CHOICE, 64, 64, 64)
    assert zero == words[0] == 0
    words[-1] -= 1
    assert one_sample(0, 0, words, 1, guard) == (14, 0)


def exact_chance(whole: int, x: mpmath.mpf) -> mpmath.mpf:
    with mpmath.workdps(140):
        return mpmath.exp(-x * (2 * whole + x) / (2 * STEPS**2))


@pytest.mark.parametrize("whole", [0, 1, 17, 60])
@pytest.mark.parametrize("fraction", [1, 2**40 + 3, 0x5555555555555555, 2**63, WORD - 2])
@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.usefixtures("loops")
def test_step_two_within_the_guard(whole, fraction, guard) -> None:
    """Acceptance decided by the 64 bits after those that the fast path sees."""
    scale, known = 2**20, VARIATE + 64
    with mpmath.workdps(140):
        for word in (0, 2**62 + 1, WORD - 1):
            low = (mpmath.mpf(fraction) * WORD + word) / mpmath.mpf(WORD) ** 2
            high = low + mpmath.mpf(WORD) ** -2
            # So many bits of the chance at the lower and the upper end of X.
            most = int(mpmath.floor(exact_chance(whole, low) * mpmath.mpf(2) ** known))
            least = int(mpmath.floor(exact_chance(whole, high) * mpmath.mpf(2) ** known))
            assert least <= most
            accepted = int(mpmath.floor(scale * (whole + low) / STEPS + mpmath.mpf(1) / 2))
            rejected = int(0.75 * scale / STEPS)
            for planted, expected in [(least - 2, accepted), (most + 2, rejected)]:
                if planted >= 2**known:
                    continue
                prefix, following = divmod(planted, WORD)
                first = control(choice_of(whole), prefix)
                drawn, left = one_sample(first, fraction, [following, word], scale, guard)
                assert drawn == expected
                # Where fewer bits are enough, no more are drawn.
                assert left in (0, 1, 2)


def test_step_two_goes_on_to_a_third_word() -> None:
    fraction, x_words = 2**62 + 12345, [17, 2**63 + 99]
    with mpmath.workdps(140):
        low = (
            mpmath.mpf(fraction * WORD**2 + x_words[0] * WORD + x_words[1]) / mpmath.mpf(WORD) ** 3
        )
        planted = int(mpmath.floor(exact_chance(30, low) * mpmath.mpf(2) ** (VARIATE + 128)))
    drawn = []
    for offset in (-8, 8):
        variate_words = [(planted + offset) // WORD % WORD, (planted + offset) % WORD]
        x, variate = Uniform(fraction), Uniform((planted + offset) // WORD**2, VARIATE)
        bits = Words([variate_words[0], x_words[0], variate_words[1], x_words[1]])
        drawn.append(accept_exactly(30, x, variate, bits))
        assert (x.length, variate.length) == (192, VARIATE + 128)
        assert x.prefix == fraction * WORD**2 + x_words[0] * WORD + x_words[1]
        assert variate.prefix == planted + offset
        assert not bits.left
    assert drawn == [True, False]


@pytest.mark.parametrize("scale", [3, 7, 1001, 3**20, 2**34 + 1, 2**56 - 1])
@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.usefixtures("loops")
def test_step_three_where_the_rounding_carries(scale, guard) -> None:
    """scale * (K + X) / 16 + 1/2 crosses an integer inside the last 2**-64 of X."""
    for half in {1, scale + 2, 2 * scale - 1}:
        # At K + X = 8 half / scale it steps up to (half + 1) / 2.
        below = (half - 1) // 2
        whole, rest = divmod(STEPS // 2 * half, scale)
        edge = rest * WORD**3 // scale  # floor of the edge, 192 bits
        first, second, third = edge >> 128, (edge >> 64) % WORD, edge % WORD
        cases = [
            ([second - 1], below),
            ([second + 1], below + 1),
            ([second, third - 1], below),
            ([second, third + 1], below + 1),
        ]
        choice = choice_of(whole)
        for extra, expected in cases:
            drawn = one_sample(control(choice), first, extra, scale, guard)
            assert drawn == (expected, 0)
            drawn = one_sample(control(choice, sign=1), first, extra, scale, guard)
            assert drawn == (-expected, 0)


@pytest.mark.usefixtures("loops")
def test_step_three_goes_on_with_the_bits_that_step_two_drew() -> None:
    """X may have been extended for the acceptance; rounding must see the same X."""
    scale, whole = 3, 2
    edge = 2 * WORD**2 // 3  # 3 (2 + X) / 16 + 1/2 steps up at X = 2/3
    fraction, following = divmod(edge, WORD)
    with mpmath.workdps(140):
        x = mpmath.mpf(edge - 1) / mpmath.mpf(WORD) ** 2
        planted = int(mpmath.floor(exact_chance(whole, x) * mpmath.mpf(2) ** (VARIATE + 64))) - 4
    prefix, accept = divmod(planted, WORD)
    first = control(choice_of(whole), prefix)
    for offset, expected in [(-1, 0), (1, 1)]:
        extra = [accept, following + offset]
        assert one_sample(first, fraction, extra, scale, gaussian._GUARD) == (expected, 0)


@pytest.mark.parametrize("scale", [1, 3, 1000, 2**34, MAX_SCALE])
def test_the_forced_fallback_gives_the_same_integers(scale) -> None:
    fast = rounded_gaussian(scale, 4000, SeededBits(5))
    assert np.array_equal(fast, rounded_gaussian(scale, 4000, SeededBits(5), guard=2.0))
    assert np.array_equal(fast, rounded_gaussian(scale, 4000, SeededBits(5), guard=2.0**-8))


@pytest.mark.parametrize("scale", [1, 10, 2**34 + 1])
@pytest.mark.usefixtures("loops")
def test_against_a_plain_reading_of_the_algorithm(scale) -> None:
    """The same words, decided by mpmath with 60 digits instead."""
    size = 2000
    tails = [tail(k) for k in range(1, 12 * STEPS)][::-1]
    count = int(1.025 * size + size**0.5) + 8
    words = SeededBits(11).words(2 * count).tolist()
    expected = []
    with mpmath.workdps(60):
        for word, u in zip(words[:count], words[count:], strict=True):
            chosen = (mpmath.mpf(word >> 33) + 0.5) / 2**31
            whole = len(tails) - bisect.bisect_right(tails, chosen)
            x = (mpmath.mpf(u) + 0.5) / WORD
            if (mpmath.mpf((word >> 1) % 2**32) + 0.5) / 2**32 < exact_chance(whole, x):
                rounded = int(mpmath.floor(scale * (whole + x) / 16 + 0.5))
                expected.append(-rounded if word % 2 else rounded)
    assert len(expected) >= size
    assert rounded_gaussian(scale, size, SeededBits(11)).tolist() == expected[:size]


@pytest.mark.parametrize("guard", [*GUARDS, 2.0**-20])
@pytest.mark.parametrize("seed", range(3))
def test_the_compiled_loops_against_their_twins(seed, guard) -> None:
    if kernels._loaded() is None:
        pytest.skip("numba is not installed")
    bits = SeededBits(seed)
    words, fraction = bits.words(40_000), bits.words(40_000)
    # Every floor and its neighbors as choices, with all sorts of variates.
    floors = np.array(exact.floors(CHOICE), dtype=np.uint64)
    choices = np.concatenate([floors + np.uint64(k) for k in (0, 1)] + [floors[:-1] - np.uint64(1)])
    words[: choices.size] &= np.uint64(2 ** (VARIATE + 1) - 1)
    words[: choices.size] |= choices << np.uint64(VARIATE + 1)
    fraction[:40] = [0, WORD - 1, 2**63, 2**63 - 1] * 10
    whole, accepted, undecided = kernels.propose(words, fraction, guard)
    kept = np.flatnonzero(accepted)
    for scale in (1, 3, 2**34 + 1, MAX_SCALE):
        scales = np.broadcast_to(np.uint64(scale), kept.shape)
        twins, carries = kernels.rounded(scales, whole, words, fraction, kept)
        out = np.zeros(kept.size, dtype=np.int64)
        assert kernels.drawn(words, fraction, scales, guard, out) is None, "some are open"
        # Of those that are not, all are the same.
        certain = np.ones(words.size, dtype=np.bool_)
        certain[undecided] = certain[kept[carries]] = False
        some = (np.ascontiguousarray(each[certain]) for each in (words, fraction))
        assert kernels.drawn(*some, scales, guard, out) == np.count_nonzero(accepted & certain)
        expected = twins[certain[kept]]
        assert np.array_equal(out[: expected.size], expected)


@pytest.mark.parametrize("guard", GUARDS)
def test_no_more_samples_than_there_is_room_for(guard) -> None:
    if kernels._loaded() is None:
        pytest.skip("numba is not installed")
    words, fraction = SeededBits(1).words(2000).reshape(2, 1000)
    out = np.full(12, 7, dtype=np.int64)
    filled = kernels.drawn(words, fraction, np.full(10, 1000, dtype=np.uint64), guard, out[1:11])
    assert filled == (10 if guard < 1.0 else None)
    assert (out[0], out[11]) == (7, 7)


def test_the_callers_decimal_settings_play_no_part() -> None:
    expected = rounded_gaussian(2**34 + 1, 1000, SeededBits(8), guard=2.0)
    prefix, first, second = digits_of(tail(1), CHOICE, 64, 64)
    caches = (exact.tails, exact.floors, kernels._tables)
    for each in caches:
        each.cache_clear()
    try:
        with decimal.localcontext() as context:
            context.prec, context.rounding, context.Emin = 3, decimal.ROUND_UP, -5
            for signal in (decimal.Inexact, decimal.Rounded, decimal.Subnormal):
                context.traps[signal] = True
            again = rounded_gaussian(2**34 + 1, 1000, SeededBits(8), guard=2.0)
            drawn = one_sample(control(prefix), 0, [first, second - 1], 160, gaussian._GUARD)
    finally:
        for each in caches:
            each.cache_clear()
    assert np.array_equal(again, expected)
    assert drawn == (10, 0)


def compiled_exp() -> Callable[[np.ndarray], np.ndarray]:
    numba = pytest.importorskip("numba")

    @numba.njit
    def exps(points: np.ndarray) -> np.ndarray:
        out = np.empty_like(points)
        for i in range(points.size):
            out[i] = np.exp(points[i])
        return out

    return exps


def worst_exp(points: np.ndarray, exp: Callable[[np.ndarray], np.ndarray]) -> float:
    """Return the largest error of exp(-t), in units of 2**-53."""
    context = decimal.Context(prec=40)
    values = exp(-points)
    worst = decimal.Decimal(0)
    for t, value in zip(points.tolist(), values.tolist(), strict=True):
        precise = context.exp(context.minus(decimal.Decimal(t)))
        worst = max(worst, abs(context.subtract(decimal.Decimal(value), precise)))
    return float(worst * 2**53)


@pytest.mark.parametrize("make", [lambda: np.exp, compiled_exp], ids=["numpy", "compiled"])
def test_exp_is_good_enough_for_the_guard(make) -> None:
    """The proof of step 2 allows an absolute error of 16 units of 2**-53."""
    exp, rng = make(), np.random.default_rng(3)
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
    assert worst_exp(points, exp) < 4.0
    # SIMD loops treat ends and strides differently.
    for length in range(1, 20):
        assert worst_exp(points[:length], exp) < 4.0
        assert worst_exp(points[: 3 * length : 3], exp) < 4.0


def test_the_fast_comparison_is_well_inside_the_guard() -> None:
    """The chance, as computed, against its value: the proof says 2**-47; and 1 - t below it."""
    rng = np.random.default_rng(4)
    fraction = np.concatenate(
        [
            rng.integers(0, WORD, 3000, dtype=np.uint64),
            np.array([0, 1, WORD - 1, 2**63, 2**63 - 1, 2**11 - 1, WORD - 2**10], dtype=np.uint64),
        ]
    )
    for whole in (0, 1, 17, 60, 150):
        x = fraction * 2.0**-64
        t = x * (whole + 0.5 * x) * 4.0**-FINE
        chance, quick = np.exp(-t), 1.0 - t
        with mpmath.workdps(40):
            for u, value, low in zip(
                fraction.tolist(), chance.tolist(), quick.tolist(), strict=True
            ):
                for end in (u, u + 1):
                    precise = exact_chance(whole, mpmath.mpf(end) / WORD)
                    assert abs(value - precise) < 2.0**-48
                    assert low - precise < 2.0**-50


def test_a_scale_for_each_coordinate() -> None:
    scales = np.array([1, 3, 1000, 2**34, 2**56, 7] * 9000, dtype=np.int64)  # four batches
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
    """With |Z| near 64, which takes 2**63 zero bits' worth of luck, and with K far beyond it."""
    largest, x = 64 * STEPS - 1, Uniform(WORD - 1)
    assert round_exactly(MAX_SCALE, largest, x, Words([0])) == 2**62
    assert round_exactly(MAX_SCALE, 10**6, x, Words([0])) == 2**62
    one = np.array([0], dtype=np.int64)
    planted = np.array([MAX_SCALE, WORD - 2], dtype=np.uint64)
    whole, sign = np.array([largest]), np.array([1], dtype=np.uint64)
    result, _ = kernels.rounded(planted[:1], whole, sign, planted[1:], one)
    assert result.tolist() == [-(2**62)]
    drawn = rounded_gaussian(MAX_SCALE, 100_000, SeededBits(9)).astype(float) / MAX_SCALE
    assert 0.98 < drawn.std() < 1.02
    assert np.abs(drawn).max() < 7.0


@pytest.mark.parametrize("scale", [5, 2**34])
def test_the_same_integers_for_any_number_of_threads_and_without_numba(scale, monkeypatch) -> None:
    size = 3 * gaussian._BATCH + 17
    bits = SeededBits(4)
    alone = rounded_gaussian(scale, size, bits)
    after = bits.words(3)
    for threads in (2, 3, 8):
        again = SeededBits(4)
        assert np.array_equal(rounded_gaussian(scale, size, again, threads=threads), alone)
        assert np.array_equal(again.words(3), after)
    monkeypatch.setattr(kernels, "_loaded", lambda: None)
    assert np.array_equal(rounded_gaussian(scale, size, SeededBits(4), threads=2), alone)


def test_split_streams_have_nothing_in_common() -> None:
    bits = SeededBits(3)
    before = bits.words(500)
    first, second = bits.split(2)
    third, words = bits.split(1)[0], [before, bits.words(500)]
    words += [stream.words(500) for stream in (first, second, third)]
    assert np.unique(np.concatenate(words)).size == 2500
    twin = SeededBits(3)
    twin.words(500)
    assert np.array_equal(twin.split(2)[1].words(500), words[3])


def test_the_stream_is_that_of_the_standard() -> None:
    """RFC 8439, section 2.3.2 (nonce and counter), and appendix A.1, vectors 1 and 2."""
    module = kernels._loaded()
    if module is None:
        pytest.skip("numba is not installed")

    def blocks(key: bytes, counter: int, nonce: bytes, count: int) -> list[str]:
        words = b"expand 32-byte k" + key + counter.to_bytes(4, "little") + nonce
        out = np.empty((16, count), dtype=np.uint32)
        module.chacha(np.frombuffer(words, dtype="<u4").astype(np.uint32), out)
        return [out[:, j].astype("<u4").tobytes().hex() for j in range(count)]

    (block,) = blocks(bytes(range(32)), 1, bytes.fromhex("000000090000004a00000000"), 1)
    assert block == (
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
    )
    first, second, *more = blocks(bytes(32), 0, bytes(12), 40)
    assert first == (
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"
    )
    assert second == (
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
        "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f"
    )
    assert [*blocks(bytes(32), 7, bytes(12), 33)] == more[5:]


@pytest.mark.parametrize("count", [1, 1023, 1024, 1025, 100_000])
def test_the_systems_words_are_fresh_and_fair(count, monkeypatch) -> None:
    """Few words come from the system directly, many from a key of 256 bits of it."""
    asked = []
    honest = os.urandom

    def spy(size: int) -> bytes:
        asked.append(size)
        return honest(size)

    monkeypatch.setattr(os, "urandom", spy)
    words = np.concatenate([SystemBits().words(count) for _ in range(2)])
    assert words.dtype == np.uint64
    assert words.size == np.unique(words).size == 2 * count
    stretched = count >= 1024 and kernels._loaded() is not None
    assert asked == [32 if stretched else 8 * count] * 2
    ones = np.unpackbits(words.view(np.uint8)).sum()
    assert abs(int(ones) - 64 * count) < 7.5 * math.sqrt(32 * count) + 64 * (count == 1)


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
