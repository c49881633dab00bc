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

/// Whether sweeps are staged, on a GPU whose thread blocks have `room` bytes of shared memory.
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
/// Number of resident thread blocks for which the kernel is compiled: the largest without register spills, where the
/// compiler by itself would leave room for fewer.
int blocks(const IluPattern& shape) {
    if (shape.dof == 1) return shape.stencil.radius() > 1 ? 2 : 3;
    if (shape.stencil.lower_size() <= 3) return 4;
    return shape.dof > 4 && shape.stencil.lower_size() <= 6 ? 2 : 1;
}

/// Number of rounds of the guess: as many as are needed to load the matrix by whole sectors of memory, and to give
/// blocks to be inverted to two warps or, with more than four unknowns, to all.
int guess_rounds(const IluPattern& shape) {
    for (int count = 4; count > 1; count /= 2)
        if (staged_bytes(shape, shape.kept(), count * round_points(shape.dof)) < 72 * 1024) return count;
    return 1;
}

/// The same of sweeps, which stage only the entries that change, on a GPU whose thread blocks have `room` bytes of
/// shared memory. With more than four unknowns and few entries there may be more points, as long as enough is left for
/// the first-level cache.
int rounds(const IluPattern& shape, Index room) {
    constexpr Index of_all_blocks = 160 * 1024;  // as measured (docs/log/par_ilu_sweep.md)
    const int least = guess_rounds(shape), changed = int(shape.eliminations().changed_entries().size());
    if (shape.dof <= 4 || shape.stencil.lower_size() > 6) return least;
    for (int count = 4; count > least; count /= 2)
        if (const Index bytes = staged_bytes(shape, changed + 1, count * round_points(shape.dof));
            bytes <= room && blocks(shape) * bytes <= of_all_blocks)
            return count;
    return least;
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
                {"ROUNDS", n(rounds(shape, room))},
                {"GUESS_ROUNDS", n(guess_rounds(shape))},
                {"BY_ROWS", n(rows)},
                {"OPERANDS_AS_RESULTS", "1"}});
    if (rows) all.merge(FactorSweepRows(shape).definitions());
    return all;
}

rtc::Source source() {
    return precond_source("precond/par_ilu/sweep.cuh");
}

/// Shared memory of passes with so many rounds that stage `entries` entries, and points of a thread block.
Index shared_bytes(const IluPattern& shape, int entries, int rounds) {
    return on_tensor_cores(shape.dof) ? staged_bytes(shape, entries, rounds * round_points(shape.dof)) : 0;
}
int block_points(const IluPattern& shape, int rounds) {
    return (on_tensor_cores(shape.dof) ? rounds : 1) * round_points(shape.dof);
}

}  // namespace

bool FactorSweepsCuda::serves(const IluPattern& shape) {
    return shape.dof <= 8 && !(shape.shares && shape.dof > 1) && shape.stencil.lower_size() <= most_lower &&
           shape.eliminations().count() <= most_pairs &&
           shape.layout.slots() * shape.dof * shape.dof < Index(1) << 32 &&
           shared_bytes(shape, shape.kept() + 1, guess_rounds(shape)) <= factor_sweep_shared_limit;
}

FactorSweepsCuda::FactorSweepsCuda(const Context& context, const IluPattern& shape, FactorSweepOrder order)
    : shape_(shape), changed_(shape.eliminations().changed_entries()) {
    const Index room = shared_room(context);
    const auto load = [&](const char* name, int entries, int rounds) {
        const Kernel kernel(context, source(), definitions(shape, room), name);
        const Cut cut{0, threads, shared_bytes(shape, entries, rounds), block_points(shape, rounds)};
        kernel.allow_shared(cut.shared);
        return Launch{kernel, cut};
    };
    const int changed = int(changed_.size()) + 1;  // and the blocks to be inverted
    guess_ = load("guess", shape.kept() + 1, guess_rounds(shape));
    sweep_ = load("factor_sweep", changed, rounds(shape, room));
    if (by_rows(shape, room)) {
        by_rows_ = true;
        sweep_.cut = {unsigned(context.stream().properties().multiprocessors), FactorSweepRows::threads,
                      FactorSweepRows(shape).shared_bytes(), 0};
        sweep_.kernel.allow_shared(sweep_.cut.shared);
    }
    last_ = shape.dof > 4 ? sweep_ : load("last_sweep", changed, rounds(shape, room));
    unit_ = load("unit_triangles", 0, guess_rounds(shape));
    if (FactorSweepLevels::serves(shape, order)) levels_.emplace(context, shape, definitions(shape, room), room);
}

Index FactorSweepsCuda::scratch_size(const Context& context, const IluPattern& shape) {
    if (!serves(shape) || !by_rows(shape, shared_room(context))) return 0;
    Index entries = 0;
    for (const int e : shape.eliminations().changed_entries()) entries += shape.a_stencil.find(shape.stencil[e]) >= 0;
    return entries * shape.dof * shape.dof * shape.layout.slots() + 1;
}

