#include "baselines/launches/call_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;

// As the schema of a run file has it.
json one_of_each() {
  return json::parse(R"({
    "kernels": [{"name": "gemm", "stage": "gate_proj", "grid": [24, 64, 1], "block": [384, 1, 1],
                 "registers": 168, "static_shared_bytes": 16, "dynamic_shared_bytes": 200000,
                 "start_ns": 8000.0, "duration_ns": 31000.0, "correlation": 5}],
    "memory_operations": [{"kind": "memset", "bytes": 528, "stage": "gate_proj",
                           "start_ns": 5000.0, "duration_ns": 900.0, "correlation": 4}],
    "calls": [{"name": "cudaLaunchKernelExC", "stage": "gate_proj", "start_ns": 1200.0,
               "duration_ns": 3400.0, "correlation": 5}]})");
}

CallProfile parse(const json& value) {
  return parse_call_profile(JsonField(value, "1.json", "profile"));
}

TEST(CallProfile, IsWrittenAsItWasRead) {
  EXPECT_EQ(call_profile_json(parse(one_of_each())), one_of_each());
}

TEST(CallProfile, KeepsWhatWasLaunchedAndWhen) {
  const CallProfile profile = parse(one_of_each());
  ASSERT_EQ(profile.kernels.size(), 1u);
  EXPECT_EQ(profile.kernels[0].span.stage, "gate_proj");
  EXPECT_THAT(profile.kernels[0].grid, testing::ElementsAre(24, 64, 1));
  EXPECT_DOUBLE_EQ(profile.kernels[0].span.end_ns(), 39000);
  EXPECT_EQ(profile.kernels[0].span.correlation, profile.calls.at(0).span.correlation);
  EXPECT_EQ(profile.memory_operations.at(0).bytes, 528);
}

TEST(CallProfile, NamesWhatIsWrong) {
  const auto says = [](const char* field, const json& value, const char* message) {
    json broken = one_of_each();
    broken[json::json_pointer(field)] = value;
    EXPECT_THAT([&] { parse(broken); },
                testing::ThrowsMessage<InputError>(testing::HasSubstr(message)))
        << field;
  };
  says("/kernels/0/grid", json::array({1, 2}), "kernels[0].grid");
  says("/kernels/0/registers", -1, "registers");
  says("/kernels/0/correlation", 1.5, "whole number");
  says("/kernels/0/duration_ns", -2, "duration_ns");
  says("/memory_operations/0/kind", 3, "memory_operations[0].kind");
  says("/calls", 3, "calls");
}

}  // namespace
}  // namespace fusegate::baselines
