// SPDX-License-Identifier: BSD-3-Clause
#include "precond/subdomain/solve_cuda.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "precond/kernel_set.hpp"
#include "precond/subdomain/ring_schedule.hpp"

namespace hyperplane {
namespace {

constexpr int graph_threads = 256, barriers = RingSchedule::ahead;
constexpr Index shared_of_processor = 227 * 1024, shared_of_system = 1024;  // of a thread block

Index even(Index values) {
    return (values + 1) / 2 * 2;
}

/// The numbers for which all kernels of subdomains of one shape are compiled.
struct Shape {
    Partition partition;
    Stencil stencil;
    SubdomainOrder order;
    SubdomainCells cells;
    LayoutKind layout;  ///< layout of vectors

    Shape(const Partition& c, const Stencil& within, int dof, LayoutKind kind, SubdomainVariant variant,
          FactorStorage storage)
        : partition(c),
          stencil(within),
          order(c, within, dof, rows_of(Backend::cuda, variant), storage),
          cells(c, within),
          layout(kind) {}

    Index vector() const { return even(Index(order.dof) * cells.cells + 2 * cells.margin); }
    /// Where the cells of each step begin in cells_in_order, and the end. A step's last cell is repeated until warps
    /// are full.
    std::vector<int> cells_begin() const {
        std::vector<int> begin{0};
        for (int step = 0; step < order.steps(); ++step)
            begin.push_back(begin.back() + Partition::parts(whole_warps(order.count(step) * order.dof), order.dof));
        return begin;
    }
    int most_rows() const { return whole_warps(order.most_points() * order.dof); }
    static int whole_warps(int rows) { return (rows + 31) / 32 * 32; }
    bool unrolled() const { return order.lower * order.dof <= 112; }
    int most_levels() const {
        return 1 + stencil.level_map().level({partition.size.x - 1, partition.size.y - 1, partition.size.z - 1});
    }
    /// Number of ints of a subdomain's two graphs.
    Index graph() const { return 2 * (1 + most_levels() + 1 + partition.points()); }

    rtc::Definitions definitions(int threads) const {
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
};

/// How the kernels that go level by level use a multiprocessor.
struct StepShape {
    int workers, rows, blocks = 1;
    bool staged = false;
    Index ring = 0, shared = 0;  ///< values in the ring; bytes of shared memory

