// SPDX-License-Identifier: BSD-3-Clause
// Systems for the tests of par_ilu, with the reference's sweeps.
#pragma once

#include "precond/swept.hpp"
#include "reference/par_ilu.hpp"

namespace hyperplane::testing_support {

struct ParIluSystem : SweptSystem {
    using SweptSystem::SweptSystem;

    reference::BlockIlu swept(int sweeps, double shift = 0.0, bool in_turn = false) const {
        return reference::par_ilu(reference::assembled(reference::shifted(data, shift), false),
                                  reference::stencil_pattern(c.box, filled(c.stencil, c.fill_level)), sweeps, in_turn);
    }
    std::unique_ptr<Preconditioner> set_up(int sweeps, Settings more = {}) const {
        more.insert(more.end(), {{"sweeps", std::to_string(sweeps)}, {"fill_level", std::to_string(c.fill_level)}});
        auto m = make("par_ilu", a, more);
        m->setup(a);
        return m;
    }
};

/// For each stencil, dof, fill level and box, one of the four pairs of a layout and a storage, since kernels are
/// compiled for each case. The pair changes from box to box and from stencil to stencil, so that each dof, fill level
/// and box occurs with all four. The last two cases, with many unknowns and with fill level 2, are unchanged. Then
/// follow some whose blocks are loaded row by row, and some whose thread blocks have more points in a sweep than in the
/// guess.
inline std::vector<SweptCase> par_ilu_device_cases() {
    std::vector<SweptCase> list;
    std::string stencil;
    int turn = 0;
    for (const SweptCase& c : swept_cases(2)) {
        const int pair = 2 * (c.kind == LayoutKind::hyperplane) + (c.storage == MatrixStorage::lower);
        turn += (pair == 0) + (c.stencil != stencil);
        stencil = c.stencil;
        if (pair == turn % 4 || c.dof > 8 || c.fill_level > 1) list.push_back(c);
    }
    for (const char* box_or_diamond : {"box27", "diamond25"})
        for (const auto& [dof, box] : {std::pair{6, reference::Box{7, 5, 9}}, {8, {3, 9, 1}}, {8, {2, 4, 11}}})
            list.push_back({box_or_diamond, dof, 0, box, LayoutKind::hyperplane, MatrixStorage::full});
    for (const char* few_entries : {"star7", "star13", "diamond13"})
        for (const auto& [dof, box, kind] : {std::tuple{6, reference::Box{9, 5, 7}, LayoutKind::hyperplane},
                                             {8, {5, 11, 3}, LayoutKind::natural},
                                             {8, {3, 7, 5}, LayoutKind::hyperplane},
                                             {5, {2, 9, 1}, LayoutKind::hyperplane}})
            list.push_back({few_entries, dof, 0, box, kind, MatrixStorage::full});
    list.push_back({"star7", 6, 1, {7, 5, 3}, LayoutKind::hyperplane, MatrixStorage::full});
    return list;
}

}  // namespace hyperplane::testing_support
