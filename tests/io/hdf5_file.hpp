// SPDX-License-Identifier: BSD-3-Clause
// HDF5 files in tests: deleting an object, listing all names, comparing them with docs/.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace hyperplane {

/// Takes off the seal of a file of the program's: what is left is HDF5 from byte 0 on.
inline void take_seal_off(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    in.close();
    if (bytes.rfind("hyperplane ", 0) == 0) std::ofstream(path, std::ios::binary) << bytes.substr(512);
}

/// Deletes one object of a file, and takes its seal off.
inline void remove_object(const std::string& path, const char* name) {
    take_seal_off(path);
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    ASSERT_GE(H5Ldelete(file, name, H5P_DEFAULT), 0) << name;
    H5Fclose(file);
}

/// Every dataset and attribute of a file as its document writes them: `/solves/step`, `/grid@extents`, `/@deck`.
/// Objects below `inner` are left out, and so are the attributes of `free`, which are not fixed. Expects each dataset
/// to have units and a description.
inline std::vector<std::string> listing(const std::string& path, const std::string& free,
                                        const std::string& inner = "") {
    struct Walk {
        std::vector<std::string> names;
        std::string free, inner;
    } walk{{}, free, inner};
    const auto visit = [](hid_t file, const char* name, const H5O_info_t* info, void* data) -> herr_t {
        Walk& w = *static_cast<Walk*>(data);
        const std::string object = std::string("/") + (std::string(name) == "." ? "" : name);
        if (object == w.free || (!w.inner.empty() && object.rfind(w.inner, 0) == 0)) return 0;
        const hid_t id = H5Oopen(file, name, H5P_DEFAULT);
        if (info->type == H5O_TYPE_DATASET) {
            w.names.push_back(object);
            EXPECT_GT(H5Aexists(id, "units"), 0) << object;
            EXPECT_GT(H5Aexists(id, "description"), 0) << object;
        } else {
            const auto add = [](hid_t, const char* attribute, const H5A_info_t*, void* found) -> herr_t {
                static_cast<std::vector<std::string>*>(found)->push_back(attribute);
                return 0;
            };
            std::vector<std::string> attributes;
            H5Aiterate2(id, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &attributes);
            for (const std::string& attribute : attributes) w.names.push_back(fmt::format("{}@{}", object, attribute));
        }
        H5Oclose(id);
        return 0;
    };
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, visit, &walk);
    H5Fclose(file);
    return walk.names;
}

/// Expects the first columns of the tables of docs/`document` to have exactly these names, each as `NAME`.
inline void expect_documented(const std::vector<std::string>& names, const std::string& document) {
    std::ifstream file(HYPERPLANE_DOCS "/" + document);
    const std::string documented{std::istreambuf_iterator<char>(file), {}};
    for (const std::string& name : names)
        EXPECT_NE(documented.find("| `" + name + "` |"), std::string::npos) << name << " is not in docs/" << document;
    for (std::size_t at = documented.find("| `/"); at != std::string::npos; at = documented.find("| `/", at + 1)) {
        const std::string name = documented.substr(at + 3, documented.find('`', at + 3) - at - 3);
        EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name << " is documented, not written";
    }
}

}  // namespace hyperplane
