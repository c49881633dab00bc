// SPDX-License-Identifier: BSD-3-Clause
// The points of a grid sorted by colour, and where the factors of an incomplete factorisation in that order are stored.
//
// For a linear colouring (precond/multicolor/colouring.hpp) points are numbered in natural order, as if lines and
// planes were a little longer than they are. Their lengths are such that the number of a point determines its colour:
//
//     n = i + line j + plane k     line >= nx, line mod C = y     plane >= line (ny - 1) + nx, plane mod C = z
//     colour = n mod C             place = n / C                  slot = colour stride + place
//
// The neighbour at offset (x, y, z) has the number n + x + line y + plane z. So its colour follows from the point's
// colour, and its place is the point's place plus a constant that depends on colour and offset. The places of a colour
// are one run, along which all arrays are contiguous, without index arrays. Numbers to which no point belongs are empty
// places, which hold zeros. Of the valid colourings the one with the fewest empty places is used.
//
// On one of several ranks the points are those of its planes and of as many planes of the ranks on either side as the
// offsets reach. Numbers then begin at `base`, a multiple of C, so that colours are those of the whole grid.
//
// For other colourings points are sorted by colour and then in natural order, and slots are looked up in tables. Each
// rank computes the colours of the whole grid, and keeps those of the same planes as above.
//
// Coefficients are stored as blocks[colour][entry][row][col][place] or, for colourings that are looked up, as
// blocks[entry][row][col][slot]. The entries are the offsets without the diagonal. For a symmetric matrix and a linear
// colouring, only entries that lead to earlier colours are stored.
#pragma once

#include "core/device/context.hpp"
#include "core/grid/layout.hpp"
#include "precond/multicolor/colouring.hpp"

namespace hyperplane {

enum class ColourRule { stencil, greedy, hashed };

/// What is known about coloured points before memory is allocated.
struct ColouredShape {
    Grid grid;
    Index points;  ///< of the grid, or of a rank's part
    ColourRule rule;
    std::vector<Int3> offsets;  ///< without the diagonal
    int colours = 1;            ///< if looked up, an upper bound
    ColourMap map;              ///< of a linear colouring
    Index line = 0, plane = 0;  ///< of a linear colouring
    Index base = 0;             ///< the number at place 0 of colour 0, of a linear colouring
    Index stride = 0;           ///< slots of a colour or, if looked up, of a coefficient
    Index slots = 0;            ///< slots of a vector component
    int first_plane, planes;    ///< the planes that have places: those of the layout and, on a rank, of its neighbours

    /// For the points of a natural layout, which may be one rank's part of the grid.
    ColouredShape(const Layout& layout, const Stencil& stencil, ColourRule rule);
    /// For all points of a grid.
    ColouredShape(const Grid& grid, const Stencil& stencil, ColourRule rule)
        : ColouredShape(Layout(LayoutKind::natural, grid, {}), stencil, rule) {}
    int entries() const { return int(offsets.size()); }
    bool is_linear() const { return rule == ColourRule::stencil; }
    /// Whether entries that lead to later colours are not stored.
    bool halved(bool symmetric) const { return symmetric && is_linear(); }
    /// Number of coefficients of the factors.
    Index coefficients(int dof, bool symmetric) const {
        return ((halved(symmetric) ? entries() / 2 : entries()) + 1) * slots_of_coefficients() * dof * dof;
    }
    /// The place, in a linear colouring, of the first point of a colour that is in a plane or after it.
    Index place_in_plane(int colour, int k) const {
        const Index n = plane * k - base - colour;
        return n > 0 ? (n + colours - 1) / colours : 0;
    }
    /// Number of exponents of half_scaled, [part][row][slot], for the rows of W, of D^-1 and, if it is stored, of G.
    Index exponents(int dof, bool symmetric) const { return (halved(symmetric) ? 2 : 3) * slots * dof; }
    /// Bytes of the tables.
    Index bytes() const;

private:
    Index slots_of_coefficients() const { return is_linear() ? slots : stride; }
};

/// View for loops over points, which is passed by value.
struct ColouredView {
    struct Place {
        int colour;
        Index at;  ///< within the colour
    };

    Grid grid;
    int colours, entries;
    Index line, plane, base;      ///< of a linear colouring
    const Int3* offsets;          ///< [entries]
    const Index* begin;           ///< [colours + 1]: first slot of a colour
    const Index* next;            ///< [colours][entries]: colour of the neighbour, for a linear colouring
    const Index* shift;           ///< [colours][entries]: its place minus the point's
    const Index* sum;             ///< [entries][entries]: entry u with offset u = offset e - offset l, or -1
    const Index* block;           ///< [colours][entries]: a block's first coefficient; -1: the mirrored block is stored
    const Index* inverse;         ///< [colours]: first coefficient of D^-1
    Index pitch;                  ///< from one coefficient of a block to the next
    const int *slot_of, *row_of;  ///< if looked up: slot of a point of the whole grid in natural order, and the reverse

