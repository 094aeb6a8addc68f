import torch

from grader.check import CannotJudge, assert_values, check

INTS = ("uint8", "int8", "int16", "int32", "int64")
LEVEL = {"bool": 0, **dict.fromkeys(INTS, 1), **dict.fromkeys(("float16", "bfloat16", "float32", "float64"), 2)}
PAIRS = [(one, two) for one in LEVEL for two in LEVEL]
LIKE = {True: "bool", 5: "int64", 2.5: "float32"}  # Python numbers, and a tensor's dtype of the same category
WORDS = {True: "True", 5: "5", 2.5: "2.5"}


def told(operand):
    """An operand, in words that a student may read."""
    if not isinstance(operand, tuple):
        return WORDS[operand]
    return f"{operand[0]}, with dims" if operand[1] else f"{operand[0]}, 0 dims"


def made(operand):
    """The operand itself."""
    return torch.ones((1,) * operand[1], dtype=getattr(torch, operand[0])) if isinstance(operand, tuple) else operand


def real(a, b, op):
    """What PyTorch itself gives."""
    x, y = made(a), made(b)
    return str((x + y if op == "+" else x / y).dtype).removeprefix("torch.")


def really_fits(a, b, op):
    """Whether PyTorch itself takes the operation in place."""
    try:
        made(a).add_(made(b)) if op == "+" else made(a).div_(made(b))
    except RuntimeError:
        return False
    return True


def same_as_real(student, probe, cases):
    """Each dtype is the one that PyTorch gives."""
    for (a, b, op), yours in zip(cases, probe.each(student.result_dtype, cases), strict=True):
        assert_values(yours, real(a, b, op), f"the dtype for ({told(a)}) {op} ({told(b)})")


def known(student, probe, cases):
    """The cases that the student's function has right, for what rests on them."""
    found = probe.each(student.result_dtype, cases)
    right = [case for case, yours in zip(cases, found, strict=True) if yours == real(*case)]
    if not right:
        raise CannotJudge('`result_dtype` is not right for "+" so far; this rests on it')
    return right


def same_promotions(student, probe, pairs):
    """Each two dtypes give the one that PyTorch gives."""
    for (one, two), yours in zip(pairs, probe.each(student.promoted, pairs), strict=True):
        assert_values(yours, real((one, 1), (two, 1), "+"), f"the dtype for {one} and {two}")


def either_way(rng, a, b):
    """The two operands, in this order or the other."""
    return (a, b) if rng.integer(0, 1) else (b, a)


def equals(rng):
    """Every two dtypes, for tensors of 1 to 3 dims."""
    return [((one, rng.integer(1, 3)), (two, rng.integer(1, 3)), "+") for one, two in PAIRS]


@check("C1", share=2, try_this='promoted("bool", "bool"), promoted("int8", "int16")')
def check_all_of_one_category(student, probe):
    """All pairs within a category"""
    same_promotions(student, probe, [pair for pair in PAIRS if LEVEL[pair[0]] == LEVEL[pair[1]]])


@check("C2", share=2, try_this='promoted("float16", "int32"), promoted("uint8", "bool")')
def check_all_of_two_categories(student, probe):
    """All pairs of different categories"""
    same_promotions(student, probe, [pair for pair in PAIRS if LEVEL[pair[0]] != LEVEL[pair[1]]])


@check("C3", share=1, try_this='result_dtype(("bfloat16", 0), ("int64", 2), "+")')
def check_all_with_zero_dims(student, probe, rng):
    """Tensors of 0 dims beside tensors with dims"""
    # Where the category of the weaker is higher, the two give what equals give, which is a matter of other rules.
    higher = known(student, probe, [case for case in equals(rng) if LEVEL[case[0][0]] < LEVEL[case[1][0]]])
    lower = [case for case in equals(rng) if LEVEL[case[0][0]] >= LEVEL[case[1][0]]]
    same_as_real(student, probe, [(*either_way(rng, a, (b[0], 0)), op) for a, b, op in (*higher, *lower)])


@check("C3", share=1, try_this='result_dtype(("float64", 0), ("float32", 0), "+")')
def check_both_alike(student, probe, rng):
    """Two tensors with dims, and two of 0 dims"""
    # Where `promoted` is wrong is for other checks.
    given = zip(PAIRS, probe.each(student.promoted, PAIRS), strict=True)
    alike = {pair for pair, name in given if name == real((pair[0], 1), (pair[1], 1), "+")}
    if not alike:
        raise CannotJudge("`promoted` is not right so far; this rests on it")
    cases = [(a, b, op) for a, b, op in equals(rng) if (a[0], b[0]) in alike]
    same_as_real(student, probe, [*cases, *(((a[0], 0), (b[0], 0), op) for a, b, op in cases)])


@check("C4", share=2, try_this='result_dtype(("int16", 0), 5, "+")')
def check_all_numbers(student, probe, rng):
    """Numbers beside tensors of any number of dims"""
    pairs = [(dtype, number) for dtype in LEVEL for number in LIKE]
    higher = known(student, probe, [((dtype, 1), (LIKE[number], 1), "+") for dtype, number in pairs])
    cases = []
    for dtype, number in pairs:
        like = ((dtype, 1), (LIKE[number], 1), "+")
        if LEVEL[dtype] >= LEVEL[like[1][0]] or like in higher:
            cases += [(*either_way(rng, (dtype, dims), number), "+") for dims in (0, rng.integer(1, 3))]
    same_as_real(student, probe, cases)


@check("C5", share=2, try_this='result_dtype(("bool", 1), True, "/")')
def check_all_divisions(student, probe, rng):
    """Divisions of all kinds"""
    numbers = [((dtype, rng.integer(0, 2)), number, "+") for dtype in LEVEL for number in LIKE]
    cases = [(*either_way(rng, a, b), op) for a, b, op in (*equals(rng), *numbers)]
    same_as_real(student, probe, [(a, b, "/") for a, b, _ in known(student, probe, cases)])


@check("C6", share=2, try_this='fits_in_place(("bool", 2), 1, "+")')
def check_all_in_place(student, probe, rng):
    """Operations in place of all kinds"""
    firsts, seconds = ([(dtype, rng.integer(low, low + 1)) for dtype in LEVEL] for low in (1, 0))
    cases = known(student, probe, [(a, b, op) for a in firsts for b in [*seconds, *LIKE] for op in ("+", "/")])
    for (a, b, op), yours in zip(cases, probe.each(student.fits_in_place, cases), strict=True):
        assert_values(yours, really_fits(a, b, op), f"the answer for ({told(a)}) {op}= ({told(b)})")
