// SPDX-License-Identifier: BSD-3-Clause
#include "precond/par_ilu/sweeps_cuda.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <tuple>

#include "core/device/device.hpp"
#include "core/grid/grid_point.hpp"
#include "precond/kernel_set.hpp"
#include "precond/par_ilu/staged.hpp"

namespace hyperplane {
namespace {

constexpr int threads = 256;
constexpr int most_pairs = 256, most_lower = 31;

bool on_tensor_cores(int dof) {
    return dof > 2;
}

/// Bytes of shared memory that a thread block can have.
Index shared_room(const Context& context) {
    return context.stream().properties().shared_per_block;
}
constexpr Index any_room = std::numeric_limits<Index>::max();

/// Whether the sweeps before the last one are staged, on a GPU whose thread blocks have `room` bytes of shared memory.
/// Ranks add pairs up as one GPU does in the natural layout, where sweeps are not staged.
bool by_rows(const IluPattern& shape, Index room) {
    if (!on_tensor_cores(shape.dof) || shape.of_rank) return false;
    const FactorSweepRows rows(shape);
    return rows.serves() && rows.shared_bytes() <= room;
}

/// Number of points of a thread block in one of its rounds.
int round_points(int dof) {
    return on_tensor_cores(dof) ? threads / 32 * (dof <= 4 ? 2 : 1) : threads / dof;
}
Index staged_bytes(const IluPattern& shape, int entries, int points) {
    const Index block = shape.dof * shape.dof;
    return entries * points * ((block + 1) / 2 * 2 + 2) * Index(sizeof(double));
}
/// Number of rounds: as many as are needed to load the matrix by whole sectors of memory, and to give blocks to be
/// inverted to two warps or, with more than four unknowns, to all.
int rounds(const IluPattern& shape) {
    for (int count = 4; count > 1; count /= 2)
        if (staged_bytes(shape, shape.kept(), count * round_points(shape.dof)) < 72 * 1024) return count;
    return 1;
}

/// Number of resident thread blocks for which the kernel is compiled: the largest without register spills, where the
/// compiler by itself would leave room for fewer.
int blocks(const IluPattern& shape) {
    if (shape.dof == 1) return shape.stencil.radius() > 1 ? 2 : 3;
    if (shape.stencil.lower_size() <= 3) return 4;
    return shape.dof > 4 && shape.stencil.lower_size() <= 6 ? 2 : 1;
}

/// For one and two unknowns, the number of coefficients of pairs that a thread loads together, as measured
/// (docs/log/par_ilu_sweep.md). More loads in flight hide more of the latency, as long as there are registers besides
/// those that a point needs for its lower neighbours.
int group_values(const IluPattern& shape) {
    return shape.dof == 1 && shape.eliminations().count() > 16 && shape.stencil.lower_size() <= 12 ? 16 : 8;
}

/// Extents of the layout's axes, the outermost first, and how many lines of the middle one are taken at a time.
struct Axes {
    int outer, middle, inner, lines;

    /// `run_planes` is the number of planes of the outermost axis that a run has; `in_place`: new values replace old
    /// ones.
    Axes(const IluPattern& shape, int run_planes, bool in_place) {
        const Grid& g = shape.layout.grid();
        const bool natural = shape.layout.kind() == LayoutKind::natural;
        outer = natural ? g.nz : g.nx, middle = natural ? g.ny : g.nz, inner = natural ? g.nx : g.ny;
        // The lines of all planes from a point back to its farthest neighbour should stay in the second-level cache.
        Index planes = 1;
        for (const Int3 o : shape.stencil.offsets())
            planes = std::max<Index>(planes, 1 + std::abs(natural ? o.z : shape.layout.levels().level(o)));
        planes += run_planes - 1;
        const Index line = Index(inner) * shape.stencil.size() * shape.dof * shape.dof * Index(sizeof(double));
        // In place, points read what others have just written. With one and two unknowns, fewer lines leave room in the
        // cache for that. With larger blocks few lines fit anyway, and the fewer there are, the more of the next lines
        // is read (docs/log/par_ilu_sweep.md).
        const Index wanted = (!in_place ? 16 : on_tensor_cores(shape.dof) ? 24 : 4) << 20;
        lines = int(std::clamp<Index>(wanted / (planes * line), std::min(4, middle), middle));
    }
};

/// The pairs X_e -= W_l F_u(p+l) in the order in which a point takes them. For larger blocks the order is such that
/// F_u(p+l) of one point is, shortly after, F_u(p'+l') of its neighbour along the layout's innermost axis; l' and e'
/// differ from l and e along this axis alone. With one unknown the sums would not fit in registers, and neighbouring
/// points share cache lines anyway. Ranks have the order of the natural layout in any layout.
struct Pairs {
    std::vector<int> l, u, e;
    std::vector<int> first, last;  ///< pairs of each entry; the number of pairs and -1 if it has none

