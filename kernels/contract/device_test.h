// For tests on each kind of device, skipped where this machine has none: the parameter.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "kernels/contract/device.h"

namespace fusegate::kernels {

class DeviceTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    try {
      device_ = open_device(GetParam());
    } catch (const DeviceError& error) {
      GTEST_SKIP() << error.what();
    }
  }

  std::unique_ptr<Device> device_;
};

}  // namespace fusegate::kernels
