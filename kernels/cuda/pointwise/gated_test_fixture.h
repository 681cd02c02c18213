// For tests of activation(g) * u on a GPU: what an implementation writes, to the bit.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/contract/kernel.h"
#include "kernels/cuda/device/gpu_test_fixture.h"

namespace fusegate::kernels {

class GatedGpuTest : public GpuTest {
 public:
  static constexpr double kScale = 3.0;  // activations bend within it

 protected:
  // What the implementation writes; checks a guard behind it.
  Bytes output_of(const Activation& activation, const std::string& name, const Tensor& g,
                  const Tensor& u) {
    constexpr std::int64_t kTail = 64;
    const Tensor guarded = tensor(1, g.count() + kTail, g.dtype);
    device_->poison(guarded);
    const Tensor out{guarded.data, g.shape, g.dtype};
    const std::vector<Tensor> in{g, u};
    const Problem problem{g.dtype,
                          {{"batch", 1}, {"seq", g.rows()}, {"dim", 1}, {"hidden", g.cols()}}};
    const PreparedKernel kernel =
        find_implementation(activation.unit, name, "cuda").prepare(*device_, problem, in, out);
    kernel.launch();
    Bytes all = bytes(guarded);
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(out.bytes());
    EXPECT_TRUE(std::all_of(end, all.end(), [](std::byte b) { return b == kGuard; }))
        << name << " writes past its output of " << g.rows() << 'x' << g.cols();
    all.erase(end, all.end());
    return all;
  }

  void expect_same_bits(const std::string& one, const std::string& other) {
    for (const Activation& activation : kActivations) expect_same_bits(activation, one, other);
  }

 private:
  void expect_same_bits(const Activation& activation, const std::string& one,
                        const std::string& other) {
    for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16}) {
      for (const auto& [rows, cols] : {std::pair{1, 1},
                                       {1, 7},
                                       {1, 8},
                                       {1, 9},
                                       {3, 5},
                                       {1, 2047},
                                       {1, 2049},
                                       {8, 3073},
                                       {33, 3073},
                                       {128, 3072},
                                       {129, 11008},
                                       {2048, 6146},
                                       {16385, 1025},  // from here on by the largest blocks
                                       {16384, 1024}}) {
        const Tensor g = random(rows, cols, dtype, kScale, 1);
        const Tensor u = random(rows, cols, dtype, kScale, 2);
        EXPECT_EQ(output_of(activation, one, g, u), output_of(activation, other, g, u))
            << activation.name << ' ' << dtype_name(dtype) << ' ' << rows << 'x' << cols;
        memory_.clear();
      }
    }
  }
};

}  // namespace fusegate::kernels
