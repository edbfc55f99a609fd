"""Results of `run --model` as the tests of models read them."""

from program import succeeds
from tensors import numpy

SENTENCE = "the cat sat on the mat"


def result(folder, *options, sentence=SENTENCE):
    return succeeds("run", sentence, "--model", f"{folder}/", "--json", *options).json


def layer_of(done, number):
    return next(layer for layer in done["layers"] if layer["layer"] == number)


def near(computed, wanted, tolerance=2e-5):
    """Within so much of the largest number, or of 1."""
    computed, wanted = numpy.asarray(computed, "float64"), numpy.asarray(wanted, "float64")
    assert computed.shape == wanted.shape
    assert numpy.abs(computed - wanted).max() <= tolerance * max(1, numpy.abs(wanted).max())
