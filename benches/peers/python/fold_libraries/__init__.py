"""The other libraries' folds. Each module has version() and calls(fold), which yields contestants or raises
NotOffered."""

from libraries import Contestant


class InPlace(Contestant):
    """A call that folds into rows of its own, again and again; its result is that of one call on a copy.

    `fold(rows, set)` returns the rows that it has made of `rows`.
    """

    def __init__(self, call, fold, copy, **more):
        self.rows, self.copy, self.fold = copy(), copy, fold
        super().__init__(call, self.again, **more)

    def again(self, set_):
        self.rows = self.fold(self.rows, set_)
        return self.rows

    def result(self, set_):
        output = self.fold(self.copy(), set_)
        if self.wait is not None:
            self.wait(output)
        return self.numpy(output)
