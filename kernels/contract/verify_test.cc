// The check of kernels of any operation, by kernels that are wrong on purpose.
#include "kernels/contract/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "kernels/contract/number_format.h"

namespace fusegate::kernels {
namespace {

using testing::HasSubstr;

// sum = x + y, in place of y; largest [1] = max of sum; scaled = round(x) as int8.
Operation three_outputs() {
  return {
      .name = "three_outputs",
      .axes = {"heads", "kv"},
      .inputs = [](const Problem& p) -> std::vector<TensorSpec> {
        const std::vector<std::int64_t> shape{p.at("heads"), 3, p.at("kv")};
        return {{"x", shape, Fill::normal(2)}, {"y", shape}};
      },
      .outputs = [](const Problem& p) -> std::vector<TensorSpec> {
        const std::vector<std::int64_t> shape{p.at("heads"), 3, p.at("kv")};
        return {{.name = "sum", .shape = shape, .in_place_of = "y"},
                {.name = "largest", .shape = {}, .dtype = Dtype::kFp32, .tolerance = 1e-2},
                {.name = "rounded", .shape = shape, .dtype = Dtype::kInt8}};
      },
      .host_reference =
          [](const Problem&, std::span<const std::vector<double>> in,
             std::span<std::vector<double>> out) {
            for (std::size_t i = 0; i < in[0].size(); ++i) {
              out[0][i] = in[0][i] + in[1][i];
              out[2][i] = std::nearbyint(in[0][i]);
            }
            out[1][0] = *std::ranges::max_element(out[0]);
          },
  };
}

struct Wrongs {
  int sum = 0, rounded = 0;  // elements off by one, or by one unit
  double largest = 0;
  int past = 0;        // bytes past the end of "rounded"
  int before = 0;      // bytes before the start of x
  bool input = false;  // changes x
};

void compute(const Wrongs& wrong, Inputs in, const Outputs& out) {
  const std::int64_t count = in[0].count();
  double largest = -1e9;
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = load_element(in[0].data, in[0].dtype, i);
    const double sum = x + load_element(in[1].data, in[1].dtype, i);
    store_element(out[0].data, out[0].dtype, i, i < wrong.sum ? sum + 1 : sum);
    store_element(out[2].data, out[2].dtype, i, std::nearbyint(x) + (i < wrong.rounded ? 1 : 0));
    largest = std::max(largest, sum);
  }
  store_element(out[1].data, out[1].dtype, 0, largest + wrong.largest);
  auto* const rounded = static_cast<std::byte*>(out[2].data);
  std::memset(rounded + out[2].bytes(), 7, static_cast<std::size_t>(wrong.past));
  std::memset(static_cast<std::byte*>(in[0].data) - wrong.before, 7,
              static_cast<std::size_t>(wrong.before));
  if (wrong.input) store_element(in[0].data, in[0].dtype, count - 1, 99);
}

Implementation with(const Wrongs& wrong) {
  return {.operation = "three_outputs",
          .name = "plain",
          .device = "cpu",
          .dtypes = all_dtypes(),
          .prepare = [wrong](Device&, const Problem&, Inputs in, const Outputs& out) {
            PreparedKernel kernel;
            const std::vector<Tensor> inputs(in.begin(), in.end()), outputs(out.begin(), out.end());
            const auto run = [=](const Wrongs& how) { compute(how, inputs, outputs); };
            kernel.stages.push_back({"first", 0, 0, [] {}, ""});
            kernel.stages.push_back({"second", 0, 0, [=] { run(wrong); }, ""});
            return kernel;
          }};
}

const OperationRegistration registered{three_outputs()};

class VerifierOfAnyOperation : public testing::Test {
 protected:
  Verification verify(const Wrongs& wrong, Dtype dtype = Dtype::kFp32) {
    return verifier_.verify(with(wrong), {dtype, {{"heads", 2}, {"kv", 37}}});
  }

