import ast

from grader.check import CannotJudge, CheckFailed, check, count_ops, is_instance, require, same_values, source


def plain(value):
    """The same with tuples for lists: which of them it is has a check of its own."""
    return tuple(plain(item) for item in value) if isinstance(value, (list, tuple)) else value


@check("C1", share=1)
def check_small(student):
    """Strides of four small shapes"""
    for shape, asked in [((4,), (1,)), ((2, 5), (5, 1)), ((1, 2, 3), (6, 3, 1)), ((), ())]:
        same_values(plain(student.contiguous_strides(shape)), asked, f"contiguous_strides({shape})")


@check("C3", share=1)
def check_swaps(student):
    """Swaps each two dims of a (1, 2, 3) tensor"""
    shape, strides = (1, 2, 3), (6, 3, 1)
    for a, b, asked in [
        (0, 1, ((2, 1, 3), (3, 6, 1))),
        (0, 2, ((3, 2, 1), (1, 3, 6))),
        (1, 2, ((1, 3, 2), (6, 1, 3))),
    ]:
        same_values(plain(student.transposed(shape, strides, a, b)), asked, f"transposed({shape}, {strides}, {a}, {b})")


@check("C1", share=1)
def check_tuples(student):
    """Returns tuples of ints"""
    strides = student.contiguous_strides((2, 5))
    pair = student.transposed((2, 5), (5, 1), 0, 1)
    is_instance(pair, tuple, "the pair from `transposed`")
    require(len(pair) == 2, f"`transposed` returns {len(pair)} items, the pair (shape, strides) is asked")
    named = [
        (strides, "the result of `contiguous_strides`"),
        (pair[0], "the shape from `transposed`"),
        (pair[1], "the strides from `transposed`"),
    ]
    for value, what in named:
        is_instance(value, tuple, what)
        for item in value:
            is_instance(item, int, f"an item of {what}")


@check("C6", share=3)
def check_plain_python(student):
    """Plain Python, without torch and NumPy"""
    cases = [
        (student.contiguous_strides, ((2, 5),), (5, 1)),
        (student.transposed, ((2, 5), (5, 1), 0, 1), ((5, 2), (1, 5))),
    ]
    used = imported(source(student)) & {"torch", "numpy"}
    require(not used, f"your file imports {' and '.join(sorted(used))}; the rule needs no help from there")
    runs_no_operation(cases)


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
