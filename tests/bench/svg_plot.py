"""Plots of the benchmarks as SVG whose bytes depend on nothing but the numbers."""


def pyplot():
    """matplotlib.pyplot, without a display; imported when it is needed, because tables need none."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "attn-cli"
    matplotlib.rcParams["svg.fonttype"] = "none"
    matplotlib.rcParams["font.family"] = "sans-serif"
    from matplotlib import pyplot

    return pyplot


def save(figure, path):
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
