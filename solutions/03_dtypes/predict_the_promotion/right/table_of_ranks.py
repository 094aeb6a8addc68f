"""One sort by say and category, and a set of special pairs."""

ORDER = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
KIND = {name: "biiiiiffff"[place] for place, name in enumerate(ORDER)}
MEET = {frozenset(["uint8", "int8"]): "int16", frozenset(["float16", "bfloat16"]): "float32"}


def described(x):
    if isinstance(x, tuple):
        return x[0], min(x[1], 1) + 1
    if isinstance(x, bool):
        return "bool", 0
    return ("int64", 0) if isinstance(x, int) else ("float32", 0)


def promoted(one, other):
    return result_dtype((one, 1), (other, 1), "+")


def result_dtype(a, b, op):
    pairs = [described(a), described(b)]
    highest = max((KIND[name] for name, _ in pairs), key="bif".index)
    if op == "/" and highest != "f":
        return "float32"
    candidates = [(name, say) for name, say in pairs if KIND[name] == highest]
    most = max(say for _, say in candidates)
    names = [name for name, say in candidates if say == most]
    return MEET.get(frozenset(names)) or max(names, key=ORDER.index)


def fits_in_place(a, b, op):
    order = "bif"
    return order.index(KIND[result_dtype(a, b, op)]) <= order.index(KIND[a[0]])
