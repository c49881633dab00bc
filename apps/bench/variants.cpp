// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>
#include <utility>

#include "core/device/device.hpp"
#include "core/matrix/struct_matrix_cuda.hpp"
#include "precond/reproductions/by_level.hpp"

namespace hyperplane {

std::unique_ptr<IluPreconditioner> IluChoice::make(const Context& context, FactorStorage storage) const {
    IluOptions options;
    options.storage = storage;
    options.may_share = may_share;
    return by_level ? make_ilu_by_level(context, options) : make_struct_ilu(context, options, tuning);
}

std::vector<std::string> all_kernels() {
    return {"spmv", "lower", "upper", "factorise"};
}

namespace {

const std::vector<std::string> solves{"lower", "upper"}, factorisation{"factorise"};

bool is_dilu(Backend backend, const BenchCase& setting) {
    return !setting.stencil.eliminates_off_diagonal() && (backend == Backend::cpu || setting.dof == 1);
}

/// Whether the solves may sum terms a level ahead: there are terms of levels before the last one.
bool may_pipeline(Backend backend, const BenchCase& setting) {
    bool older = false;
    for (int e = 0; e < setting.stencil.lower_size(); ++e)
        older = older || setting.stencil.level_map().level(setting.stencil[e]) < -1;
    return older && !is_dilu(backend, setting);
}

}  // namespace

std::vector<Variant> pieces(Backend backend, const BenchCase& setting) {
    const Stencil& stencil = setting.stencil;
    const bool cuda = backend == Backend::cuda, dilu = is_dilu(backend, setting);
    const std::vector<std::string> all = all_kernels();
    using enum Variant::Storage;
    std::vector<Variant> list{
        {"other layout",
         "the natural layout in place of hyperplane, or the other way round (StructILU paper, 4.4)",
         {},
         other_layout,
         all}};
    if (setting.symmetric)
        list.push_back({"both triangles", "both stored, of a symmetric matrix", {}, both_triangles, all});
    if (dilu)
        list.push_back({"no D-ILU", "E and F are stored as factors, not read from the matrix", {.may_share = false}});
    if (!cuda) return list;
    list.push_back(
        {"by level", "a launch for each level instead of tiles that wait for each other (4.1)", {.by_level = true}});
    if (may_pipeline(backend, setting)) {  // one of these is the default
        list.push_back(
            {"not pipelined", "no terms are summed a level ahead (4.2.1)", {.tuning = {.pipelined = 0}}, own, solves});
        list.push_back({"pipelined",
                        "terms of older levels are summed a level ahead (4.2.1)",
                        {.tuning = {.pipelined = 1}},
                        own,
                        solves});
    }
    if (setting.dof <= 2 && (dilu || stencil.lower_size() >= 6))
        list.push_back({"no factor ring",
                        "neighbours' factors are read from global memory, not from shared memory",
                        {.tuning = {.factor_ring = false}},
                        own,
                        factorisation});
    if (setting.dof <= 2 && stencil.lower_size() >= 6 && !dilu) {
        list.push_back({"one group",
                        "a thread has all entries of its row, also where two groups share them by default (4.2.2)",
                        {.tuning = {.factor_groups = 1}},
                        own,
                        factorisation});
        list.push_back({"shared rows",
                        "four groups of threads share the entries of a row, level by level (4.2.2)",
                        {.tuning = {.factor_groups = 4, .factor_waiting = 0}},
                        own,
                        factorisation});
    }
    if (setting.dof <= 8)
        list.push_back(
            {setting.dof > 2 ? "no tensor cores" : "not in registers",
             "points are factored by rows, not in registers, nor, with 3 unknowns or more, on tensor cores (4.3)",
             {.tuning = {.in_registers = false}},
             own,
             factorisation});
    return list;
}

std::vector<Variant> built_up(const BenchCase& setting) {
    using enum Variant::Storage;
    const StructIluTuning plain{.factor_ring = false, .in_registers = false, .pipelined = 0};
    StructIluTuning pipelined = plain, in_registers = plain;
    pipelined.pipelined = 1;
    in_registers.in_registers = true;
    std::vector<Variant> list{
        {"a launch a level", "in the natural layout, a thread for each row (2)", {.by_level = true}, other_layout},
        {"tiles", "that wait for each other, in one launch (4.1)", {.tuning = plain}, other_layout},
        {"layout by levels", "of matrix, factors and vectors (4.4)", {.tuning = plain}}};
    if (may_pipeline(Backend::cuda, setting))
        list.push_back({"pipelined dot product", "of the solves (4.2.1)", {.tuning = pipelined}, own, solves});
    if (setting.dof <= 8)
        list.push_back({setting.dof > 2 ? "tensor cores" : "registers",
                        "in which a point is factored (4.3)",
                        {.tuning = in_registers},
                        own,
                        factorisation});
    return list;
}

namespace {

/// All ways of running the kernels that --tunings knows, in the order of the table.
class AllTunings {
public:
    AllTunings() {
        add_copies_of_solves();
        add_factorisations();
        add_reduced_storages();
        add_tiles_of_solves();
    }
    std::vector<Variant> list;

private:
    void add(std::string name, std::string what, StructIluTuning tuning,
             FactorStorage factors = FactorStorage::double_precision) {
        const bool factorises =
            tuning.factor_blocks > 0 || tuning.factor_j > 0 || tuning.factor_groups > 0 || !tuning.factor_ring;
        list.push_back({std::move(name),
                        std::move(what),
                        {.tuning = tuning},
                        Variant::Storage::own,
                        factorises ? std::vector<std::string>{"factorise"} : std::vector<std::string>{"lower", "upper"},
                        factors});
    }
    void add_copies_of_solves() {
        add("no stages", "coefficients are read when they are needed", {.stages = 0});
        add("2 stages", "levels of coefficients in shared memory", {.stages = 2});
        add("4 stages", "levels of coefficients in shared memory", {.stages = 4});
        add("6 stages", "levels of coefficients in shared memory", {.stages = 6});
        add("8 stages", "levels of coefficients in shared memory", {.stages = 8});
        for (const int ahead : {1, 2, 4})
            add(fmt::format("lookahead {}", ahead), "levels whose edges are polled at the same time",
                {.lookahead = ahead});
        add("no producers", "no producer warps", {.producer_groups = 0});
        add("1 producer group", "groups of producer warps", {.producer_groups = 1});
        add("2 lines a producer", "lines for which a thread of a producer warp copies", {.producer_lines = 2});
        add("4 lines a producer", "lines for which a thread of a producer warp copies", {.producer_lines = 4});
        add("8-byte copies", "of single values", {.run = 1});
        add("16-byte copies", "of the values of two neighbouring lines", {.run = 2});
        add("1 block", "of threads, resident on a multiprocessor in the solves", {.blocks = 1});
        add("2 blocks", "of threads, resident on a multiprocessor in the solves", {.blocks = 2});
    }
    void add_factorisations() {
        add("1 factor block", "of threads, resident on a multiprocessor in the factorisation", {.factor_blocks = 1});
        add("2 factor blocks", "of threads, resident on a multiprocessor in the factorisation", {.factor_blocks = 2});
        add("no factor ring", "neighbours' factors are read from global memory", {.factor_ring = false});
        add("factor tiles 7 x 1", "lines of a tile of the factorisation", {.factor_j = 7, .factor_k = 1});
        add("factor tiles 14 x 1", "lines of a tile of the factorisation", {.factor_j = 14, .factor_k = 1});
        add("factor tiles 16 x 1", "lines of a tile of the factorisation", {.factor_j = 16, .factor_k = 1});
        add("factor tiles 32 x 16", "lines of a tile of the factorisation", {.factor_j = 32, .factor_k = 16});
        add("factor tiles 32 x 8", "lines of a tile of the factorisation", {.factor_j = 32, .factor_k = 8});
        for (const int groups : {2, 3, 4})
            for (const int waiting : {0, 4, 8})
                add(fmt::format("factor groups {}, waiting {}", groups, waiting),
                    "groups of threads that share a row, and the operations that a wait for each other costs (4.2.2)",
                    {.factor_groups = groups, .factor_waiting = waiting});
        for (const int groups : {2, 3, 4})
            add(fmt::format("factor pipeline of {} groups", groups),
                "groups of threads that overlap the rows of two levels in two substages (4.2.2)",
                {.factor_groups = groups, .factor_pipeline = true});
    }
    void add_reduced_storages() {
        const auto add_all = [&](const std::string& name, const std::string& what, StructIluTuning tuning) {
            for (const FactorStorage storage : reduced_factor_storages)
                add("storage " + to_string(storage) + name, "factors in reduced precision" + what, tuning, storage);
        };
        add_all("", "", {});
        add_all(", one resident", ", one block on a multiprocessor", {.blocks = 1});
        add_all(", 8 x 4", ", tiles of that many lines", {.tile_j = 8, .tile_k = 4});
        add_all(", 8 x 8", ", tiles of that many lines", {.tile_j = 8, .tile_k = 8});
        add_all(", 32 x 8", ", tiles of that many lines", {.tile_j = 32, .tile_k = 8});
        add_all(", 32 x 16", ", tiles of that many lines", {.tile_j = 32, .tile_k = 16});
    }
    void add_tiles_of_solves() {
        add("tiles 8 x 1", "lines of a tile", {.tile_j = 8, .tile_k = 1});
        add("tiles 16 x 2", "lines of a tile", {.tile_j = 16, .tile_k = 2});
        add("tiles 32 x 1", "lines of a tile", {.tile_j = 32, .tile_k = 1});
        add("tiles 32 x 4", "lines of a tile", {.tile_j = 32, .tile_k = 4});
        add("tiles 32 x 8", "lines of a tile", {.tile_j = 32, .tile_k = 8});
        add("tiles 32 x 16", "lines of a tile", {.tile_j = 32, .tile_k = 16});
        add("rows synchronise", "warps of a tile synchronise at a barrier at every level", {.rows = 0});
        for (const auto& [lines, stages, loads] :
             std::vector<std::array<int, 3>>{{4, 8, 4}, {4, 8, 8}, {8, 4, 4}, {8, 6, 4}, {8, 8, 8}})
            add(fmt::format("rows 32 x {} x {}, {} loads", lines, stages, loads),
                "warps of a tile of so many lines, copied so many levels ahead, do not synchronise; edges loaded at a "
                "time",
                {.tile_j = 32, .tile_k = lines, .stages = stages, .rows = loads});
    }
};

}  // namespace

std::vector<Variant> tunings(const std::string& words) {
    std::vector<Variant> list = AllTunings().list;
    if (words == "all") return list;
    std::vector<Variant> chosen;
    for (Variant& one : list) {
        std::istringstream stream(words);
        for (std::string word; std::getline(stream, word, ',');)
            if (!word.empty() && one.name.find(word) != one.name.npos) {
                chosen.push_back(std::move(one));
                break;
            }
    }
    return chosen;
}

LayoutKind layout_of(const Variant& variant, LayoutKind layout) {
    if (variant.storage != Variant::Storage::other_layout) return layout;
    return layout == LayoutKind::natural ? LayoutKind::hyperplane : LayoutKind::natural;
}

rtc::Programs programs_of([[maybe_unused]] const Context& context, [[maybe_unused]] const BenchCase& setting,
                          [[maybe_unused]] LayoutKind layout, [[maybe_unused]] const Variant& variant) {
    rtc::Programs programs;
    if constexpr (cuda_built) {
        Grid grid;
        grid.nx = grid.ny = grid.nz = setting.n;
        const LayoutKind kind = layout_of(variant, layout);
        const bool symmetric = setting.symmetric && variant.storage != Variant::Storage::both_triangles;
        programs = StructMatrixCuda::programs(Layout(kind, grid, setting.stencil.level_map()), setting.stencil,
                                              setting.dof, symmetric ? MatrixStorage::lower : MatrixStorage::full);
        PreconditionerSetting system{context, {grid, setting.stencil, setting.dof, symmetric}};
        system.chosen_layout = kind;
        for (const KernelSet& set : variant.choice.make(context, variant.factors)->kernels(system))
            std::ranges::move(set.programs(), std::back_inserter(programs));
    }
    return programs;
}

std::vector<std::string> same_kernels(const Context& context, const BenchCase& setting, LayoutKind layout,
                                      const std::vector<Variant>& variants) {
    std::map<std::vector<std::pair<std::string_view, rtc::Definitions>>, std::string> seen;
    const auto first_with = [&](const Variant& variant, const std::string& name) {
        std::vector<std::pair<std::string_view, rtc::Definitions>> kernels;
        for (const rtc::Program& program : programs_of(context, setting, layout, variant))
            kernels.emplace_back(program.source.main, program.definitions);
        return seen.try_emplace(std::move(kernels), name).first->second;
    };
    const std::string usual = "the default";
    first_with({usual, "", {}}, usual);
    std::vector<std::string> same;
    for (const Variant& variant : variants) {
        const std::string first = first_with(variant, variant.name);
        same.push_back(first == variant.name ? "" : first);
    }
    return same;
}

}  // namespace hyperplane