    explicit Pairs(const IluPattern& shape) {
        const Stencil& s = shape.stencil;
        const Eliminations by_entry = shape.eliminations();
        for (int entry = 0; entry < s.size(); ++entry) e.resize(by_entry.begin[entry + 1], entry);
        const auto across = [&](int entry) {
            const Int3 o = s[entry];
            const bool along_x = shape.of_rank || shape.layout.kind() == LayoutKind::natural;
            return along_x ? std::array{o.z, o.y} : std::array{o.z, o.x};
        };
        const auto key = [&](int pair) {
            const int low = by_entry.l[pair], up = by_entry.u[pair];
            return std::tuple(across(e[pair]), across(low), up, low);
        };
        std::vector<int> order(by_entry.count());
        std::iota(order.begin(), order.end(), 0);
        if (on_tensor_cores(shape.dof))
            std::sort(order.begin(), order.end(), [&](int x, int y) { return key(x) < key(y); });
        std::vector<int> entries;
        for (const int pair : order) {
            l.push_back(by_entry.l[pair]);
            u.push_back(by_entry.u[pair]);
            entries.push_back(e[pair]);
        }
        e = std::move(entries);
        first.assign(s.size(), int(e.size()));
        last.assign(s.size(), -1);
        for (int pair = 0; pair < int(e.size()); ++pair) {
            first[e[pair]] = std::min(first[e[pair]], pair);
            last[e[pair]] = pair;
        }
    }
};

rtc::Definitions definitions(const IluPattern& shape, Index room) {
    const Stencil& s = shape.stencil;
    const Pairs pairs(shape);
    std::vector<int> a_entry;
    for (const Int3 o : s.offsets()) a_entry.push_back(shape.a_stencil.find(o));
    const auto n = [](int value) { return std::to_string(value); };
    const bool rows = by_rows(shape, room);
    rtc::Definitions all = grid_point_definitions(shape.layout, s.offsets());
    all.insert({{"DOF", n(shape.dof)},
                {"ENTRIES", n(s.size())},
                {"LOWER", n(s.lower_size())},
                {"A_ENTRY", rtc::array_of(a_entry)},
                {"PAIRS", n(int(pairs.e.size()))},
                {"PAIR_L", rtc::array_of(pairs.l)},
                {"PAIR_U", rtc::array_of(pairs.u)},
                {"PAIR_E", rtc::array_of(pairs.e)},
                {"FIRST_PAIR", rtc::array_of(pairs.first)},
                {"LAST_PAIR", rtc::array_of(pairs.last)},
                {"SYMMETRIC", n(shape.symmetric)},
                {"SHARES", n(shape.shares)},
                {"PERIODIC", n(shape.layout.grid().any_periodic())},
                {"BLOCKS", n(blocks(shape))},
                {"GROUP_VALUES", n(group_values(shape))},
                {"ROUNDS", n(rounds(shape))},
                {"BY_ROWS", n(rows)},
                {"OPERANDS_AS_RESULTS", "1"}});
    if (rows) all.merge(FactorSweepRows(shape).definitions());
    return all;
}

rtc::Source source() {
    return {rtc::precond_texts(), "precond/par_ilu/sweep.cuh"};
}

/// Shared memory of sweeps that write `entries` entries: room for these and for the blocks to be inverted.
Index shared_bytes(const IluPattern& shape, int entries) {
    ++entries;
    return on_tensor_cores(shape.dof) ? staged_bytes(shape, entries, rounds(shape) * round_points(shape.dof)) : 0;
}

}  // namespace

bool FactorSweepsCuda::serves(const IluPattern& shape) {
    return shape.dof <= 8 && !(shape.shares && shape.dof > 1) && shape.stencil.lower_size() <= most_lower &&
           shape.eliminations().count() <= most_pairs &&
           shape.layout.slots() * shape.dof * shape.dof < Index(1) << 32 &&
           shared_bytes(shape, shape.kept()) <= factor_sweep_shared_limit;
}

FactorSweepsCuda::FactorSweepsCuda(const Context& context, const IluPattern& shape)
    : shape_(shape), changed_(shape.eliminations().changed_entries()) {
    const auto load = [&](const char* name, int staged) {
        const Kernel kernel(context, source(), definitions(shape, shared_room(context)), name);
        kernel.allow_shared(shared_bytes(shape, staged));
        return kernel;
    };
    guess_ = load("guess", shape.kept());
    sweep_ = load("factor_sweep", int(changed_.size()));
    if (by_rows(shape, shared_room(context))) {
        row_bytes_ = FactorSweepRows(shape).shared_bytes();
        sweep_.allow_shared(row_bytes_);
    }
    last_ = load("last_sweep", shape.kept());
    unit_ = load("unit_triangles", 0);
}

Index FactorSweepsCuda::scratch_size(const Context& context, const IluPattern& shape) {
    if (!serves(shape) || !by_rows(shape, shared_room(context))) return 0;
    Index entries = 0;
    for (const int e : shape.eliminations().changed_entries()) entries += shape.a_stencil.find(shape.stencil[e]) >= 0;
    return entries * shape.dof * shape.dof * shape.layout.slots() + 1;
}

void FactorSweepsCuda::run(Pass pass, const StructMatrix& a, double* scratch, const Factors& guessed,
                           const Factors& from, const Factors& to, double alpha, const PivotRules& rules,
                           const PivotRecords& records) const {
    const Kernel& kernel = pass == Pass::guess ? guess_ : pass == Pass::sweep ? sweep_ : last_;
    const int staged = pass == Pass::sweep ? int(changed_.size()) : shape_.kept();
    const bool rows = pass == Pass::sweep && row_bytes_ > 0;
    const Cut cut =
        rows ? Cut{unsigned(kernel.stream().properties().multiprocessors), FactorSweepRows::threads, row_bytes_}
             : Cut{0, threads, shared_bytes(shape_, staged)};
    Arguments arguments = arguments_of(guessed, from, to);
    arguments.a_blocks = scratch;
    arguments.ratio = records.ratio;
    arguments.failure = records.failure;
    arguments.failed = records.failed;
    arguments.alpha = alpha;
    arguments.tolerance = rules.tolerance;
    arguments.boost = rules.boost;
    arguments.a_stride = a.stride();
    const Index before = a.space().halo_slots();  // the pattern's slot 0 is the first one in memory
    double* place = scratch;                      // place of A's entries, then of the counter
    for (int e = 0; e < shape_.stencil.size(); ++e) {
        const int own = a.stencil().find(shape_.stencil[e]);
        const bool stored = own >= 0 && own < a.stored_entries();
        arguments.entry[e].a = stored ? a.values(own) - before : nullptr;
        if (!rows || !stored || !changes(e)) continue;
        arguments.entry[e].a = place;
        place += Index(shape_.dof) * shape_.dof * shape_.layout.slots();
    }
    if (rows) {
        kernel.stream().zero(place, sizeof(double));
        arguments.next_run = reinterpret_cast<int*>(place);
    }
    launch(kernel, cut, arguments);
}

void FactorSweepsCuda::make_unit(const Factors& factors) const {
    launch(unit_, {0, threads, 0}, arguments_of(factors, factors, factors));
}

bool FactorSweepsCuda::changes(int entry) const {
    return std::binary_search(changed_.begin(), changed_.end(), entry);
}

FactorSweepsCuda::Arguments FactorSweepsCuda::arguments_of(const Factors& guessed, const Factors& from,
                                                           const Factors& to) const {
    const Stencil& s = shape_.stencil;
    const Grid& g = shape_.layout.grid();
    const bool in_place = from.inverse.values == to.inverse.values;
    const Axes axes(shape_, row_bytes_ > 0 ? FactorSweepRows::planes : 1, in_place);
    Arguments arguments{};
    arguments.slots = int(shape_.layout.slots());
    arguments.nx = g.nx, arguments.ny = g.ny, arguments.nz = g.nz;
    arguments.outer = axes.outer, arguments.middle = axes.middle, arguments.inner = axes.inner;
    arguments.lines = axes.lines;
    const auto values = [&](const Factors& f, int e) {
        return e == s.diagonal() ? f.inverse.values : f.triangles.values + e * f.triangles.entry_stride;
    };
    for (int e = 0; e < s.size(); ++e)
        arguments.entry[e] = {nullptr, values(changes(e) ? from : guessed, e), values(to, e),
                              int(shape_.layout.slot_delta(s[e]))};
    return arguments;
}

void FactorSweepsCuda::launch(const Kernel& kernel, const Cut& cut, const Arguments& arguments) const {
    const int points = (on_tensor_cores(shape_.dof) ? rounds(shape_) : 1) * round_points(shape_.dof);
    const Index row_blocks = (Index(arguments.lines) * arguments.inner + points - 1) / points;
    const Index chunks = (arguments.middle + arguments.lines - 1) / arguments.lines * arguments.outer * row_blocks;
    kernel.launch({cut.blocks > 0 ? cut.blocks : unsigned(chunks)}, cut.threads, cut.shared, arguments);
}

rtc::Programs FactorSweepsCuda::programs(const IluPattern& shape) {
    return {{source(), definitions(shape, any_room)}};
}

}  // namespace hyperplane
