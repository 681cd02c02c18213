// The check passes evaluations that round as eager PyTorch does, in every dtype, and fails kernels
// whose errors the norm of the whole output is too coarse to find.
#include "kernels/contract/rounding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/activations/activations.h"
#include "kernels/contract/device_test.h"
#include "kernels/contract/number_format.h"
#include "kernels/contract/verify.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::kernels {
namespace {

using testing::HasSubstr;
using Values = std::vector<float>;
using Function = std::function<double(double)>;

Values rounded(Values values, Dtype dtype) {
  std::uint32_t stored = 0;
  for (float& value : values) {
    store_element(&stored, dtype, 0, value);
    value = static_cast<float>(load_element(&stored, dtype, 0));
  }
  return values;
}

// Adds the products one by one in fp32, the order with the largest error.
Values product(const Values& x, const Values& w, std::int64_t k, Dtype dtype) {
  const auto depth = static_cast<std::size_t>(k);
  const std::size_t m = x.size() / depth, n = w.size() / depth;
  Values out(m * n);
  for (std::size_t row = 0; row < m; ++row) {
    for (std::size_t i = 0; i < n; ++i) {
      float sum = 0;
      for (std::size_t j = 0; j < depth; ++j) sum += x[row * depth + j] * w[i * depth + j];
      out[row * n + i] = sum;
    }
  }
  return rounded(std::move(out), dtype);
}

Values gated(const Function& activation, Values g, const Values& u, Dtype dtype) {
  for (float& value : g) value = static_cast<float>(activation(value));
  g = rounded(std::move(g), dtype);
  for (std::size_t i = 0; i < g.size(); ++i) g[i] *= u[i];
  return rounded(std::move(g), dtype);
}

Values transposed(const Values& x, std::int64_t cols) {
  const auto width = static_cast<std::size_t>(cols), height = x.size() / width;
  Values out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) out[i % width * height + i / width] = x[i];
  return out;
}

Values multiplied(Values a, const Values& b, Dtype dtype) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] *= b[i];
  return rounded(std::move(a), dtype);
}

Values applied(const Function& function, Values x, Dtype dtype) {
  for (float& value : x) value = static_cast<float>(function(value));
  return rounded(std::move(x), dtype);
}

// dg and du, as autograd evaluates them.
std::vector<Values> unit_backward(const Activation& activation, const Values& g, const Values& u,
                                  const Values& dh, Dtype dtype) {
  Values dg = multiplied(u, dh, dtype);
  for (std::size_t i = 0; i < g.size(); ++i) {
    dg[i] = static_cast<float>(activation.slope(g[i]) * dg[i]);
  }
  return {rounded(std::move(dg), dtype),
          multiplied(applied(activation.reference, g, dtype), dh, dtype)};
}

// in: x, w_gate, w_up, w_down, dy. dx, dw_gate, dw_up and dw_down; dx is a sum of two roundings.
std::vector<Values> mlp_backward(const Activation& activation, const LadderProblem& p,
                                 const std::vector<Values>& in, const Values& g, const Values& u) {
  const Dtype dtype = p.dtype;
  const std::int64_t m = p.rows();
  const auto turned = [](const Values& x, std::int64_t cols) { return transposed(x, cols); };
  const Values dh = product(in[4], turned(in[3], p.hidden), p.dim, dtype);
  const Values h = gated(activation.reference, g, u, dtype);
  const std::vector<Values> d = unit_backward(activation, g, u, dh, dtype);
  const Values x = turned(in[0], p.dim);
  Values dx = product(d[0], turned(in[1], p.dim), p.hidden, dtype);
  const Values of_up = product(d[1], turned(in[2], p.dim), p.hidden, dtype);
  for (std::size_t i = 0; i < dx.size(); ++i) dx[i] += of_up[i];
  return {rounded(std::move(dx), dtype), product(turned(d[0], p.hidden), x, m, dtype),
          product(turned(d[1], p.hidden), x, m, dtype),
          product(turned(in[4], p.dim), turned(h, p.hidden), m, dtype)};
}