    /// The point at a place; it is outside the grid if the place is empty.
    HYPERPLANE_HD Int3 point(int colour, Index at) const {
        if (row_of) return grid.point(Index(row_of[begin[colour] + at]));
        const Index n = base + at * colours + colour, rest = n % plane;
        return {int(rest % line), int(rest / line), int(n / plane)};
    }
    /// The place of a point inside the grid.
    HYPERPLANE_HD Place place(Int3 p) const {
        if (!row_of) {
            const Index n = p.x + line * p.y + plane * p.z;
            return {int(n % colours), (n - base) / colours};
        }
        const Index slot = slot_of[grid.row(p)];
        int colour = 0;
        while (slot >= begin[colour + 1]) ++colour;
        return {colour, slot - begin[colour]};
    }
    /// The place of a neighbour of p, which has the place `own`. The neighbour must be inside the grid.
    HYPERPLANE_HD Place neighbour(Place own, Int3 p, int entry) const {
        const int at = own.colour * entries + entry;
        if (!row_of) return {int(next[at]), own.at + shift[at]};
        return place(p + offsets[entry]);
    }
    HYPERPLANE_HD Index slot(Place place) const { return begin[place.colour] + place.at; }
    HYPERPLANE_HD bool keeps(int colour, int entry) const { return block[colour * entries + entry] >= 0; }
    /// Index of a coefficient of an entry at place `own` that leads to place `there`.
    HYPERPLANE_HD Index coefficient(Place own, int entry, Place there, int row, int col, int dof) const {
        const Index kept = block[own.colour * entries + entry];
        if (kept >= 0) return kept + (row * dof + col) * pitch + own.at;
        return block[there.colour * entries + entries - 1 - entry] + (col * dof + row) * pitch + there.at;
    }
    HYPERPLANE_HD Index inverse_coefficient(Place own, int row, int col, int dof) const {
        return inverse[own.colour] + (row * dof + col) * pitch + own.at;
    }
};

/// The tables of coloured points, in a context's memory and on the host.
class ColouredPoints {
public:
    ColouredPoints(const Context& context, const ColouredShape& shape, int dof, bool symmetric);

    const ColouredShape& shape() const { return shape_; }
    int colours() const { return colours_; }
    /// Number of places of a colour, including empty ones.
    Index count(int colour) const { return host_.begin[colour + 1] - host_.begin[colour]; }
    /// The places of a colour in the planes of a layout, including empty ones; all places, if the layout has all planes
    /// of the grid.
    struct Range {
        Index begin, end;
    };
    Range owned(const Layout& layout, int colour) const;
    /// Receives the values of a colour in the nearest planes of the ranks on either side, and sends them this rank's;
    /// with one rank it does nothing. Each array is given by a pointer to place 0 of the colour.
    void exchange(const Context& context, const Layout& layout, int colour, const std::vector<double*>& arrays) const;
    /// A fictitious grid whose points are as many places, with many lines that loops distribute to threads; the last
    /// ones are beyond them.
    static Layout lines_of(Index count);
    /// Pointers to place 0 of each coefficient that is stored for a colour.
    std::vector<double*> coefficients(int colour, int dof, double* values) const;
    /// The largest number of planes that an offset crosses: how many planes exchange() receives from either side.
    int reach() const;
    /// The view for loops in the context.
    ColouredView view() const { return view_at(tables_.data(), offsets_.data()); }
    /// The view for the host. Its slot_of and row_of, of a colouring that is looked up, are in the context's memory.
    const ColouredView& host() const { return host_; }

private:
    ColouredView view_at(const Index* tables, const Int3* offsets) const;
    /// The place of the first point of a colour that is in a plane or after it.
    Index place_in_plane(int colour, int k) const;
    void sort_points(const Context& context);
    /// Fills all tables except `begin`.
    void fill(int dof, bool symmetric);

    ColouredShape shape_;
    int colours_;
    Index pitch_;
    std::vector<Index> host_tables_;
    ColouredView host_{};
    Buffer<Index> tables_;
    Buffer<Int3> offsets_;
    Buffer<int> slot_of_, row_of_;
    std::vector<Index> before_plane_;  ///< if looked up: [colour][plane with places, and the end]: places before it
};

}  // namespace hyperplane
