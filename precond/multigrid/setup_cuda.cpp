// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/setup_cuda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "core/grid/grid_point.hpp"
#include "precond/kernel_set.hpp"
#include "precond/multigrid/weight_formula.hpp"

namespace hyperplane::multigrid {
namespace {

constexpr int most_terms = 3000;
constexpr int threads_of_layer = 128, coupling_threads = 256, coupling_blocks = 1024, coupling_tile = 16;

rtc::Source setup_source() {
    return precond_source("precond/multigrid/setup.cuh");
}
rtc::Source couplings_source() {
    return precond_source("precond/multigrid/couplings.cuh");
}

/// The sums of both kernels, as text, and the fine points that they read, relative to the one that coincides with a
/// coarse point.
class Terms {
public:
    /// Those of a step, which are put together once: that takes a millisecond, and most steps of a hierarchy have the
    /// same ones. They depend on the extents of grids only where offsets may leave the coarse one.
    static const Terms& of(const SetupShape& shape, const Coarsening& grids) {
        std::vector<int> key{shape.dof, int(shape.storage)};
        const std::array<int, 3> extents{grids.coarse.nx, grids.coarse.ny, grids.coarse.nz};
        for (int axis = 0; axis < 3; ++axis)
            for (const int value : {int(grids.axes[axis]), int(grids.coarse.periodic[axis]),
                                    std::min(extents[axis], shape.stencil.radius() + 2)})
                key.push_back(value);
        for (const Int3 o : shape.stencil.offsets()) key.insert(key.end(), {o.x, o.y, o.z});
        static std::mutex mutex;
        static std::map<std::vector<int>, Terms> known;
        const std::lock_guard lock(mutex);
        return known.try_emplace(std::move(key), shape, grids).first->second;
    }

    Terms(const SetupShape& shape, const Coarsening& grids)
        : shape_(shape), grids_(grids), places_(grids), coarse_(coarse_stencil(shape.stencil, grids)) {
        // Weights that a weight needs come before it, and those of one line together, while its values are in the
        // caches.
        constexpr int order[] = {0, -1, 1};
        for (const int z : order)
            for (const int y : order)
                for (const int x : order)
                    if (places_.of[number_of({x, y, z})] >= 0) add_weight({x, y, z});
        for (int number = 0; number < 27; ++number)
            if (places_.of[number] >= 0) add_products(offset_of(number));
        add_products({});
    }

    const std::vector<Int3>& positions() const { return positions_; }
    const Stencil& coarse() const { return coarse_; }
    int coarse_stored() const {
        return shape_.storage == MatrixStorage::lower ? coarse_.diagonal() + 1 : coarse_.size();
    }
    /// A thread block has four lines of 32 coarse points in each of so many planes. With more planes fewer values are
    /// read again, but fewer registers are left for a point's sums.
    int layers() const { return coarse_stored() <= 20 ? 4 : 2; }
    bool fits() const {
        return terms_ <= most_terms && positions_.size() <= std::size_t(most_positions) &&
               std::max(coarse_stored(), shape_.stored_entries()) <= most_setup_entries;
    }
    rtc::Definitions definitions() const {
        rtc::Definitions all = StepLaunch::definitions(grids_, shape_.dof, layers() * threads_of_layer);
        all.insert({{"ENTRIES", fmt::format("{}", shape_.stencil.size())},
                    {"STORED", fmt::format("{}", shape_.stored_entries())},
                    {"CHILDREN", fmt::format("{}", places_.count)},
                    {"COARSE_ENTRIES", fmt::format("{}", coarse_stored())},
                    {"COARSE_DIAGONAL", fmt::format("{}", coarse_.diagonal())},
                    {"WEIGHTS", weights_},
                    {"PRODUCT", product_}});
        return all;
    }

private:
    int position(Int3 at) {
        const auto found = std::find(positions_.begin(), positions_.end(), at);
        if (found != positions_.end()) return int(found - positions_.begin());
        positions_.push_back(at);
        return int(positions_.size()) - 1;
    }

    /// The weight of the child at s, from the entries of the child's row.
    void add_weight(Int3 s) {
        const int all = axes_of(s);
        const auto add_values = [&](auto wanted) {
            for (int e = 0; e < shape_.stencil.size(); ++e)
                if (const Int3 o = shape_.stencil[e]; wanted(signs_on(s, o)))
                    weights_ += fmt::format("VALUE({},{}) ", e, position(s + o));
        };
        weights_ += fmt::format("CHILD({}) ", position(s));
        add_values([](Int3 t) { return t == Int3{}; });
        weights_ += "OWN ";
        for (int subset = 1; subset <= all; ++subset) {
            if ((subset & all) != subset) continue;
            add_values([&](Int3 t) { return t == -part_of(s, subset); });
            weights_ += subset == all
                            ? "SUBSET "
                            : fmt::format("SUBSET_TIMES({}) ", places_.of[number_of(part_of(s, all & ~subset))]);
        }
        add_values([&](Int3 t) {
            if (t == Int3{}) return false;
            for (int subset = 1; subset <= all; ++subset)
                if ((subset & all) == subset && t == -part_of(s, subset)) return false;
            return true;
        });
        weights_ += fmt::format("END({},{},{},{}) ", places_.of[number_of(s)], s.x, s.y, s.z);
    }

