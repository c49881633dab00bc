// SPDX-License-Identifier: BSD-3-Clause
// The fixture of multicolor's tests on a GPU, which stand in several files.
#pragma once

#include "on_device.hpp"

namespace hyperplane::testing_support {

class LargeMulticolorOnDevice : public DeviceTest {};

}  // namespace hyperplane::testing_support
