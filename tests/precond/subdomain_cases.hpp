// SPDX-License-Identifier: BSD-3-Clause
// Systems and subdomains for the tests of subdomain_ildu0, on both backends.
#pragma once

#include <algorithm>
#include <cmath>

#include "precond/swept.hpp"
#include "reference/subdomains.hpp"

namespace hyperplane::testing_support {

struct SubdomainCase : SweptCase {
    reference::Offset size;
};

inline std::string text_of(reference::Offset size) {
    return std::to_string(size.x) + " " + std::to_string(size.y) + " " + std::to_string(size.z);
}

inline std::string name_of_case(const testing::TestParamInfo<SubdomainCase>& info) {
    std::string size = text_of(info.param.size);
    std::replace(size.begin(), size.end(), ' ', '_');
    return name_of(testing::TestParamInfo<SweptCase>(info.param, info.index)) + "_cut_" + size;
}

/// Subdomains whose extents divide the grid's, that do not, of one point, of lines, and larger than the grid.
inline std::vector<SubdomainCase> subdomain_cases() {
    std::vector<SubdomainCase> list;
    const std::vector<std::pair<reference::Box, reference::Offset>> boxes{{{7, 5, 3}, {3, 2, 2}},
                                                                          {{7, 5, 3}, {16, 16, 8}},
                                                                          {{9, 5, 1}, {4, 3, 1}},
                                                                          {{5, 5, 5, {true, false, true}}, {3, 5, 2}}};
    int turn = 0;
    for (const auto& stencil : reference::all_stencils())
        for (int dof : reference::small_dofs)
            for (const auto& [box, size] : boxes)
                for (MatrixStorage storage : storages)
                    list.push_back({{stencil.name, dof, 0, box, layout_kinds[turn++ % 2], storage}, size});
    for (reference::Offset size : {reference::Offset{1, 1, 1}, {7, 1, 1}, {1, 5, 1}, {1, 1, 3}, {2, 5, 3}})
        for (const char* stencil : {"star7", "box27", "scattered11"})
            list.push_back({{stencil, 2, 0, {7, 5, 3}, LayoutKind::natural, MatrixStorage::full}, size});
    list.push_back({{"star7", 1, 0, {700, 1, 1}, LayoutKind::natural, MatrixStorage::full}, {16384, 1, 1}});
    for (int dof : {17, 32})
        for (const char* stencil : {"star7", "box27"})
            list.push_back({{stencil, dof, 0, {4, 3, 2}, LayoutKind::natural, MatrixStorage::full}, {2, 2, 2}});
    return list;
}

/// One case of each kind, since kernels are compiled for each stencil, dof and size.
inline std::vector<SubdomainCase> subdomain_device_cases() {
    std::vector<SubdomainCase> list;
    int turn = 0;
    const reference::Box box{35, 17, 9}, wrapped{33, 17, 9, {true, false, true}}, flat{35, 33, 1};
    for (const auto& stencil : reference::all_stencils())
        for (int dof : {1, 3})
            for (MatrixStorage storage : storages) {
                const LayoutKind kind = storage == MatrixStorage::full ? LayoutKind::natural : LayoutKind::hyperplane;
                list.push_back({{stencil.name, dof, 0, box, kind, storage}, {16, 16, 8}});
                list.push_back({{stencil.name, dof, 0, wrapped, kind, storage}, {16, 16, 8}});
            }
    for (const auto& stencil : reference::all_stencils())
        for (int dof : {2, 4, 5, 6, 7, 8}) {
            const MatrixStorage storage = storages[turn++ % 2];
            list.push_back({{stencil.name, dof, 0, {19, 9, 9}, LayoutKind::hyperplane, storage}, {8, 8, 8}});
        }
    for (const char* stencil : {"star7", "box27"}) {
        list.push_back({{stencil, 1, 0, flat, LayoutKind::natural, MatrixStorage::full}, {16, 16, 1}});
        for (int dof : {2, 4, 6, 8})
            list.push_back({{stencil, dof, 0, {19, 9, 9}, LayoutKind::natural, MatrixStorage::full}, {8, 8, 8}});
        for (int dof : {17, 32})
            list.push_back({{stencil, dof, 0, {5, 4, 3}, LayoutKind::natural, MatrixStorage::full}, {2, 2, 2}});
    }
    list.push_back({{"star7", 1, 0, {3000, 1, 1}, LayoutKind::natural, MatrixStorage::full}, {16384, 1, 1}});
    list.push_back({{"star7", 1, 0, {19, 9, 9}, LayoutKind::natural, MatrixStorage::full}, {1, 1, 1}});
    list.push_back({{"box27", 2, 0, {19, 9, 9}, LayoutKind::natural, MatrixStorage::full}, {5, 3, 7}});
    return list;
}

inline constexpr const char* all_subdomain_variants[] = {"level", "unfused", "spin", "dag_vertex", "dag_edge"};
inline constexpr const char* subdomain_variants_on_cpu[] = {"level", "unfused"};

/// Expects x^T M^-1 y = y^T M^-1 x up to rounding and x^T M^-1 x > 0, for two vectors.
inline void expect_symmetric(const Preconditioner& m, const StructMatrix& a, double roundoff) {
    const std::vector<double> x = reference::Random(1).vector(int(a.unknowns())),
                              y = reference::Random(2).vector(int(a.unknowns()));
    const std::vector<double> mx = apply(m, a, x), my = apply(m, a, y);
    EXPECT_NEAR(dot(mx, y), dot(x, my), roundoff * std::sqrt(dot(mx, mx) * dot(y, y)));
    EXPECT_GT(dot(mx, x), 0.0);
}

}  // namespace hyperplane::testing_support