    /// P(i, I) a_i(o) P(i + o, J) for the child i at s and all o and J. i + o is the child of J at t = s + o - 2 (J -
    /// I), if t has no component above 1.
    void add_products(Int3 s) {
        std::map<int, std::string> of_planes;
        for (int e = 0; e < shape_.stencil.size(); ++e) {
            const Int3 o = shape_.stencil[e];
            std::string of_entry;
            for (int to = 0; to < coarse_stored(); ++to) {
                const Int3 t = s + o + -grids_.first_child(coarse_[to]);
                if (std::max({std::abs(t.x), std::abs(t.y), std::abs(t.z)}) > 1 || !grids_.has_children_at(t)) continue;
                const int place = places_.of[number_of(t)];
                of_entry += place < 0 ? fmt::format("TO_ITSELF({}) ", to) : fmt::format("TO_CHILD({},{}) ", to, place);
                ++terms_;
            }
            if (of_entry.empty()) continue;
            of_planes[s.z + o.z] +=
                (e < shape_.stored_entries()
                     ? fmt::format("STORED_AT({}) ", e)
                     : fmt::format("MIRRORED_AT({},{}) ", shape_.stencil.mirror(e), position(s + o))) +
                of_entry;
        }
        if (of_planes.empty()) return;
        std::string of_child = fmt::format("HERE({}) ", position(s));
        for (const auto& [z, terms] : of_planes) of_child += fmt::format("OF_PLANE({},{}) ", z, terms);
        const int place = places_.of[number_of(s)];
        product_ += place < 0 ? fmt::format("OF_ITSELF({}) ", of_child)
                              : fmt::format("OF_CHILD({},{},{},{},{}) ", place, s.x, s.y, s.z, of_child);
    }

