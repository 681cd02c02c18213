#include "baselines/traces/step_expectation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"
#include "baselines/traces/test_trace.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::ThrowsMessage;

StepExpectation parse_steps(const char* text) {
  const json value = json::parse(text);
  return parse_step_expectation(JsonField(value, "e.json", ""));
}

// Of an expectation of one part.
ExpectationPart checked(const Trace& trace, const char* expectation) {
  const TraceExpectation result = check_steps(trace, parse_steps(expectation));
  EXPECT_EQ(result.parts.size(), 1U);
  return result.parts.at(0);
}

// The example's kernels in each of two steps, and one kernel that is launched before the first.
Trace stepped_trace() {
  using enum TraceCategory;
  Trace trace;
  const std::size_t host = trace.add_track({10, 11, "python", "main"});
  const std::size_t stream = trace.add_track({0, 7, "GPU 0", "stream 7"});
  std::int64_t correlation = 0;
  const auto launch = [&](std::string kernel, std::int64_t at_ns) {
    trace.events.push_back({"cudaLaunchKernel", kRuntimeCall, host, at_ns, 10, ++correlation});
    trace.events.push_back({std::move(kernel), kKernel, stream, at_ns + 20, 5, correlation});
  };
  launch("warm_up", 0);
  for (std::int64_t step = 0; step < 2; ++step) {
    const std::int64_t start = 1000 * (step + 1);
    trace.events.push_back({"ProfilerStep#" + std::to_string(step), kRange, host, start, 900});
    trace.events.push_back({"aten::t", kOperator, host, start + 1, 20});
    trace.events.push_back({"aten::mm", kOperator, host, start + 100, 100});
    launch("nvjet_a", start + 110);
    trace.events.push_back({"aten::gelu", kOperator, host, start + 300, 100});
    launch("GeluCUDAKernelImpl", start + 310);
  }
  return trace;
}

constexpr const char* kBoth =
    R"({"kernels": [{"what": "GEMM", "pattern": "nvjet|gemm", "count": 1},
                    {"what": "gelu", "pattern": "[gG]elu", "count": 1}]})";

TEST(StepExpectation, IsMetWhereEveryStepHasIt) {
  const ExpectationPart part = checked(stepped_trace(), kBoth);
  EXPECT_TRUE(part.met);
  EXPECT_EQ(part.expected, "1 GEMM, 1 gelu");
  EXPECT_EQ(part.seen, "nvjet_a, GeluCUDAKernelImpl");
}

TEST(StepExpectation, IsNotMetWhereOneStepHasAnotherKernel) {
  Trace trace = stepped_trace();
  trace.events.back().name = "mul_kernel";
  const ExpectationPart part = checked(trace, kBoth);
  EXPECT_FALSE(part.met);
  EXPECT_EQ(part.seen, "nvjet_a, mul_kernel");
}

TEST(StepExpectation, IsNotMetWhereAKernelIsMissingOrRunsTwice) {
  EXPECT_FALSE(checked(stepped_trace(), R"({"kernels": [
      {"what": "GEMM", "pattern": "nvjet", "count": 2},
      {"what": "gelu", "pattern": "Gelu"}]})")
                   .met);
  EXPECT_FALSE(checked(stepped_trace(), R"({"kernels": [
      {"what": "kernel", "pattern": ".", "most": 1}]})")
                   .met);
  EXPECT_TRUE(checked(stepped_trace(), R"({"kernels": [
      {"what": "kernel", "pattern": ".", "least": 1, "most": 2}]})")
                  .met);
  EXPECT_EQ(checked(stepped_trace(), R"({"kernels": []})").expected, "no kernel");
}

TEST(StepExpectation, CountsMemoryOperationsAndCalls) {
  const Trace trace = example_trace();  // without steps: one step
  EXPECT_TRUE(checked(trace, R"({"memory_operations": {"count": 1}})").met);
  const ExpectationPart none = checked(trace, R"({"memory_operations": {"count": 0}})");
  EXPECT_FALSE(none.met);
  EXPECT_EQ(none.expected, "no memory operations");
  EXPECT_EQ(none.seen, "1");
  const ExpectationPart launches = checked(
      trace, R"({"calls": [{"what": "launches", "pattern": "cudaLaunchKernel", "most": 1}]})");
  EXPECT_FALSE(launches.met);
  EXPECT_EQ(launches.expected, "at most 1 launches");
  EXPECT_EQ(launches.seen, "cudaLaunchKernelExC, cudaLaunchKernelExC");
}

TEST(StepExpectation, ReportsWhichOperatorsLaunchNothing) {
  EXPECT_TRUE(checked(stepped_trace(), R"({"launch_nothing": ["^aten::t$"]})").met);
  const ExpectationPart product = checked(stepped_trace(), R"({"launch_nothing": ["^aten::mm"]})");
  EXPECT_FALSE(product.met);
  EXPECT_EQ(product.seen, "aten::mm with work of the GPU");
  const ExpectationPart absent = checked(stepped_trace(), R"({"launch_nothing": ["transpose"]})");
  EXPECT_FALSE(absent.met);
  EXPECT_EQ(absent.seen, "no operator or range of this name");
}

TEST(StepExpectation, NamesFileAndFieldOfWhatIsWrong) {
  const auto expect_error = [](const char* text, const char* message) {
    EXPECT_THAT([text] { parse_steps(text); }, ThrowsMessage<InputError>(HasSubstr(message)))
        << text;
  };
  expect_error("{}", "e.json: must have at least one of");
  expect_error(R"({"kernel": []})", "e.json: kernel: unknown key; known: kernels");
  expect_error(R"({"kernels": [{"what": "a", "pattern": "("}]})",
               "e.json: kernels[0].pattern: \"(\" is not a regular expression");
  expect_error(R"({"kernels": [{"pattern": "a"}]})", "e.json: kernels[0].what: is missing");
  expect_error(R"({"memory_operations": {"count": -1}})",
               "memory_operations.count: must not be negative");
  expect_error(R"({"memory_operations": {"least": 2, "most": 1}})",
               "memory_operations.least: must not be more than");
  expect_error(R"({"memory_operations": {"count": 2, "most": 2}})",
               "memory_operations.most: cannot be combined with \"count\"");
}

}  // namespace
}  // namespace fusegate::baselines