// As eager PyTorch evaluates the backward passes; nothing of another operation.
std::vector<Values> eager_backward(const Operation& operation, const LadderProblem& p,
                                   const std::vector<Values>& in) {
  const Dtype dtype = p.dtype;
  for (const Activation& one : kActivations) {
    if (operation.name == one.backward()) return unit_backward(one, in[0], in[1], in[2], dtype);
    if (operation.name == one.mlp_backward()) return mlp_backward(one, p, in, in[5], in[6]);
    if (operation.name == one.mlp_accumulate()) {
      std::vector<Values> out = mlp_backward(one, p, in, in[5], in[6]);
      for (const std::size_t weight : {1, 2, 3}) {
        for (std::size_t i = 0; i < out[weight].size(); ++i) out[weight][i] += in[6 + weight][i];
      }
      return out;
    }
    if (operation.name != one.mlp_training()) continue;
    const Values g = product(in[0], in[1], p.dim, dtype), u = product(in[0], in[2], p.dim, dtype);
    std::vector<Values> out = mlp_backward(one, p, in, g, u);
    out.insert(out.begin(), product(gated(one.reference, g, u, dtype), in[3], p.hidden, dtype));
    return out;
  }
  return {};
}

// As eager PyTorch evaluates it: every step is rounded.
Values eager(const Operation& operation, const LadderProblem& p, const Function& activation,
             const std::vector<Values>& in) {
  const Dtype dtype = p.dtype;
  if (operation.name == "control_copy") return in[0];
  if (in.size() == 2 && operation.name != "control_gemm") {
    return gated(activation, in[0], in[1], dtype);
  }
  Values out = product(in[0], in[1], p.dim, dtype);
  if (operation.name == "linear") {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += in[2][i % in[2].size()];
    return rounded(std::move(out), dtype);
  }
  if (in.size() == 2) return out;
  return product(gated(activation, out, product(in[0], in[2], p.dim, dtype), dtype), in[3],
                 p.hidden, dtype);
}

Function activation_of(const Operation& operation) {
  for (const Activation& one : kActivations) {
    if (operation.name == one.unit || operation.name == one.mlp()) return one.reference;
  }
  return nullptr;
}

using Spoil = std::function<void(Values& out)>;

// Computes on the host, spoils, and stores: on any device.
struct Wrong {
  Spoil spoil = [](Values&) {};
  Function activation = nullptr;  // the operation's own
  int from_call = 0;              // the calls before are right
};

