import ast

import torch

from grader.check import CannotJudge, CheckFailed, check, count_ops, is_instance, require, same_values, source


def plain(value):
    """The same with tuples for lists: which of them it is has a check of its own."""
    return tuple(plain(item) for item in value) if isinstance(value, (list, tuple)) else value


def expect(yours, asked, what, call):
    """The answer is the asked one; staff are told the call as well."""
    try:
        same_values(plain(yours), asked, what)
    except CheckFailed as failed:
        raise CheckFailed(failed.public, f"{call}\n{failed.story}") from None


def random_shape(rng, rank, low=1, high=6):
    return rng.integers(low, high, rank)


def real(shape, strides, a, b):
    """What PyTorch itself answers."""
    turned = torch.empty_strided(shape, strides).transpose(a, b)
    return tuple(turned.shape), turned.stride()


def ask(student, shape, strides, a, b):
    """The student's pair, and the call as text."""
    pair = plain(student.transposed(shape, strides, a, b))
    is_instance(pair, tuple, "the result of `transposed`")
    require(len(pair) == 2, f"`transposed` returns {len(pair)} items, the pair (shape, strides) is asked")
    return pair, f"transposed({shape}, {strides}, {a}, {b})"


def contiguous_cases(rng):
    """Contiguous tensors of 2 to 5 dims of different sizes, with two dims each."""
    for rank in (2, 3, 4, 5, 3):
        sizes = (torch.randperm(6, generator=rng) + 2).tolist()
        shape = tuple(sizes[:rank])
        a, b = torch.randperm(rank, generator=rng).tolist()[:2]
        yield shape, torch.empty(shape).stride(), a, b


@check("C1", share=3, try_this="contiguous_strides((2, 3, 4, 5))")
def check_random_shapes(student, rng):
    """Strides of random shapes of 0 to 5 dims"""
    for rank in (0, 1, 2, 3, 4, 5):
        shape = random_shape(rng, rank)
        asked = torch.empty(shape).stride()
        expect(student.contiguous_strides(shape), asked, "the tuple of strides", f"contiguous_strides({shape})")


@check("C2", share=2, try_this="contiguous_strides((2, 0, 3))")
def check_zero_sizes(student, rng):
    """Strides of shapes with a size of 0"""
    for rank in (1, 2, 3, 4, 5):
        sizes = list(random_shape(rng, rank, low=2))
        sizes[rng.integer(rank // 2, rank - 1)] = 0
        if rank == 5:
            sizes[1] = 0
        shape = tuple(sizes)
        asked = torch.empty(shape).stride()
        expect(student.contiguous_strides(shape), asked, "the tuple of strides", f"contiguous_strides({shape})")


@check("C3", share=1, try_this="transposed((2, 3, 4), (12, 4, 1), 2, 0)[0]")
def check_swapped_sizes(student, rng):
    """The shape after a transpose"""
    for shape, strides, a, b in contiguous_cases(rng):
        pair, call = ask(student, shape, strides, a, b)
        expect(pair[0], real(shape, strides, a, b)[0], "the shape after the transpose", call)


@check("C3", share=2, try_this="transposed((2, 3, 4), (12, 4, 1), 2, 0)[1]")
def check_swapped_strides(student, rng):
    """The strides after a transpose"""
    for shape, strides, a, b in contiguous_cases(rng):
        pair, call = ask(student, shape, strides, a, b)
        expect(pair[1], real(shape, strides, a, b)[1], "the tuple of strides after the transpose", call)


@check("C3", share=1, try_this="transposed((4, 2, 3), (100, 0, 2), 0, 1)")
def check_any_strides(student, rng):
    """Transposes tensors that are not contiguous"""
    rows, columns = rng.integers(3, 6, 2)
    sliced = torch.empty(rows, 2 * columns, 4)[:, ::2]
    for t in (sliced, sliced.transpose(0, 2), torch.empty(rows, 1, columns).expand(rows, 7, columns)):
        shape, strides = tuple(t.shape), t.stride()
        for a, b in ((0, 1), (2, 0), (1, 2), (1, 1)):
            pair, call = ask(student, shape, strides, a, b)
            expect(pair[1], real(shape, strides, a, b)[1], "the tuple of strides after the transpose", call)


@check("C6", share=3, try_this="read your imports, and what each function calls")
def check_no_tensor(student, rng):
    """Makes no tensor and no array"""
    shape = random_shape(rng, rng.integer(3, 5))
    strides = torch.empty(shape).stride()
    cases = [
        (student.contiguous_strides, (shape,), strides),
        (student.transposed, (shape, strides, 0, 2), real(shape, strides, 0, 2)),
    ]
    used = imported(source(student)) & {"torch", "numpy"}
    require(not used, f"your file imports {' and '.join(sorted(used))}; the rule needs no help from there")
    runs_no_operation(cases)


@check("C4", share=1, try_this="transposed((2, 3, 4), (12, 4, 1), -1, -3)")
def check_negative(student, rng):
    """Negative dims count from the end"""
    for shape, strides, a, b in contiguous_cases(rng):
        for dims in ((a - len(shape), b), (a, b - len(shape)), (a - len(shape), b - len(shape))):
            pair, call = ask(student, shape, strides, *dims)
            expect(pair, real(shape, strides, *dims), "the result for a negative dim", call)


@check("C5", category="error", share=1, try_this="transposed((2, 3), (3, 1), 0, 2)")
def check_out_of_range(student, rng):
    """A dim that does not exist raises IndexError"""
    for rank in (1, 2, 4):
        shape = random_shape(rng, rank, low=2)
        strides = torch.empty(shape).stride()
        for dims in ((rank, 0), (0, rank), (-rank - 1, 0), (0, -rank - 1)):
            try:
                student.transposed(shape, strides, *dims)
            except IndexError:
                continue
            text = "a dim that does not exist raised nothing; an IndexError is asked"
            raise CheckFailed(text, f"transposed({shape}, {strides}, {dims[0]}, {dims[1]})\n{text}")


def runs_no_operation(cases):
    """Functions that answer right do so without PyTorch; of wrong answers it does not matter how they came about."""
    working = [(function, args) for function, args, asked in cases if is_right(function(*args), asked)]
    if not working:
        raise CannotJudge("both functions give wrong answers so far; how they get them is judged later")
    for function, args in working:
        found = count_ops(function, *args)
        require(not found, f"`{function}` runs PyTorch operations ({', '.join(found)}); work the answer out instead")


def is_right(yours, asked):
    try:
        same_values(plain(yours), asked)
    except (CheckFailed, CannotJudge):
        return False
    return True


def imported(text):
    """The packages that a file imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    return names