  std::unique_ptr<Device> device_ = open_device("cpu");
  Verifier verifier_{*device_, 5};
};

TEST_F(VerifierOfAnyOperation, PassesARightKernelInEveryDtypeAndEveryTime) {
  for (const Dtype dtype : all_dtypes()) {
    for (const int time : {1, 2}) {
      const Verification result = verify({}, dtype);
      // In integers of 8 bits sums never leave the range here.
      EXPECT_TRUE(result.passed()) << dtype_name(dtype) << ", " << time << ": " << result.message();
    }
  }
}

TEST_F(VerifierOfAnyOperation, NamesTheOutputThatIsWrong) {
  EXPECT_THAT(verify({.sum = 1}).message(), HasSubstr("wrong result: output 'sum': relative"));
  EXPECT_FALSE(verify({.sum = 1}).passed());
  EXPECT_THAT(verify({.rounded = 1}).message(), HasSubstr("output 'rounded'"));
}

TEST_F(VerifierOfAnyOperation, ComparesIntegersExactlyAndOthersByTheirTolerance) {
  const Verification off_by_one = verify({.rounded = 1});
  EXPECT_FALSE(off_by_one.passed());
  EXPECT_EQ(off_by_one.bound, 0);
  EXPECT_TRUE(verify({.largest = 1e-3}).passed()) << "within the output's own tolerance";
  EXPECT_FALSE(verify({.largest = 1}).passed());
}

TEST_F(VerifierOfAnyOperation, SeesWhatIsWrittenOutsideATensor) {
  EXPECT_EQ(verify({.past = 1}).message(),
            "wrong memory: stage 'second' wrote past the end of output 'rounded'");
  EXPECT_EQ(verify({.before = 3}).message(),
            "wrong memory: stage 'second' wrote before the start of input 'x'");
  EXPECT_TRUE(verify({}).passed()) << "the next kernel starts afresh";
}

TEST_F(VerifierOfAnyOperation, SeesAChangedInput) {
  const Verification result = verify({.input = true});
  EXPECT_FALSE(result.passed());
  EXPECT_EQ(result.message(), "wrong memory: stage 'second' changed input 'x'");
  EXPECT_TRUE(verify({}).passed()) << "the next kernel starts afresh";
}

// What Verifier throws of an operation with that change.
std::string thrown(void (*spoil)(Operation&)) {
  Operation operation = three_outputs();
  spoil(operation);
  const auto device = open_device("cpu");
  const Problem problem{Dtype::kFp32, {{"heads", 1}, {"kv", 4}}};
  static int number = 0;
  operation.name = "spoiled_" + std::to_string(++number);
  const OperationRegistration one_more{operation};
  Implementation implementation = with({});
  implementation.operation = operation.name;
  try {
    Verifier(*device, 1).verify(implementation, problem);
    return "";
  } catch (const ContractError& error) {
    return error.what();
  }
}

TEST(BadReference, OfAnotherSizeIsReported) {
  EXPECT_THAT(thrown([](Operation& o) {
                o.host_reference = [](const Problem&, auto, auto out) {
                  for (auto& values : out) values.assign(5, 0.0);
                };
              }),
              testing::AllOf(HasSubstr("operation 'spoiled_"),
                             HasSubstr("': host_reference of fp32/heads:1/kv:4: made 5 values for "
                                       "output 'sum', which has 12")));
}

TEST(BadReference, ThatIsNotFiniteOrNeverWrittenIsReported) {
  EXPECT_THAT(thrown([](Operation& o) {
                o.host_reference = [](const Problem&, auto, auto out) {
                  for (auto& values : out) values.assign(values.size(), 0.0);
                  out[0][7] = INFINITY;
                  out[0][8] = NAN;
                };
              }),
              HasSubstr("2 of 12 values of output 'sum' are NaN, infinite or were never written"));
  EXPECT_THAT(thrown([](Operation& o) { o.host_reference = [](auto&&...) {}; }),
              HasSubstr("12 of 12 values of output 'sum'"));
}

TEST(BadReference, ThatThrowsIsReported) {
  EXPECT_THAT(thrown([](Operation& o) {
                o.host_reference = [](const Problem&, auto, auto) {
                  throw std::runtime_error("no such file");
                };
              }),
              HasSubstr("host_reference of fp32/heads:1/kv:4: no such file"));
}

TEST(BadReference, OnTheDeviceThatWritesTooMuchIsReported) {
  EXPECT_THAT(
      thrown([](Operation& o) {
        o.host_reference = nullptr;
        o.reference = [](Device&, const Problem&, std::span<double* const>,
                         const OneOrMore<double*>& out) {
          for (double* const values : out) std::fill_n(values, 13, 0.0);
        };
      }),
      HasSubstr("reference of fp32/heads:1/kv:4: wrote more than the 12 values of output 'sum'"));
}

TEST(FillByFunction, WritesValuesAndRejectsNaN) {
  const auto by = [](Fill::Function function) {
    Operation operation = three_outputs();
    operation.inputs = [function](const Problem&) -> std::vector<TensorSpec> {
      return {{"x", {1, 3, 4}, Fill::values(function)}, {"y", {1, 3, 4}}};
    };
    return operation;
  };
  const auto device = open_device("cpu");
  const Problem problem{Dtype::kBf16, {{"heads", 1}, {"kv", 4}}};
  const Workspace workspace(*device,
                            by([](const Problem&, std::uint64_t, std::span<double> values) {
                              std::iota(values.begin(), values.end(), 0.0);
                            }),
                            problem, 1);
  EXPECT_EQ(load_element(workspace.inputs()[0].data, Dtype::kBf16, 11), 11);
  const Operation bad = by([](const Problem&, std::uint64_t, std::span<double> values) {
    std::ranges::fill(values, NAN);
  });
  EXPECT_THAT([&] { Workspace(*device, bad, problem, 1); },
              testing::ThrowsMessage<ContractError>(HasSubstr(
                  "operation 'three_outputs': fill of input 'x': value 0 is NaN or infinite")));
}

TEST(WorkspaceInPlace, SharesTheMemoryAndStartsAfreshEveryTime) {
  const auto device = open_device("cpu");
  const Problem problem{Dtype::kFp32, {{"heads", 1}, {"kv", 4}}};
  Workspace workspace(*device, three_outputs(), problem, 1, Workspace::Guards::kAround);
  EXPECT_EQ(workspace.outputs()[0].data, workspace.inputs()[1].data);
  EXPECT_EQ(workspace.tensors().size(), 4u);
  const double first = load_element(workspace.outputs()[0].data, Dtype::kFp32, 0);
  store_element(workspace.outputs()[0].data, Dtype::kFp32, 0, 1e6);
  EXPECT_EQ(workspace.damage(), "") << "it may be written";
  workspace.restore();
  EXPECT_EQ(load_element(workspace.inputs()[1].data, Dtype::kFp32, 0), first);
}

}  // namespace
}  // namespace fusegate::kernels