std::vector<Values> on_host(Device& device, const std::vector<Tensor>& tensors) {
  std::vector<Values> all;
  for (const Tensor& tensor : tensors) {
    std::vector<std::byte> stored(tensor.bytes());
    device.copy_to_host(tensor.data, stored);
    Values& values = all.emplace_back(static_cast<std::size_t>(tensor.count()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(
          load_element(stored.data(), tensor.dtype, static_cast<std::int64_t>(i)));
    }
  }
  return all;
}

void store(Device& device, const Values& values, const Tensor& out) {
  std::vector<std::byte> stored(out.bytes());
  for (std::size_t i = 0; i < values.size(); ++i) {
    store_element(stored.data(), out.dtype, static_cast<std::int64_t>(i), values[i]);
  }
  device.copy_to_device(stored, out.data);
}

Implementation eager_but(const Operation& operation, const Wrong& wrong, const Device& device) {
  return {.operation = operation.name,
          .name = "eager",
          .device = std::string(device.kind()),
          .dtypes = all_dtypes(),
          .prepare = [=, &operation](Device& device, const Problem& problem, Inputs in,
                                     const Outputs& out) {
            const std::vector<Values> inputs = on_host(device, {in.begin(), in.end()});
            // Once: they are the same at every call.
            std::vector<Values> right = eager_backward(operation, problem, inputs);
            if (right.empty()) {
              right = {eager(operation, problem,
                             wrong.activation ? wrong.activation : activation_of(operation),
                             inputs)};
            }
            const std::vector<Tensor> outputs(out.begin(), out.end());
            const auto run = [=, &device, call = std::make_shared<int>(0)] {
              const bool is_wrong = (*call)++ >= wrong.from_call;
              for (std::size_t i = 0; i < outputs.size(); ++i) {
                Values values = right[i];
                if (is_wrong) wrong.spoil(values);
                store(device, values, outputs[i]);
              }
            };
            PreparedKernel kernel;
            kernel.stages.push_back({"host", 0, 0, run, ""});
            return kernel;
          }};
}

constexpr Dtype kFloats[] = {Dtype::kFp32, Dtype::kFp16, Dtype::kBf16, Dtype::kFp8E4m3,
                             Dtype::kFp8E5m2};

// The suites' widths as far as a CPU gets; around tiles and vector widths; sums of few numbers; and
// few rows. The rest of the suites is checked on a GPU (bench/measuring/suites_gpu_test.cc).
std::vector<Problem> eager_problems(bool are_large) {
  using Sizes = std::array<std::int64_t, 4>;
  const std::vector<Sizes> large{{1, 1, 768, 3072}, {1, 16, 256, 1024}};
  const std::vector<Sizes> small{{3, 43, 128, 264}, {64, 1, 256, 8}, {1, 512, 64, 1},
                                 {1, 70, 8, 72},    {1, 3, 5, 7},    {1, 1, 8, 8}};
  std::vector<Problem> problems;
  for (const auto& [batch, seq, dim, hidden] : are_large ? large : small) {
    for (const Dtype dtype : kFloats) {
      if (are_large && dtype_bytes(dtype) == 1) continue;
      problems.push_back(ladder_problem(batch, seq, dim, hidden, dtype));
    }
  }
  return problems;
}

bool is_pass(const Operation& operation) {
  return operation.name.find("_mlp_") != std::string::npos;
}

class Rounding : public DeviceTest {
 protected:
  Verification verify(const std::string& operation, const Wrong& wrong, const Problem& problem,
                      std::uint64_t seed = 1) {
    const Operation& found = find_operation(operation);
    return Verifier(*device_, seed).verify(eager_but(found, wrong, *device_), problem);
  }
  void expect_eager_passes(bool are_large, const std::function<bool(const Operation&)>& which,
                           const std::vector<std::uint64_t>& seeds = {1, 2, 3}) {
    for (const Problem& problem : eager_problems(are_large)) {
      for (const Operation& operation : operations()) {
        if (operation.name.find("_fp8") != std::string::npos) continue;  // gated_mlp_fp8_test.cc
        // Those over ranks add up what these compute: gated_mlp_parallel_test.cc.
        if (std::ranges::find(operation.axes, kRanksAxis) != operation.axes.end()) continue;
        if (!which(operation)) continue;
        for (const std::uint64_t seed : seeds) {
          const Verification result = verify(operation.name, {}, problem, seed);
          EXPECT_TRUE(result.passed()) << operation.name << "/" << problem_name(problem)
                                       << ", seed " << seed << ": " << result.message();
        }
      }
    }
  }
  // Expects a failure, although the norm of the whole output is within its bound.
  std::string missed_by_the_norm(const std::string& operation, const Wrong& wrong,
                                 const Problem& problem) {
    const Verification result = verify(operation, wrong, problem);
    EXPECT_LE(result.relative_error, result.bound);
    EXPECT_FALSE(result.passed());
    return result.message();
  }
};

// Four tests, which ctest runs beside each other. The last takes long on a CPU: one activation's
// training, which is a backward pass too.
TEST_P(Rounding, OfEagerPyTorchPassesInEveryOperationAndDtype) {
  expect_eager_passes(false, std::not_fn(&is_pass));
}
TEST_P(Rounding, OfEagerPyTorchPassesInEveryPassAndDtype) { expect_eager_passes(false, &is_pass); }
TEST_P(Rounding, OfEagerPyTorchPassesWhereProblemsAreLarge) {
  expect_eager_passes(true, std::not_fn(&is_pass));
}
TEST_P(Rounding, OfEagerPyTorchPassesWherePassesAreLarge) {
  const std::string training = kActivationOf<GeluTanh>.mlp_training();
  const auto is_it = [&](const Operation& operation) { return operation.name == training; };
  expect_eager_passes(true, is_it, {1});
}

// 1024 rows of 1024 in bf16.
const Problem kUnit = ladder_problem(8, 128, 8, 1024, Dtype::kBf16);
// 300 rows of 256.
Problem mlp(Dtype dtype) { return ladder_problem(1, 300, 256, 512, dtype); }

Spoil zeros(std::ptrdiff_t from, std::ptrdiff_t count) {
  return [=](Values& out) { std::fill_n(out.begin() + from, count, 0.0f); };
}
Spoil copies(std::ptrdiff_t from, std::ptrdiff_t to, std::ptrdiff_t count) {
  return [=](Values& out) { std::copy_n(out.begin() + from, count, out.begin() + to); };
}

TEST_P(Rounding, DoesNotExplainAFewElementsAmongMany) {
  struct Case {
    const char* what;
    Spoil spoil;
    Problem problem;
    const char* message;
  };
  const Problem narrow = ladder_problem(1, 40000, 8, 72, Dtype::kBf16);
  const Spoil larger = [](Values& out) {
    for (std::size_t i = 0; i < 1024; ++i) out[17 * 1024 + i] *= 1.01f;
  };
  for (const auto& [what, spoil, problem, message] :
       {Case{"the last elements of a partial pack", copies((1 << 20) - 16, (1 << 20) - 8, 8), kUnit,
             "^wrong result: an element is off by .* times what rounding comes to, 7.* allowed; "
             "worst is element \\[1023, 10.*\\], which is .* and its reference "},
        {"the last row of a tile", zeros(63 * 1024 + 128, 64), kUnit, "worst is element \\[63, 1"},
        {"a row of zeros", zeros(9999 * 72, 72), narrow, "worst is element \\[9999, "},
        {"a row of another's values", copies(5 * 72, 777 * 72, 72), narrow,
         "worst is element \\[777, "},
        {"a row that is too large", larger, kUnit, "row \\[17, :\\] is "}}) {
    SCOPED_TRACE(what);
    EXPECT_THAT(missed_by_the_norm("geglu", {.spoil = spoil}, problem),
                testing::ContainsRegex(message));
  }
}

TEST_P(Rounding, DoesNotExplainAMissingHead) {
  const Wrong missing{.spoil = [](Values& out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (i % 1024 >= 64 && i % 1024 < 128) out[i] = 0;
    }
  }};
  EXPECT_THAT(verify("geglu", missing, kUnit).message(), HasSubstr("worst is element ["));
}

