// For tests on a GPU: the device and its meter.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>

#include "bench/measuring/meter.h"
#include "kernels/contract/device.h"
#include "kernels/contract/kernel.h"

namespace fusegate::bench {

// Skips where there is no GPU. A SetUp that builds on this one asks IsSkipped() before it goes on.
class MeterTest : public testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = kernels::open_device("cuda");
    } catch (const kernels::DeviceError& error) {
      GTEST_SKIP() << error.what();
    }
    meter_ = make_meter(*device_);
  }

  // The GPU's. Throws std::out_of_range where there is none by that name.
  static const kernels::Implementation& implementation(const std::string& operation,
                                                       const std::string& name) {
    const auto& all = kernels::implementations();
    const auto found = std::ranges::find_if(all, [&](const kernels::Implementation& i) {
      return i.operation == operation && i.name == name && i.device == "cuda";
    });
    if (found == all.end()) throw std::out_of_range(operation + "/" + name);
    return *found;
  }

  std::unique_ptr<kernels::Device> device_;
  std::unique_ptr<Meter> meter_;
};

}  // namespace fusegate::bench