    SetupShape shape_;
    Coarsening grids_;  ///< of this step or of one with the same terms
    Places places_;
    Stencil coarse_;
    std::vector<Int3> positions_;
    std::string weights_, product_;
    int terms_ = 0;
};

template <class T>
SetupArguments arguments(const StructMatrix& a, const WeightsView<T>& weights, const GridStep& step,
                         const std::vector<Int3>& positions) {
    SetupArguments all{};
    all.a_stride = a.stride();
    all.step = step;
    slot_deltas(a.layout(), positions, all.position);
    for (int place = 0; place < weights.places.count; ++place)
        all.weight[place] = const_cast<double*>(weights.values) - weights.order.halo_slots() + place * weights.stride;
    return all;
}

/// A coefficient's values from the beginning of its memory.
template <class Matrix>
auto* in_memory(Matrix& a, int entry, int row = 0, int col = 0) {
    return a.values(entry, row, col) - a.layout().halo_slots();
}

StepLaunch launch_for(const StructMatrix& a, const Layout& planes, const Layout& coarse, const Layout& order,
                      int layers) {
    return {a.layout(), coarse, order, planes.begin_plane(), planes.end_plane(), layers * threads_of_layer, layers};
}

/// Thread blocks that sum couplings of a plane.
int coupling_pieces(const Grid& grid) {
    const auto tiles = [](int extent) { return (extent + coupling_tile - 1) / coupling_tile; };
    return std::clamp(coupling_blocks / grid.nz, 1, tiles(grid.nx) * tiles(grid.ny));
}

rtc::Definitions couplings_definitions(const SetupShape& shape) {
    rtc::Definitions all = grid_point_definitions(Layout(), shape.stencil.offsets());
    for (const char* of_layout : {"NATURAL", "LEVEL_Y", "LEVEL_Z"}) all.erase(of_layout);
    all.insert({{"THREADS", fmt::format("{}", coupling_threads)},
                {"DOF", fmt::format("{}", shape.dof)},
                {"ENTRIES", fmt::format("{}", shape.stencil.size())},
                {"STORED", fmt::format("{}", shape.stored_entries())}});
    return all;
}

}  // namespace

SetupCuda::SetupCuda(const Context& context, const SetupShape& shape, const Coarsening& grids)
    : coarse_(Terms::of(shape, grids).coarse()) {
    const Terms& terms = Terms::of(shape, grids);
    positions_ = terms.positions();
    layers_ = terms.layers();
    const rtc::Definitions definitions = terms.definitions();
    interpolate_ = {context, setup_source(), definitions, "interpolate"};
    product_ = {context, setup_source(), definitions, "product"};
}

bool SetupCuda::takes(const SetupShape& shape, const Coarsening& grids) {
    return !grids.fine.any_periodic() && Terms::of(shape, grids).fits();
}

void SetupCuda::interpolate(const StructMatrix& a, const Layout& planes, const WeightsView<double>& weights,
                            float* singles) const {
    const StepLaunch launch = launch_for(a, planes, weights.coarse, weights.order, layers_);
    SetupArguments all = arguments(a, weights, launch.step(), positions_);
    for (int e = 0; e < a.stored_entries(); ++e) all.own[e] = in_memory(a, e);
    all.rounds = singles != nullptr;
    for (int place = 0; singles && place < weights.places.count; ++place)
        all.single_weight[place] = singles - weights.order.halo_slots() + place * weights.stride;
    interpolate_.launch(launch.blocks(), unsigned(layers_ * threads_of_layer), 0, all);
}

void SetupCuda::product(const StructMatrix& a, const Layout& planes, const WeightsView<const double>& weights,
                        StructMatrix& coarse) const {
    const StepLaunch launch = launch_for(a, planes, coarse.layout(), weights.order, layers_);
    SetupArguments all = arguments(a, weights, launch.step(), positions_);
    for (int e = 0; e < coarse.stored_entries(); ++e) {
        all.coupled[e] = int(weights.order.slot_delta(coarse_[e]));
        all.offset[0][e] = coarse_[e].x;
        all.offset[1][e] = coarse_[e].y;
        all.offset[2][e] = coarse_[e].z;
    }
    for (int row = 0; row < a.dof(); ++row)
        for (int col = 0; col < a.dof(); ++col) {
            all.on_diagonal = row == col;
            for (int e = 0; e < a.stored_entries(); ++e) {
                all.own[e] = in_memory(a, e, row, col);
                all.mirrored[e] = in_memory(a, e, col, row);
            }
            for (int e = 0; e < coarse.stored_entries(); ++e) all.coarse[e] = in_memory(coarse, e, row, col);
            product_.launch(launch.blocks(), unsigned(layers_ * threads_of_layer), 0, all);
        }
}

CouplingSums::CouplingSums(const StructMatrix& a, Axes candidates, float* copy)
    : a_(&a), copies_(copy != nullptr), examines_(a.dof() == 1 && a.symmetric()) {
    const rtc::Kernel<CouplingArguments> kernel(
        a.context(), couplings_source(), couplings_definitions({a.stencil(), a.dof(), a.storage()}), "couplings");
    const Layout& layout = a.layout();
    pieces_ = coupling_pieces(layout.grid());
    const Index blocks = Index(layout.planes()) * pieces_;
    sums_ =
        Buffer<double>(a.context(), "multigrid: tables", bytes(layout) / Index(sizeof(double)), Initially::anything);
    CouplingArguments all{.a = in_memory(a, 0),
                          .sums = sums_.data(),
                          .single = copy,
                          .grid = slots_of(layout),
                          .begin = layout.begin_plane(),
                          .pieces = pieces_,
                          .slots = int(layout.slots_in_memory()),
                          .a_stride = int(a.stride()),
                          .candidates = candidates[0] + 2 * candidates[1] + 4 * candidates[2],
                          .examines = examines_,
                          .delta = {}};
    slot_deltas(layout, a.stencil().offsets(), all.delta);
    kernel.launch({unsigned(blocks)}, coupling_threads, 0, all);
}

Index CouplingSums::bytes(const Layout& layout) {
    return coupling_counts * layout.planes() * coupling_pieces(layout.grid()) * Index(sizeof(double));
}

std::array<double, 3> CouplingSums::read(Survey& survey) const {
    std::vector<double> host(static_cast<std::size_t>(sums_.size()));
    a_->context().stream().copy(sums_.data(), host.data(), sums_.size() * Index(sizeof(double)));
    if (a_->layout().is_part()) {
        std::vector<double> of_ranks(std::size_t(coupling_counts) * pieces_ * a_->grid().nz);
        a_->context().ranks()->all_gather(host, of_ranks);
        host = std::move(of_ranks);
    }
    std::array<double, coupling_counts> total{};
    for (std::size_t at = 0; at < host.size(); ++at) total[at % coupling_counts] += host[at];
    survey.copied = copies_;
    if (examines_) survey.traits = MatrixTraits{.m_matrix = total[3] == 0.0, .jumps = total[4] > 0.0};
    return {total[0], total[1], total[2]};
}

rtc::Programs setup_programs(const SetupShape& shape, const Coarsening& grids) {
    rtc::Programs all{{couplings_source(), couplings_definitions(shape)}};
    if (SetupCuda::takes(shape, grids)) all.push_back({setup_source(), Terms::of(shape, grids).definitions()});
    return all;
}

}  // namespace hyperplane::multigrid
