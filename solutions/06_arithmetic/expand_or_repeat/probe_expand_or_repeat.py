"""Where a batch lies in memory before and after a call. Runs beside the student's code."""


def keeps_its_place(function, batch, numbers):
    """Whether batch has the same memory after the call."""
    place = batch.data_ptr()
    function(batch, numbers)
    return batch.data_ptr() == place
