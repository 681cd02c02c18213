// Every example against its reference, on every device of this machine; and spoilt ones, which must
// fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "kernels/contract/device_test.h"
#include "kernels/contract/verify.h"

namespace fusegate::kernels {
namespace {

// Around the sizes of blocks, and sizes that nothing divides.
const std::vector<std::pair<std::string, std::vector<Axis>>> kProblems{
    {"rmsnorm_residual", {{"rows", 1}, {"dim", 8}}},
    {"rmsnorm_residual", {{"rows", 37}, {"dim", 1021}}},
    {"rmsnorm_residual", {{"rows", 256}, {"dim", 4096}}},
    {"softmax", {{"heads", 1}, {"kv", 1}}},
    {"softmax", {{"heads", 3}, {"kv", 257}}},
    {"softmax", {{"heads", 16}, {"kv", 4096}}},
    {"scan", {{"items", 1}}},
    {"scan", {{"items", 100'003}}},
    {"int8_gemm", {{"m", 16}, {"n", 32}, {"k", 16}}},
    {"int8_gemm", {{"m", 256}, {"n", 512}, {"k", 4096}}},
};

class Examples : public DeviceTest {
 protected:
  // Calls f(implementation, problem) for all of this device.
  template <typename F>
  void for_each(F&& f) {
    std::set<std::string> seen;
    for (const auto& [operation, axes] : kProblems) {
      for (const Dtype dtype : all_dtypes()) {
        const Problem problem{dtype, axes};
        for (const Implementation& implementation : implementations()) {
          if (implementation.operation != operation) continue;
          if (!refusal(implementation, *device_, problem).empty()) continue;
          SCOPED_TRACE(benchmark_name(implementation, problem));
          f(implementation, problem);
          seen.insert(operation);
        }
      }
    }
    EXPECT_EQ(seen.size(), GetParam() == "cuda" ? 4u : 3u) << "operations";
  }

  // Every implementation, followed by something that a kernel must not do, with such a message.
  void expect_fails(const std::function<void(Inputs, const Outputs&)>& spoil,
                    const std::string& message) {
    Verifier verifier(*device_, 3);
    for_each([&](const Implementation& implementation, const Problem& problem) {
      Implementation wrong = implementation;
      wrong.prepare = [&](Device& device, const Problem& of, Inputs in, const Outputs& out) {
        PreparedKernel kernel = implementation.prepare(device, of, in, out);
        const std::vector<Tensor> inputs(in.begin(), in.end()), outputs(out.begin(), out.end());
        kernel.stages.push_back({"spoil", 0, 0, [=] { spoil(inputs, outputs); }});
        return kernel;
      };
      EXPECT_THAT(verifier.verify(wrong, problem).message(), testing::StartsWith(message));
    });
  }

  void fill_element(const Tensor& tensor, std::int64_t index, double value) {
    const auto offset = index * static_cast<std::int64_t>(dtype_bytes(tensor.dtype));
    device_->fill({static_cast<std::byte*>(tensor.data) + offset, {1}, tensor.dtype},
                  Fill::constant(value), 0);
  }
};

TEST_P(Examples, AgreeWithTheirReferences) {
  Verifier verifier(*device_, 3);
  for_each([&](const Implementation& implementation, const Problem& problem) {
    const Verification result = verifier.verify(implementation, problem);
    EXPECT_TRUE(result.passed()) << result.message();
  });
}

// Also of the first of two outputs.
TEST_P(Examples, FailWithOneWrongElement) {
  for (const std::size_t output : {0, 1}) {
    expect_fails(
        [&](Inputs, const Outputs& out) {
          const Tensor& one = out[std::min(output, out.size() - 1)];
          fill_element(one, one.count() - 1, 30'000);
        },
        "wrong result: ");
  }
}

TEST_P(Examples, FailWithOneElementTooMany) {
  expect_fails([&](Inputs, const Outputs& out) { fill_element(out[0], out[0].count(), 1); },
               "wrong memory: stage 'spoil' wrote past the end of output '");
}

TEST_P(Examples, FailWithAChangedInput) {
  expect_fails([&](Inputs in, const Outputs&) { fill_element(in[0], 0, -128); },
               "wrong memory: stage 'spoil' changed input '");
}

INSTANTIATE_TEST_SUITE_P(Devices, Examples, testing::Values("cpu", "cuda"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace fusegate::kernels
