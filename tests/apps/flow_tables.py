# SPDX-License-Identifier: BSD-3-Clause
"""Values of lid-driven cavities from the literature, and the distance of a field from them.

Frames: plane cavity, lid y = 1 moves along +x; cubic cavity, lid z = 1 moves along +x. Unit lengths and lid velocity.
"""

import numpy

# u along x = 1/2 by y. U. Ghia, K. N. Ghia, C. T. Shin, High-Re solutions for incompressible flow using the
# Navier-Stokes equations and a multigrid method, J. Comput. Phys. 48 (1982), table I.
GHIA_Y = [.0547, .1016, .1719, .2813, .4531, .5, .6172, .7344, .8516, .9531, .9766]
GHIA_U = {
    100: [-.03717, -.06434, -.10150, -.15662, -.21090, -.20581, -.13641, .00332, .23151, .68717, .84123],
    400: [-.08186, -.14612, -.24299, -.32726, -.17119, -.11477, .02135, .16256, .29093, .55892, .75837],
    1000: [-.18109, -.29730, -.38289, -.27805, -.10648, -.06080, .05702, .18719, .33304, .46604, .65928],
}

# Extrema on the centre lines: least u on x = 1/2, least and largest v on y = 1/2. Reynolds number 1000: O. Botella, R.
# Peyret, Benchmark spectral results on the lid-driven cavity flow, Computers & Fluids 27 (1998). 100: from open codes,
# which attribute them to the same authors or to C. H. Marchi et al. (2009).
PLANE_EXTREMA = {100: (-.21404, -.25380, .17957), 1000: (-.38857, -.52708, .37694)}

# S. Albensoeder, H. C. Kuhlmann, Accurate three-dimensional lid-driven cavity flow, J. Comput. Phys. 206 (2005),
# tables 5 and 6, Reynolds number 1000, cubic, as transcribed by the open code PICT (tum-pbs), turned into this frame.
CUBIC_Z = [.9766, .9688, .9609, .9531, .8516, .7344, .6172, .5, .4531, .2813, .1719, .1016, .0703, .0625, .0547]
CUBIC_U = [.58964, .48443, .39821, .33171, .12183, .07334, .03905, .00802, -.00612, -.10999, -.25160, -.27293,
           -.23696, -.22283, -.20623]
CUBIC_X = [.0625, .0703, .0781, .0938, .1563, .2266, .2344, .5, .8047, .8594, .9063, .9453, .9531, .9609, .9688]
CUBIC_W = [.21738, .22746, .23503, .24407, .22924, .17580, .16987, .03674, -.15223, -.31117, -.43423, -.33511,
           -.29032, -.24095, -.18864]


def line(field, axis, at):
    """Values along `axis` (0, 1, 2 for x, y, z) of a field [z, y, x], `at` fractions of the other axes' extents; linear
    between points."""
    others = [a for a in (0, 1, 2) if a != axis]
    values = field
    for other, fraction in zip(others, at):
        position = 2 - other  # arrays are [z, y, x]
        place = fraction * (field.shape[position] - 1)
        low, high = int(numpy.floor(place)), int(numpy.ceil(place))
        weight = place - low
        values = ((1 - weight) * numpy.take(values, [low], position) + weight * numpy.take(values, [high], position))
    return values.reshape(-1)


def rms_to_table(coordinates, values, where, table):
    """RMS of the difference, by linear interpolation between nodes."""
    return float(numpy.sqrt(numpy.mean((numpy.interp(where, coordinates, values) - numpy.array(table)) ** 2)))


def fields_by_letter(image):
    """The fields u, v, w and p of the PointData of a flow's file, each [z, y, x]."""
    velocity = image["velocity"][()]
    return {**{name: velocity[..., c] for c, name in enumerate("uvw")}, "p": image["pressure"][()]}
