# SPDX-License-Identifier: BSD-3-Clause
"""What `hyperplane plot` draws of one record: its fields as slices or profiles, and its histories as curves."""

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from hyperplane.fields import final_state

from . import fields, march
from .markup import number
from .plots import NO_CURVE, count_iterations, draw_curves, drawn, has_curve, sentence

AXES = "xyz"
WORDS = {  # of what every record may have: the name on the command line, and the panel's title
    "norm": "‖F‖ at the end of the step", "steady_norm": "‖F‖ of the steady problem", "dt": "dt",
    "courant": "Courant number", "estimated_error": "estimated error", "newton": "Newton steps a step",
    "iterations": "linear iterations a step"}
NEWTON_WORDS = {"norm": "‖F‖ after the Newton step", "iterations": "linear iterations", "step_length": "step length"}


class PlotError(Exception):
    """What was asked for cannot be drawn; the message says what can."""


def field_names(record):
    """The names of fields, and of a vector's components."""
    state = final_state(record)
    names = []
    for name in state or ():
        names += [name] + ([f"{name}_{axis}" for axis in AXES] if state[name].ndim == 4 else [])
    return names


def histories(record):
    """{name: the panel of a history}, and the axis that they share; `residual` is drawn for a single solve."""
    if not march.is_march(record):
        return ({"residual": None} if len(record.history) else {}), None
    axis = march.Axis([record])
    words = {title: name for name, title in (NEWTON_WORDS if axis.newton else WORDS).items()}
    return {words.get(panel.title, panel.title.split(" − ")[0]): panel
            for panel in march.panels([record], axis)}, axis


def choices(record):
    """What can be drawn, as lines of text."""
    told = [f"{kind}: {', '.join(names)}" for kind, names in (("fields", field_names(record)),
                                                               ("histories", histories(record)[0])) if names]
    if len(record.states):
        told.append(f"times of the series: {', '.join(f'{state.time:.6g}' for state in record.states)}")
    if not field_names(record):
        told.append("no fields: there is no file of fields beside the record (output.fields = true writes one)")
    return told


def parse_axis(text, option):
    axis, equals, value = text.partition("=")
    try:
        return AXES.index(axis.strip()), float(value) if equals else None
    except ValueError:
        raise PlotError(f"{option} {text}: an axis is x, y or z, with a coordinate as in z=0.5") from None


def parse_plane(text):
    axis, value = parse_axis(text, "--slice")
    return axis, value


def parse_line(text):
    """(axis, [(other axis, coordinate)]) of "x,y=0.5"."""
    along, *others = [parse_axis(part, "--profile") for part in text.split(",")]
    if along[1] is not None or any(value is None or axis == along[0] for axis, value in others):
        raise PlotError(f"--profile {text}: name the axis along which to go, then where to cross the others, as in x,y=0.5")
    return along[0], others


def check_place(state, axis, value, option):
    """Throws unless a coordinate is between the outermost points, or within half a spacing of them, where a reader may
    mean a boundary beside the points; then they are drawn."""
    places, slack = state.coordinates[axis], 0.5 * state.spacings[axis] * (1 + 1e-9)
    if not places[0] - slack <= value <= places[-1] + slack:  # also of nan
        raise PlotError(f"{option}: {AXES[axis]} lies between {number(places[0])} and {number(places[-1])}, as the points of "
                        f"the grid do; beyond them half a spacing, {number(state.spacings[axis] / 2)}, is taken for the outermost")


def check_time(states, time, option):
    """Throws unless a time is between the first and the last of the series, or misses them by the digits that --list leaves
    out."""
    first, last = states[0].time, states[-1].time
    slack = 1e-5 * max(abs(first), abs(last))
    if not first - slack <= time <= last + slack:  # also of nan
        raise PlotError(f"{option}: the states of the series lie between {first:.6g} and {last:.6g}; give a time between them, "
                        "or all (--list names the times)")


def states_at(record, times):
    """The states that --time chooses, those of the series that are nearest to its times: the final one without it."""
    if times is None:
        return [final_state(record)]
    states = record.states
    if not states:
        raise PlotError(f"--time {times}: the record has no series of fields; output.fields_every = N keeps one")
    if times == "all":
        return fields.chosen_states(record)
    try:
        wanted = [float(word) for word in times.split(",")]
    except ValueError:
        raise PlotError(f"--time {times}: times are numbers, comma-separated, or all") from None
    for time in wanted:
        check_time(states, time, f"--time {times}")
    return [min(states, key=lambda state: abs(state.time - time)) for time in wanted]


def field_drawing(record, names, plane, line, times):
    if plane is not None and line is not None:
        raise PlotError("--slice and --profile contradict each other; give one of them")
    states = states_at(record, times)
    if line is not None:
        along, through = parse_line(line)
        for axis, value in through:
            check_place(states[0], axis, value, f"--profile {line}")
        return fields.profiles([fields.profile_of(state, name, along, through) for name in names for state in states])
    place = parse_plane(plane) if plane is not None else None
    if place is not None and place[1] is not None:
        check_place(states[0], *place, f"--slice {plane}")
    return fields.picture([fields.slice_of(state, name, place) for name in names for state in states])


@drawn
def residual(record):
    if not has_curve(record):
        return sentence(NO_CURVE)
    drawing = Figure(figsize=(5.0, 3.8), constrained_layout=True)
    axes = drawing.subplots()
    draw_curves(axes, [record], "iteration", 1.0)
    axes.set_title("Convergence over iterations")
    axes.set_xlabel("iteration")
    axes.set_ylabel("relative residual  ‖b − A x‖ / ‖b‖")
    count_iterations(axes)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(numticks=9))
    axes.grid(True)
    return drawing


def draw(record, names, plane=None, line=None, times=None):
    """The figure of these names; without names of all fields, or of all histories where there are none."""
    known_fields, (known_histories, axis) = field_names(record), histories(record)
    if not names:
        names = list(final_state(record) or ()) or list(known_histories)
    if not names:
        raise PlotError(f"{record.path} holds nothing that can be drawn yet: no fields and no iterations")
    unknown = [name for name in names if name not in known_fields and name not in known_histories]
    if unknown:
        raise PlotError(f"{record.path} has nothing called {', '.join(unknown)}; it has\n  "
                        + "\n  ".join(choices(record)))
    of_fields = [name for name in names if name in known_fields]
    if of_fields and len(of_fields) < len(names):
        raise PlotError("fields and histories do not fit one picture: draw "
                        f"{', '.join(of_fields)} and {', '.join(n for n in names if n not in known_fields)} apart")
    if of_fields:
        return field_drawing(record, names, plane, line, times)
    for option, value in (("--slice", plane), ("--profile", line), ("--time", times)):
        if value is not None:
            raise PlotError(f"{option} is for fields, and {', '.join(names)} {'is a history' if len(names) == 1 else 'are histories'}")
    return residual(record) if axis is None else march.picture([record], axis, [known_histories[name] for name in names])
