// Every example against its reference, on every device of this machine; and spoilt ones, which must
// fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

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

class Examples : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    try {
      device_ = open_device(GetParam());
    } catch (const DeviceError& error) {
      GTEST_SKIP() << error.what();
    }
  }

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

  // The implementation, and then something that a kernel must not do.
  Implementation spoilt(const Implementation& implementation,
                        std::function<void(Inputs, const Outputs&)> spoil) {
    Implementation wrong = implementation;
    wrong.prepare = [=, right = implementation.prepare](Device& device, const Problem& problem,
                                                        Inputs in, const Outputs& out) {
      PreparedKernel kernel = right(device, problem, in, out);
      const std::vector<Tensor> inputs(in.begin(), in.end()), outputs(out.begin(), out.end());
      kernel.stages.push_back({"spoil", 0, 0, [=] { spoil(inputs, outputs); }, ""});
      return kernel;
    };
    return wrong;
  }

  std::unique_ptr<Device> device_;
};

TEST_P(Examples, AgreeWithTheirReferences) {
  Verifier verifier(*device_, 3);
  for_each([&](const Implementation& implementation, const Problem& problem) {
    const Verification result = verifier.verify(implementation, problem);
    EXPECT_TRUE(result.passed()) << result.message();
  });
}

// The last element of an output as another number.
TEST_P(Examples, FailWithOneWrongElement) {
  Verifier verifier(*device_, 3);
  for_each([&](const Implementation& implementation, const Problem& problem) {
    const auto outputs = output_specs(find_operation(implementation.operation), problem);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto wrong = spoilt(implementation, [&](Inputs, const Outputs& out) {
        const std::size_t before = out[i].bytes() - dtype_bytes(out[i].dtype);
        device_->fill({static_cast<std::byte*>(out[i].data) + before, {1}, out[i].dtype},
                      Fill::constant(30'000), 0);
      });
      EXPECT_THAT(verifier.verify(wrong, problem).message(), testing::StartsWith("wrong result: "));
    }
  });
}

TEST_P(Examples, FailWithOneElementTooMany) {
  Verifier verifier(*device_, 3);
  for_each([&](const Implementation& implementation, const Problem& problem) {
    const auto wrong = spoilt(implementation, [&](Inputs, const Outputs& out) {
      device_->fill({static_cast<std::byte*>(out[0].data) + out[0].bytes(), {1}, out[0].dtype},
                    Fill::constant(1), 0);
    });
    EXPECT_THAT(verifier.verify(wrong, problem).message(),
                testing::StartsWith("wrong memory: stage 'spoil' wrote past the end of output '"));
  });
}

TEST_P(Examples, FailWithAChangedInput) {
  Verifier verifier(*device_, 3);
  for_each([&](const Implementation& implementation, const Problem& problem) {
    const auto wrong = spoilt(implementation, [&](Inputs in, const Outputs&) {
      device_->fill({in[0].data, {1}, in[0].dtype}, Fill::constant(-128), 0);
    });
    EXPECT_THAT(verifier.verify(wrong, problem).message(),
                testing::StartsWith("wrong memory: stage 'spoil' changed input '"));
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, Examples, testing::Values("cpu", "cuda"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace fusegate::kernels
