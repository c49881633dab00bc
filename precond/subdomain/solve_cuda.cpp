// SPDX-License-Identifier: BSD-3-Clause
#include "precond/subdomain/solve_cuda.hpp"

#include <algorithm>

#include "precond/kernel_set.hpp"
#include "precond/reproductions/spin_and_dag.hpp"
#include "precond/subdomain/ring_schedule.hpp"

namespace hyperplane {
namespace {

constexpr int barriers = RingSchedule::ahead;
constexpr Index shared_of_processor = 227 * 1024, shared_of_system = 1024;  // of a thread block

struct StepShape {
    int workers, rows, blocks = 1;
    bool staged = false;
    Index ring = 0, shared = 0;  ///< values in the ring; bytes of shared memory

    StepShape(const SubdomainShape& s, const SubdomainTuning& tuning) {
        const int most_rows = s.most_rows();
        workers = std::min(most_rows, tuning.workers > 0 ? tuning.workers : most_rows);
        rows = (most_rows + workers - 1) / workers;
        const Index size = bytes_of(s.order.storage);
        const Index largest = *std::max_element(s.order.size.begin(), s.order.size.end());
        // The choice between more blocks and more bytes in flight for each block is as measured
        // (docs/log/subdomain_ildu0.md). With short steps more blocks are better, so in reduced precision the ring has
        // as many coefficients as in double precision, in fewer bytes.
        const Index in_flight = tuning.ring / (workers <= 64 ? Index(sizeof(double)) : size);
        const Index wanted = std::max(in_flight, s.order.dof <= 4 ? 2 * largest : 5 * largest / 2);
        // A thread takes up to 56 registers.
        const int most = std::clamp(65536 / 56 / threads(), 1, s.order.dof == 1 ? 16 : 8);
        for (blocks = most; blocks >= 1 && !staged; --blocks) {
            ring = (shared_of_processor / blocks - shared_of_system - 8 * (s.vector() + barriers)) / size;
            ring = std::min(ring, 4 * wanted) * size / 16 * 16 / size;
            staged = ring >= wanted && both_fit(s, ring);
        }
        blocks = staged ? blocks + 1 : int(std::clamp<Index>(shared_of_processor / (8 * s.vector() + 1024), 1, 4));
        if (!staged) ring = 0;
        shared = 8 * (s.vector() + (staged ? barriers : 0)) + ring * size;
    }
    int threads() const { return workers + 32; }

private:
    static bool both_fit(const SubdomainShape& s, Index ring) {
        const int steps = s.order.steps();
        return RingSchedule(s.order.size, 0, 2 * steps, ring).fits && RingSchedule(s.order.size, 0, steps, ring).fits &&
               RingSchedule(s.order.size, steps, 2 * steps, ring).fits;
    }
};

rtc::Definitions step_definitions(const SubdomainShape& s, const StepShape& shape, int first, int last) {
    rtc::Definitions all = s.definitions(shape.threads());
    const SubdomainOrder& order = s.order;
    std::vector<int> newest, older, rows, pieces;
    for (int e = 0; e < order.lower; ++e) (order.newest[e] ? newest : older).push_back(e);
    const std::vector<int> begin = s.cells_begin();
    for (int step = 0; step < 2 * order.steps(); ++step)
        rows.insert(rows.end(), {begin[std::min(step, 2 * order.steps() - 1 - step)], order.count(step) * order.dof});
    rows.insert(rows.end(), {0, 0});
    // If nothing is staged, pieces are prefetched to the second-level cache this far ahead.
    const Index announced = 64 * 1024 / bytes_of(order.storage);
    const Index largest = *std::max_element(order.size.begin(), order.size.end());
    RingSchedule schedule(order.size, first, last, shape.staged ? shape.ring : std::max(announced, 3 * largest));
    for (int step = 0; step < last; ++step)
        pieces.insert(pieces.end(), {order.at[step], order.size[step], schedule.place[step], schedule.started[step]});
    const int kept = int(newest.size()) * order.dof;
    constexpr Index constant_memory = 60 * 1024;
    all["STEPS_IN"] =
        Index((rows.size() + pieces.size()) * sizeof(int)) <= constant_memory ? "__constant__" : "__device__";
    all["STEPS"] = std::to_string(order.steps());
    all["FIRST"] = std::to_string(first);
    all["LAST"] = std::to_string(last);
    all["CONSUMERS"] = std::to_string(shape.workers);
    all["ROWS"] = std::to_string(shape.rows);
    all["BLOCKS"] = std::to_string(shape.blocks);
    all["STAGED"] = shape.staged ? "1" : "0";
    all["RING"] = std::to_string(shape.ring);
    all["BARRIERS"] = std::to_string(barriers);
    all["NEWEST"] = rtc::array_of(newest);
    all["NEWEST_COUNT"] = std::to_string(newest.size());
    all["OLDER"] = rtc::array_of(older);
    all["OLDER_COUNT"] = std::to_string(older.size());
    all["KEPT"] = std::to_string(s.unrolled() && kept <= 16 ? kept : 0);
    all["STEP_ROWS"] = rtc::array_of(rows);
    all["STEP_PIECES"] = rtc::array_of(pieces);
    return all;
}

/// The first step of each kernel, and the step after its last one.
std::vector<std::pair<int, int>> parts_of(const SubdomainOrder& order, SubdomainVariant variant) {
    const int steps = order.steps();
    if (variant == SubdomainVariant::unfused) return {{0, steps}, {steps, 2 * steps}};
    return {{0, 2 * steps}};
}

std::vector<int> cells_in_order(const SubdomainShape& s) {
    // After the last step there is room for what warps without a row read.
    const std::vector<int> begin = s.cells_begin();
    std::vector<int> cells(std::size_t(begin.back() + 2 * s.most_rows()), 0);
    for (int step = 0; step < s.order.steps(); ++step)
        for (int at = begin[step]; at < begin[step + 1]; ++at) {
            const int number = s.order.first(step) + std::min(at - begin[step], s.order.count(step) - 1);
            cells[at] = s.cells.of_point[s.order.points[number]];
        }
    return cells;
}

SubdomainPrograms programs_of(const SubdomainShape& s, SubdomainVariant variant, const SubdomainTuning& tuning) {
    if (!goes_by_steps(variant)) return spin_and_dag_programs(s, variant);
    const StepShape shape(s, tuning);
    SubdomainPrograms programs{.source = precond_source("precond/subdomain/solve.cuh"),
                               .definitions = {},
                               .kernel = "subdomain_solve",
                               .threads = unsigned(shape.threads()),
                               .shared = shape.shared,
                               .cells = cells_in_order(s)};
    for (const auto& [first, last] : parts_of(s.order, variant))
        programs.definitions.push_back(step_definitions(s, shape, first, last));
    return programs;
}

SubdomainSolveCuda::Arguments arguments_of(const Partition& partition, const Layout& layout) {
    SubdomainSolveCuda::Arguments a{};
    a.slots = layout.slots_in_memory();  // the distance of the components
    a.nx = partition.grid.nx, a.ny = partition.grid.ny, a.nz = partition.grid.nz;
    a.level_y = layout.levels().y, a.level_z = layout.levels().z;
    a.count_x = partition.count().x, a.count_y = partition.count().y;
    return a;
}

}  // namespace

SubdomainShape::SubdomainShape(const Partition& partition, const Stencil& stencil, int dof, LayoutKind layout,
                               SubdomainVariant variant, FactorStorage storage)
    : partition(partition),
      stencil(stencil),
      order(partition, stencil, dof, rows_of(Backend::cuda, variant), storage),
      cells(partition, stencil),
      layout(layout) {}

Index SubdomainShape::vector() const {
    return (Index(order.dof) * cells.cells + 2 * cells.margin + 1) / 2 * 2;
}

std::vector<int> SubdomainShape::cells_begin() const {
    std::vector<int> begin{0};
    for (int step = 0; step < order.steps(); ++step)
        begin.push_back(begin.back() + Partition::parts(whole_warps(order.count(step) * order.dof), order.dof));
    return begin;
}

rtc::Definitions SubdomainShape::definitions(int threads) const {
    return {{"STORAGE", std::to_string(int(order.storage))},
            {"DOF", std::to_string(order.dof)},
            {"LOWER", std::to_string(order.lower)},
            {"DELTA", rtc::array_of(cells.delta)},
            {"SX", std::to_string(partition.size.x)},
            {"SY", std::to_string(partition.size.y)},
            {"SZ", std::to_string(partition.size.z)},
            {"PITCH", std::to_string(cells.pitch)},
            {"CELLS", std::to_string(cells.cells)},
            {"MARGIN", std::to_string(cells.margin)},
            {"THREADS", std::to_string(threads)},
            {"NATURAL", layout == LayoutKind::natural ? "1" : "0"},
            {"UNROLLED", unrolled() ? "1" : "0"}};
}

SubdomainSolveCuda::SubdomainSolveCuda(const Context& context, const SubdomainFactors& factors, LayoutKind layout,
                                       SubdomainVariant variant, const SubdomainTuning& tuning)
    : layout_(layout) {
    const Partition& partition = factors.partition();
    const SubdomainShape s(partition, factors.stencil(), factors.order().dof, layout, variant, factors.storage());
    const SubdomainPrograms programs = programs_of(s, variant, tuning);
    cells_ = copied_to(context, "factor: places", programs.cells);
    threads_ = programs.threads;
    shared_ = programs.shared;
    for (const rtc::Definitions& definitions : programs.definitions) {
        kernels_.push_back(rtc::Kernel<Arguments>(context, programs.source, definitions, programs.kernel));
        kernels_.back().allow_shared(shared_);
    }
    if (programs.graph == 0) return;
    graph_ = Buffer<int>(context, "preconditioner: graph", partition.subdomains() * programs.graph);
    Arguments a = arguments_of(partition, Layout(LayoutKind::natural, partition.grid, {}));
    a.graph = graph_.data();
    find_graphs(context, programs, partition, a);
}

void SubdomainSolveCuda::apply(const SubdomainFactors& factors, const Vector& r, Vector& z) const {
    const Vector* in = &r;
    for (const rtc::Kernel<Arguments>& kernel : kernels_) {
        launch(kernel, factors, *in, z);
        in = &z;
    }
}

void SubdomainSolveCuda::lower_solve(const SubdomainFactors& factors, const Vector& r, Vector& y) const {
    launch(kernels_.front(), factors, r, y);
}

void SubdomainSolveCuda::launch(const rtc::Kernel<Arguments>& kernel, const SubdomainFactors& factors, const Vector& in,
                                Vector& out) const {
    Arguments a = arguments_of(factors.partition(), in.layout());
    a.factors = factors.data();
    a.subdomain_values = factors.order().values;
    a.cells = cells_.data();
    a.graph = const_cast<int*>(graph_.data());
    a.in = in.data();
    a.out = out.data();
    kernel.launch({unsigned(factors.partition().subdomains())}, threads_, shared_, a);
}

Index SubdomainSolveCuda::bytes(const Partition& partition, const Stencil& stencil, int dof, SubdomainVariant variant,
                                FactorStorage storage) {
    const SubdomainPrograms programs =
        programs_of({partition, stencil, dof, LayoutKind::natural, variant, storage}, variant, {});
    return (Index(programs.cells.size()) + partition.subdomains() * programs.graph) * Index(sizeof(int));
}

rtc::Programs SubdomainSolveCuda::programs(const Partition& partition, const Stencil& stencil, int dof,
                                           SubdomainVariant variant, FactorStorage storage,
                                           const SubdomainTuning& tuning) {
    const SubdomainPrograms made =
        programs_of({partition, stencil, dof, LayoutKind::natural, variant, storage}, variant, tuning);
    rtc::Programs all;
    for (const rtc::Definitions& definitions : made.definitions) all.push_back({made.source, definitions});
    return all;
}

}  // namespace hyperplane
