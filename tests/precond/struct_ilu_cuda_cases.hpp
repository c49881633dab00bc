// SPDX-License-Identifier: BSD-3-Clause
// The systems and tunings with which struct_ilu is tested on a GPU (struct_ilu_cuda_test.cpp).
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "precond/struct_ilu/struct_ilu.hpp"
#include "precond/support.hpp"

namespace hyperplane::struct_ilu_cases {

using reference::Box;

/// Kernels are compiled for each case, and for each tile shape that its tuning leaves to the grid.
struct Case {
    std::string stencil;
    int dof, fill_level;
    LayoutKind kind;
    MatrixStorage storage;
    StructIluTuning tuning;
    bool periodic = false;
    bool may_share = true;  ///< whether D-ILU may use the matrix's own E and F
};

inline std::vector<Box> boxes_for(const Case& c) {
    if (c.periodic)
        return {{7, 5, 5, {true, true, true}}, {5, 4, 3, {true, false, false}}, {2, 7, 6, {false, true, true}}};
    if (c.dof > 8) return {{1, 1, 1}, {4, 3, 2}, {9, 2, 1}, {1, 5, 3}};
    if (c.fill_level >= 2) return {{7, 5, 3}, {1, 9, 5}, {5, 4, 1}, {2, 1, 9}};
    if (c.dof > 3) return {{1, 1, 1}, {7, 5, 3}, {5, 9, 1}, {1, 9, 4}, {33, 2, 1}};
    return {{1, 1, 1}, {17, 9, 5}, {9, 1, 1}, {1, 33, 1}, {1, 1, 9}, {13, 7, 1}, {1, 9, 5}, {5, 1, 9}, {2, 2, 2}};
}

/// Boxes with several tiles along each axis, whatever their shape.
inline std::vector<Box> large_boxes_for(const Case& c) {
    if (c.periodic) return {{19, 37, 11, {true, true, true}}};
    if (c.dof > 8) return {{9, 11, 3}};
    if (c.fill_level >= 2) return {{11, 37, 7}};
    if (c.dof > 3 || c.fill_level == 1) return {{13, 35, 7}};
    return {{70, 67, 9}, {33, 130, 5}, {3, 19, 41}};
}

/// Tile shapes: 0, the one that the program chooses for these grids; 1, small tiles of two planes; 2, that of huge
/// grids.
inline StructIluTuning tiles(int which, int dof) {
    StructIluTuning tuning;
    if (which == 1) tuning.tile_j = dof > 8 ? 4 : 8, tuning.tile_k = dof > 8 ? 1 : 2;
    if (which == 2) tuning.tile_j = dof > 8 ? 2 : dof > 3 ? 16 : 32, tuning.tile_k = dof == 1 ? 8 : 2;
    return tuning;
}

/// Every stencil with every dof and alternating layouts, storages and tiles; then fill, periodic axes and every tuning.
inline std::vector<Case> cases() {
    std::vector<Case> list;
    int turn = 0;
    const auto add = [&](const std::string& stencil, int dof, int k, int form, StructIluTuning tuning,
                         bool periodic = false) {
        list.push_back({stencil, dof, k, form % 2 ? LayoutKind::natural : LayoutKind::hyperplane,
                        form / 2 % 2 ? MatrixStorage::lower : MatrixStorage::full, tuning, periodic});
        ++turn;
    };
    int row = 0;
    for (const auto& stencil : reference::all_stencils()) {
        for (int dof : reference::all_dofs) add(stencil.name, dof, 0, turn + row, tiles(turn % 3, dof));
        ++row;
    }
    for (int form : {0, 1, 2, 3})
        for (int which : {0, 2}) add("star7", 1, 0, form, tiles(which, 1));
    for (const char* stencil : {"star13", "diamond13", "skewed7"})
        for (int form : {0, 2}) add(stencil, 1, 0, form, tiles(0, 1));
    for (int lines : {2, 4}) add("star7", 1, 0, lines, {.tile_j = 32, .tile_k = 4, .producer_lines = lines});
    for (const char* stencil : {"star7", "star13", "skewed7"})
        for (int lookahead : {1, 4}) add(stencil, 1, 0, lookahead / 2, {.lookahead = lookahead});
    for (const char* stencil : {"star7", "star13", "diamond13"})
        for (int lookahead : {1, 2, 4}) add(stencil, 1, 0, 0, {.lookahead = lookahead, .edges_wait = true});
    for (const char* stencil : {"star7", "star13"})
        for (int form : {0, 2})
            for (int run : {1, 2}) add(stencil, 1, 0, form, {.tile_j = 8, .tile_k = 4, .run = run});
    // Warps that do not synchronise, in tiles of few and of many lines.
    for (const char* stencil : {"star7", "star13", "diamond13", "diamond25", "box27", "skewed7", "scattered11"})
        for (int form : {0, 1, 2, 3})
            add(stencil, 1, 0, form, {.tile_j = 32, .tile_k = form == 3 ? 8 : form + 1, .rows = form < 2 ? 4 : 8});
    for (int form : {0, 2}) add("star7", 1, 0, form, {.tile_j = 32, .tile_k = 4, .stages = 3, .rows = 1}, true);
    // One thread sums the groups of terms that several would sum.
    for (int form : {0, 1, 2, 3}) {
        add("diamond13", 1, 0, form, {.pipelined = 0});
        add("star13", 1, 0, form, {.tile_j = 8, .tile_k = 4, .pipelined = 0});
        add("skewed7", 1, 1, form, {.pipelined = 0});
    }
    add("star13", 1, 0, 0, {.stages = 0, .pipelined = 0}, true);
    for (const auto& [stencil, dofs] : std::map<std::string, std::vector<int>>{{"star7", {1, 2, 3, 8}},
                                                                               {"star13", {1, 3}},
                                                                               {"diamond13", {1, 5}},
                                                                               {"diamond25", {2}},
                                                                               {"box27", {1, 3}},
                                                                               {"skewed7", {1, 4}},
                                                                               {"scattered11", {2}}})
        for (int dof : dofs) add(stencil, dof, 1, turn / 2, tiles(turn % 2, dof));
    for (int form : {0, 2}) {
        add("star7", 1, 2, form, tiles(1, 1));
        add("star7", 2, 3, form + 1, tiles(0, 2));
        add("diamond13", 1, 2, form, tiles(1, 1));
        for (int dof : {1, 2}) add("star7", dof, 0, form + dof, tiles(1, dof), true);
        add("star7", 1, 0, form, tiles(2, 1), true);
        add("box27", 2, 0, form, tiles(0, 2), true);
        add("scattered11", 1, 1, form + 1, tiles(1, 1), true);
    }
    for (const StructIluTuning& tuning : std::vector<StructIluTuning>{{.tile_j = 1, .tile_k = 1},
                                                                      {.tile_j = 4, .tile_k = 4, .stages = 0},
                                                                      {.tile_j = 8, .tile_k = 2, .pipelined = 0},
                                                                      {.tile_j = 16, .tile_k = 3, .lookahead = 1},
                                                                      {.tile_j = 4, .tile_k = 3, .lookahead = 4},
                                                                      {.tile_j = 5, .tile_k = 2, .stages = 1}})
        for (const char* stencil : {"star7", "diamond25"}) add(stencil, 2, 0, turn / 2, tuning);
    for (const char* stencil : {"diamond25", "box27"})  // not the default there
        for (int form : {0, 2}) add(stencil, 1, 0, form, {.tile_j = 8, .tile_k = 2, .pipelined = 1});
    for (const StructIluTuning& tuning :
         std::vector<StructIluTuning>{{.factor_j = 3, .factor_k = 5},
                                      {.factor_j = 7, .factor_k = 1},
                                      {.factor_j = 5, .factor_k = 3, .factor_ring = false},
                                      {.factor_ring = false},
                                      {.in_registers = false},
                                      {.factor_j = 3, .factor_k = 3, .in_registers = false}})
        for (const auto& [stencil, dof] : std::vector<std::pair<std::string, int>>{
                 {"star7", 1}, {"diamond13", 1}, {"skewed7", 1}, {"box27", 2}, {"star13", 4}, {"star7", 8}}) {
            if (dof > 2 && !tuning.factor_ring) continue;  // rings exist for one and two unknowns only
            add(stencil, dof, 0, turn, tuning);
        }
    // Groups that share rows, with as many stages as levels, or fewer.
    int form = 0;
    for (const auto& [groups, waiting] : std::vector<std::pair<int, int>>{{4, 0}, {3, 2}}) {
        for (const auto& [stencil, dof] : std::vector<std::pair<std::string, int>>{
                 {"diamond13", 1}, {"box27", 1}, {"diamond25", 2}, {"star13", 2}}) {
            add(stencil, dof, 0, form,
                {.factor_j = 5, .factor_k = 3, .factor_groups = groups, .factor_waiting = waiting});
            form = (form + 1) % 4;
        }
        ++form;
    }
    add("star7", 1, 1, 2, {.factor_groups = 4, .factor_waiting = 4});
    // Groups that overlap the rows of two levels.
    for (const auto& [stencil, dof, groups] : std::vector<std::tuple<std::string, int, int>>{{"star13", 1, 2},
                                                                                             {"diamond13", 1, 4},
                                                                                             {"diamond25", 1, 2},
                                                                                             {"box27", 1, 4},
                                                                                             {"box27", 1, 3},
                                                                                             {"diamond13", 2, 3},
                                                                                             {"box27", 2, 2}})
        for (int natural : {0, 1}) {
            add(stencil, dof, 0, natural, {.factor_groups = groups, .factor_pipeline = true});
            list.back().tuning.factor_j = natural ? 5 : 0, list.back().tuning.factor_k = natural ? 3 : 0;
        }
    add("box27", 1, 0, 0, {.factor_groups = 4, .factor_pipeline = true}, true);
    add("star7", 1, 1, 0, {.factor_groups = 2, .factor_pipeline = true});
    add("star7", 1, 0, 0, {});
    list.back().may_share = false;
    return list;
}

}  // namespace hyperplane::struct_ilu_cases
