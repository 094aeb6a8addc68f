"""Which names change?

A picture lies in memory once, and two parts of a program have a name for it, a and b. One of them changes a. Does the
other see it in b? Predict it for each line. Then try the lines in a Python prompt, and look for surprises.

    >>> a = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> b = a
    >>> _ = a.neg_()               # in place of a line that begins with a
    >>> b                          # b sees it: the answer for "a.neg_()" would be True
    tensor([[-1., -2., -3.],
            [-4., -5., -6.]])

C1  `ANSWERS` has each of the lines below as a key, unchanged, and no other key. Each value is True or False.
C2  A line that begins with a or torch runs after `b = a`. True means: afterwards, the numbers in b are different.
C3  A line that begins with `b =` makes b from a. Then `a.zero_()` runs. True means: that changes the numbers in b.
C4  You predict, so the file uses neither torch nor NumPy.

Each line starts with the a above.
"""

ANSWERS: dict[str, bool | None] = {  # TODO: True or False in place of each None
    "a += 1": None,
    "a = a + 1": None,
    "a.add_(1)": None,
    "a.add(1)": None,
    "a = a.mul_(2)": None,
    "a = torch.sin(a)": None,
    "torch.sin(a, out=a)": None,
    "a[0][1] = 7": None,
    "a[[0]][0, 1] = 7": None,
    "b = a.clone()": None,
    "b = a.detach()": None,
    "b = a.detach().clone()": None,
    "b = a.view(6)": None,
    "b = a[:, 1]": None,
    "b = a[a > 2]": None,
    "b = a.to(torch.float32)": None,
    "b = a.to(torch.float64)": None,
    "b = a * 1": None,
}
