// SPDX-License-Identifier: BSD-3-Clause
#include "apps/base/build_info.hpp"

#include <H5public.h>
#include <fmt/format.h>

#include <boost/version.hpp>

#include "apps/git_sha.hpp"
#include "core/types.hpp"

namespace hyperplane {

const BuildInfo& build_info() {
    static const BuildInfo info{
        .version = HYPERPLANE_VERSION,
        .git_sha = git_sha,
        .date = git_date,
        .compiler = fmt::format("{} {}", HYPERPLANE_COMPILER, __VERSION__),
        .build_type = HYPERPLANE_BUILD_TYPE,
        .hdf5 = fmt::format("{}.{}.{}", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE),
        .boost = fmt::format("{}.{}.{}", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100),
        .openmp = fmt::format("{}", _OPENMP),
        .backends = cuda_built ? "cpu, cuda" : "cpu",
    };
    return info;
}

}  // namespace hyperplane