void FactorSweepsCuda::run(Pass pass, const StructMatrix& a, double* scratch, const Factors& unchanged,
                           const Factors& from, const Factors& to, double alpha, const PivotRules& rules,
                           const PivotRecords& records) const {
    const Launch& launched = pass.is_guess() ? guess_ : pass.is_last() ? last_ : sweep_;
    const bool rows = !pass.is_guess() && by_rows_;
    Arguments arguments = arguments_of(unchanged, from, to);
    arguments.a_blocks = scratch;
    if (pass.is_last()) report_to(records, arguments);
    set(alpha, rules, a.stride(), arguments);
    const Index before = a.space().halo_slots();  // the pattern's slot 0 is the first one in memory
    // A's entries in the order of factors are the initial guess of all but the diagonal, too. In place, neighbours read
    // it where they find new values later.
    const bool guess_is_a = by_rows_ && from.inverse.values != to.inverse.values;
    double* place = scratch;  // place of A's entries, then of the counter
    for (int e = 0; e < shape_.stencil.size(); ++e) {
        const int own = a.stencil().find(shape_.stencil[e]);
        const bool stored = own >= 0 && own < a.stored_entries();
        arguments.entry[e].a = stored ? a.values(own) - before : nullptr;
        if (!by_rows_ || !stored || !changes(e)) continue;
        if (rows) arguments.entry[e].a = place;
        if (guess_is_a && e != shape_.stencil.diagonal()) {
            if (pass.is_guess()) arguments.entry[e].after = nullptr;
            if (pass.is_first()) arguments.entry[e].before = place;
        }
        place += Index(shape_.dof) * shape_.dof * shape_.layout.slots();
    }
    if (rows) {
        launched.kernel.stream().zero(place, sizeof(double));
        arguments.next_run = reinterpret_cast<int*>(place);
    }
    launch(launched, arguments);
}

void FactorSweepsCuda::make_by_levels(const StructMatrix& a, const Factors& result, const Factors& spare, int sweeps,
                                      double alpha, const PivotRules& rules, const PivotRecords& records) const {
    Arguments arguments = arguments_of(result, result, result);
    report_to(records, arguments);
    set(alpha, rules, a.stride(), arguments);
    for (int e = 0; e < shape_.stencil.size(); ++e)
        if (const int own = a.stencil().find(shape_.stencil[e]); own >= 0) arguments.entry[e].a = a.values(own);
    levels_->make(arguments, spare.triangles.values, sweeps);
}

void FactorSweepsCuda::make_unit(const Factors& factors, const PivotRecords& records) const {
    Arguments arguments = arguments_of(factors, factors, factors);
    report_to(records, arguments);
    launch(unit_, arguments);
}

void FactorSweepsCuda::report_to(const PivotRecords& records, Arguments& arguments) {
    arguments.ratio = records.ratio;
    arguments.failure = records.failure;
    arguments.failed = records.failed;
}

void FactorSweepsCuda::set(double alpha, const PivotRules& rules, Index a_stride, Arguments& arguments) {
    arguments.alpha = alpha;
    arguments.tolerance = rules.tolerance;
    arguments.boost = rules.boost;
    arguments.a_stride = a_stride;
}

bool FactorSweepsCuda::changes(int entry) const {
    return std::binary_search(changed_.begin(), changed_.end(), entry);
}

FactorSweepsCuda::Arguments FactorSweepsCuda::arguments_of(const Factors& unchanged, const Factors& from,
                                                           const Factors& to) const {
    const Stencil& s = shape_.stencil;
    const Grid& g = shape_.layout.grid();
    const bool in_place = from.inverse.values == to.inverse.values;
    const Axes axes(shape_, by_rows_ ? FactorSweepRows::planes : 1, in_place);
    Arguments arguments{};
    arguments.slots = int(shape_.layout.slots());
    arguments.nx = g.nx, arguments.ny = g.ny, arguments.nz = g.nz;
    arguments.outer = axes.outer, arguments.middle = axes.middle, arguments.inner = axes.inner;
    arguments.lines = axes.lines;
    const auto values = [&](const Factors& f, int e) {
        return e == s.diagonal() ? f.inverse.values : f.triangles.values + e * f.triangles.entry_stride;
    };
    for (int e = 0; e < s.size(); ++e)
        arguments.entry[e] = {nullptr, values(changes(e) ? from : unchanged, e), values(changes(e) ? to : unchanged, e),
                              int(shape_.layout.slot_delta(s[e]))};
    return arguments;
}

void FactorSweepsCuda::launch(const Launch& pass, const Arguments& arguments) const {
    const Cut& cut = pass.cut;
    unsigned blocks = cut.blocks;
    if (blocks == 0) {
        const Index row_blocks = (Index(arguments.lines) * arguments.inner + cut.points - 1) / cut.points;
        blocks = unsigned((arguments.middle + arguments.lines - 1) / arguments.lines * arguments.outer * row_blocks);
    }
    pass.kernel.launch({blocks}, cut.threads, cut.shared, arguments);
}

rtc::Programs FactorSweepsCuda::programs(const IluPattern& shape) {
    rtc::Programs all{{source(), definitions(shape, any_room)}};
    if (FactorSweepLevels::serves(shape, FactorSweepOrder::by_size))
        all.push_back(FactorSweepLevels::program(shape, definitions(shape, any_room)));
    return all;
}

}  // namespace hyperplane
