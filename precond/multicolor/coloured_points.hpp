// SPDX-License-Identifier: BSD-3-Clause
// The points of a grid sorted by colour, and where the factors of an incomplete factorisation in that order lie.
//
// Under a linear colouring (precond/multicolor/colouring.hpp) points are numbered in natural order with lines and
// planes so long that a point's number tells its colour:
//
//     n = i + line j + plane k     line >= nx, line mod C = y     plane >= line (ny - 1) + nx, plane mod C = z
//     colour = n mod C             place = n / C                  slot = colour stride + place
//
// The neighbour at an offset has the number n + x + line y + plane z, so its colour follows from the point's colour and
// its place is the point's place plus a constant of colour and offset. All points of a colour form one run: whatever
// streams along places is contiguous, without index arrays. Of the valid colourings the one that leaves the fewest
// places empty is taken; they hold zeros.
//
// Under the other colourings slots are looked up in tables, for points sorted by colour and then in natural order.
//
// Coefficients lie as blocks[colour][entry][row][col][place] (looked up: [entry][row][col][slot]), entries being
// offsets without the diagonal; a symmetric matrix under a linear colouring keeps those to earlier colours alone.
#pragma once

#include "core/device/context.hpp"
#include "precond/multicolor/colouring.hpp"

namespace hyperplane {

enum class ColourRule { stencil, greedy, hashed };

/// What is known before any memory is touched.
struct ColouredShape {
    Grid grid;
    ColourRule rule;
    std::vector<Int3> offsets;  ///< without the diagonal
    int colours = 1;            ///< looked up: the most there can be
    ColourMap map;              ///< of a linear colouring
    Index line = 0, plane = 0;  ///< the same
    Index stride = 0;           ///< from one colour's first slot to the next one's; looked up: slots of a coefficient
    Index slots = 0;            ///< of a vector component

    ColouredShape(const Grid& grid, const Stencil& stencil, ColourRule rule);
    int entries() const { return int(offsets.size()); }
    bool is_linear() const { return rule == ColourRule::stencil; }
    /// Whether entries that lead to later colours are not kept.
    bool halved(bool symmetric) const { return symmetric && is_linear(); }
    /// Coefficients of the factors.
    Index coefficients(int dof, bool symmetric) const {
        return ((halved(symmetric) ? entries() / 2 : entries()) + 1) * slots_of_coefficients() * dof * dof;
    }
    /// Of half_scaled's rows, [part][row][slot]: of W, of D^-1 and, where it is kept, of G.
    Index exponents(int dof, bool symmetric) const { return (halved(symmetric) ? 2 : 3) * slots * dof; }
    /// Memory of tables, in bytes.
    Index bytes() const;

private:
    Index slots_of_coefficients() const { return is_linear() ? slots : stride; }
};

/// For loops over points, by value.
struct ColouredView {
    struct Place {
        int colour;
        Index at;  ///< within the colour
    };

    Grid grid;
    int colours, entries;
    Index line, plane;     ///< of a linear colouring
    const Int3* offsets;   ///< [entries]
    const Index* begin;    ///< [colours + 1]: first slot of a colour
    const Index* next;     ///< [colours][entries]: colour of the neighbour; of a linear colouring
    const Index* shift;    ///< [colours][entries]: its place minus the point's
    const Index* sum;      ///< [entries][entries]: entry u with offset u = offset e - offset l, -1 where there is none
    const Index* block;    ///< [colours][entries]: a block's first coefficient, -1 where its mirror is kept instead
    const Index* inverse;  ///< [colours]: of the diagonal
    Index pitch;           ///< from one coefficient of a block to the next
    const int *slot_of, *row_of;  ///< looked up: slot of a row of the grid and back

    /// The point at a place; outside the grid where the place is empty.
    HYPERPLANE_HD Int3 point(int colour, Index at) const {
        if (row_of) return grid.point(Index(row_of[begin[colour] + at]));
        const Index n = at * colours + colour, rest = n % plane;
        return {int(rest % line), int(rest / line), int(n / plane)};
    }
    /// Of a point inside the grid.
    HYPERPLANE_HD Place place(Int3 p) const {
        if (!row_of) {
            const Index n = p.x + line * p.y + plane * p.z;
            return {int(n % colours), n / colours};
        }
        const Index slot = slot_of[grid.row(p)];
        int colour = 0;
        while (slot >= begin[colour + 1]) ++colour;
        return {colour, slot - begin[colour]};
    }
    /// The neighbour, inside the grid, of the point p at a place.
    HYPERPLANE_HD Place neighbour(Place own, Int3 p, int entry) const {
        const int at = own.colour * entries + entry;
        if (!row_of) return {int(next[at]), own.at + shift[at]};
        return place(p + offsets[entry]);
    }
    HYPERPLANE_HD Index slot(Place place) const { return begin[place.colour] + place.at; }
    HYPERPLANE_HD bool keeps(int colour, int entry) const { return block[colour * entries + entry] >= 0; }
    /// Index of a coefficient of an entry at `own` that leads to `there`.
    HYPERPLANE_HD Index coefficient(Place own, int entry, Place there, int row, int col, int dof) const {
        const Index kept = block[own.colour * entries + entry];
        if (kept >= 0) return kept + (row * dof + col) * pitch + own.at;
        return block[there.colour * entries + entries - 1 - entry] + (col * dof + row) * pitch + there.at;
    }
    HYPERPLANE_HD Index inverse_coefficient(Place own, int row, int col, int dof) const {
        return inverse[own.colour] + (row * dof + col) * pitch + own.at;
    }
};

/// The tables, in a context's memory and on the host.
class ColouredPoints {
public:
    ColouredPoints(const Context& context, const ColouredShape& shape, int dof, bool symmetric);

    const ColouredShape& shape() const { return shape_; }
    int colours() const { return colours_; }
    /// Places of a colour, empty ones counted.
    Index count(int colour) const { return host_.begin[colour + 1] - host_.begin[colour]; }
    /// For loops in the context.
    ColouredView view() const { return view_at(tables_.data(), offsets_.data()); }
    /// For the host; of a colouring that is looked up without slot_of and row_of, which lie in the context's memory.
    const ColouredView& host() const { return host_; }

private:
    ColouredView view_at(const Index* tables, const Int3* offsets) const;
    void sort_points(const Context& context);
    /// Fills the tables but `begin`.
    void fill(int dof, bool symmetric);

    ColouredShape shape_;
    int colours_;
    Index pitch_;
    std::vector<Index> host_tables_;
    ColouredView host_{};
    Buffer<Index> tables_;
    Buffer<Int3> offsets_;
    Buffer<int> slot_of_, row_of_;
};

}  // namespace hyperplane