    StepShape(const Shape& s, const SubdomainTuning& tuning) {
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
    static bool both_fit(const Shape& s, Index ring) {
        const int steps = s.order.steps();
        return RingSchedule(s.order.size, 0, 2 * steps, ring).fits && RingSchedule(s.order.size, 0, steps, ring).fits &&
               RingSchedule(s.order.size, steps, 2 * steps, ring).fits;
    }
};

rtc::Definitions step_definitions(const Shape& s, const StepShape& shape, int first, int last) {
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

rtc::Definitions graph_definitions(const Shape& s, SubdomainVariant variant) {
    rtc::Definitions all = s.definitions(graph_threads);
    std::vector<int> x, y, z;
    for (int e = 0; e < s.order.lower; ++e) {
        x.push_back(s.stencil[e].x);
        y.push_back(s.stencil[e].y);
        z.push_back(s.stencil[e].z);
    }
    all["UNROLLED"] = "0";  // a thread's entry is not known at compile time
    all["OFFSET_X"] = rtc::array_of(x);
    all["OFFSET_Y"] = rtc::array_of(y);
    all["OFFSET_Z"] = rtc::array_of(z);
    all["MOST_LEVELS"] = std::to_string(s.most_levels());
    all["SPIN"] = variant == SubdomainVariant::spin ? "1" : "0";
    all["EDGES"] = variant == SubdomainVariant::dag_edge ? "1" : "0";
    return all;
}

rtc::Source step_source() {
    return {rtc::precond_texts(), "precond/subdomain/solve.cuh"};
}
rtc::Source graph_source() {
    return {rtc::precond_texts(), "precond/reproductions/spin_and_dag.cuh"};
}

bool needs_graph(SubdomainVariant variant) {
    return variant == SubdomainVariant::dag_vertex || variant == SubdomainVariant::dag_edge;
}

/// The first step of each kernel, and the step after its last one.
std::vector<std::pair<int, int>> parts_of(const SubdomainOrder& order, SubdomainVariant variant) {
    const int steps = order.steps();
    if (variant == SubdomainVariant::unfused) return {{0, steps}, {steps, 2 * steps}};
    return {{0, 2 * steps}};
}

std::vector<int> cells_in_order(const Shape& s, SubdomainVariant variant) {
    if (!goes_by_steps(variant)) return s.cells.of_point;
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

Index graph_shared(const Shape& s, SubdomainVariant variant) {
    return 8 * s.vector() + (variant == SubdomainVariant::spin ? 4 * s.partition.points() : 0);
}

SubdomainSolveCuda::Arguments arguments_of(const Partition& partition, const Layout& layout) {
    SubdomainSolveCuda::Arguments a{};
    a.slots = layout.slots();
    a.nx = partition.grid.nx, a.ny = partition.grid.ny, a.nz = partition.grid.nz;
    a.level_y = layout.levels().y, a.level_z = layout.levels().z;
    a.count_x = partition.count().x, a.count_y = partition.count().y;
    return a;
}

}  // namespace

SubdomainSolveCuda::SubdomainSolveCuda(const Context& context, const SubdomainFactors& factors, LayoutKind layout,
                                       SubdomainVariant variant, const SubdomainTuning& tuning)
    : layout_(layout) {
    const Partition& partition = factors.partition();
    const Shape s(partition, factors.stencil(), factors.order().dof, layout, variant, factors.storage());
    cells_ = copied_to(context, "factor: places", cells_in_order(s, variant));
    if (goes_by_steps(variant)) {
        const StepShape shape(s, tuning);
        threads_ = unsigned(shape.threads());
        shared_ = shape.shared;
        for (const auto& [first, last] : parts_of(s.order, variant))
            kernels_.push_back(
                rtc::Kernel<Arguments>(step_source(), step_definitions(s, shape, first, last), "subdomain_solve"));
    } else {
        threads_ = graph_threads;
        shared_ = graph_shared(s, variant);
        kernels_.push_back(rtc::Kernel<Arguments>(graph_source(), graph_definitions(s, variant), "subdomain_walk"));
    }
    for (const rtc::Kernel<Arguments>& kernel : kernels_) kernel.allow_shared(shared_);
    if (!needs_graph(variant)) return;
    graph_ = Buffer<int>(context, "preconditioner: graph", partition.subdomains() * s.graph());
    const rtc::Kernel<Arguments> find(graph_source(), graph_definitions(s, variant), "subdomain_graph");
    const Index shared = 2 * partition.points() * Index(sizeof(int));
    find.allow_shared(shared);
    Arguments a = arguments_of(partition, Layout(LayoutKind::natural, partition.grid, {}));
    a.graph = graph_.data();
    find.launch({unsigned(partition.subdomains())}, graph_threads, shared, a);
}

void SubdomainSolveCuda::apply(const SubdomainFactors& factors, const Vector& r, Vector& z) const {
    Arguments a = arguments_of(factors.partition(), r.layout());
    a.factors = factors.data();
    a.subdomain_values = factors.order().values;
    a.cells = cells_.data();
    a.graph = const_cast<int*>(graph_.data());
    a.in = r.data();
    a.out = z.data();
    for (const rtc::Kernel<Arguments>& kernel : kernels_) {
        kernel.launch({unsigned(factors.partition().subdomains())}, threads_, shared_, a);
        a.in = z.data();
    }
}

Index SubdomainSolveCuda::bytes(const Partition& partition, const Stencil& stencil, int dof, SubdomainVariant variant,
                                FactorStorage storage) {
    const Shape s(partition, stencil, dof, LayoutKind::natural, variant, storage);
    const Index graph = needs_graph(variant) ? partition.subdomains() * s.graph() : 0;
    return (Index(cells_in_order(s, variant).size()) + graph) * Index(sizeof(int));
}

std::vector<rtc::KernelResources> SubdomainSolveCuda::compile(const Partition& partition, const Stencil& stencil,
                                                              int dof, SubdomainVariant variant, FactorStorage storage,
                                                              const std::string& architecture,
                                                              const SubdomainTuning& tuning) {
    const Shape s(partition, stencil, dof, LayoutKind::natural, variant, storage);
    std::vector<rtc::KernelResources> all, some;
    if (!goes_by_steps(variant)) {
        rtc::compile(graph_source(), graph_definitions(s, variant), architecture, &all);
        return all;
    }
    const StepShape shape(s, tuning);
    for (const auto& [first, last] : parts_of(s.order, variant)) {
        rtc::compile(step_source(), step_definitions(s, shape, first, last), architecture, &some);
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

}  // namespace hyperplane
