// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace hyperplane {

/// Where machine code is kept while a test runs; nowhere if the folder is empty.
class KeptIn {
public:
    explicit KeptIn(const std::string& folder) {
        if (const char* before = std::getenv("HYPERPLANE_KERNEL_CACHE")) before_ = before;
        setenv("HYPERPLANE_KERNEL_CACHE", folder.c_str(), 1);
    }
    KeptIn(const KeptIn&) = delete;
    KeptIn& operator=(const KeptIn&) = delete;
    ~KeptIn() {
        if (before_)
            setenv("HYPERPLANE_KERNEL_CACHE", before_->c_str(), 1);
        else
            unsetenv("HYPERPLANE_KERNEL_CACHE");
    }

private:
    std::optional<std::string> before_;
};

}  // namespace hyperplane