TEST_P(Rounding, DoesNotExplainOneNaN) {
  const Wrong nan{.spoil = [](Values& out) { out[5 * 1024 + 7] = NAN; }};
  EXPECT_THAT(verify("geglu", nan, kUnit).message(),
              HasSubstr("1 elements are NaN, infinite or were never written, such as element "
                        "[5, 7], which is nan and its reference "));
}

// Only the first call writes what it should.
TEST_P(Rounding, DoesNotExplainAStaleOutput) {
  const Wrong stale{.spoil = [](Values& out) { std::fill(out.begin(), out.end(), NAN); },
                    .from_call = 1};
  EXPECT_THAT(verify("geglu", stale, kUnit).message(),
              testing::StartsWith("wrong result of the second call: 1048576 elements are NaN"));
}

Function gelu_tanh_with(double cubic, double root) {
  return [=](double x) { return 0.5 * x * (1 + std::tanh(root * (x + cubic * x * x * x))); };
}
constexpr double kRoot = GeluTanh::kSqrtTwoOverPi, kCubic = 0.044715;

TEST_P(Rounding, DoesNotExplainAWrongConstant) {
  const Wrong one_percent{.spoil = [](Values& out) {
    for (float& value : out) value *= 1.01f;
  }};
  const Wrong less_cubic{.activation = gelu_tanh_with(kCubic * 2 / 3, kRoot)};
  const Wrong more_cubic{.activation = gelu_tanh_with(kCubic * 4 / 3, kRoot)};
  const Wrong root{.activation = gelu_tanh_with(kCubic, 1.01 * kRoot)};
  for (const Dtype dtype : {Dtype::kFp32, Dtype::kFp16, Dtype::kBf16}) {
    for (const char* const operation : {"geglu", "geglu_mlp"}) {
      const std::string name = std::string(operation) + "/" + std::string(dtype_name(dtype));
      EXPECT_FALSE(verify(operation, one_percent, mlp(dtype)).passed()) << name;
      EXPECT_FALSE(verify(operation, less_cubic, mlp(dtype)).passed()) << name;
      EXPECT_FALSE(verify(operation, more_cubic, mlp(dtype)).passed()) << name;
      if (dtype == Dtype::kBf16) continue;  // 0.2 u of it
      EXPECT_FALSE(verify(operation, root, mlp(dtype)).passed()) << name;
    }
  }
  EXPECT_THAT(missed_by_the_norm("geglu_mlp", more_cubic, mlp(Dtype::kBf16)),
              testing::StartsWith("wrong result: the output is too large by "));
}

INSTANTIATE_TEST_SUITE_P(Devices, Rounding, testing::Values("cpu", "cuda"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace fusegate::kernels
