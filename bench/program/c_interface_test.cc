#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "baselines/io/file_io.h"
#include "baselines/io/scratch_folder.h"
#include "bench/program/fusegate.h"

namespace fusegate::bench {
namespace {

// A program as a binding writes it: y = 2 x, where kind is "right". What failed is a literal.
struct Call {
  const float* x;
  float* y;
  std::int64_t count;
  float factor;
  std::vector<float> own;  // where a launch leaves its result until it is collected
};
std::set<Call*> calls;
std::set<std::string> kinds;

fusegate_error inputs(void*, const fusegate_problem* problem, fusegate_tensor_specs* specs) {
  const fusegate_tensor_spec spec{.name = "x",
                                  .shape = &problem->axes[0].size,
                                  .rank = 1,
                                  .dtype = nullptr,
                                  .fill = FUSEGATE_FILLED,
                                  .first = 0,
                                  .second = 0,
                                  .tolerance = -1,
                                  .in_place_of = nullptr,
                                  .is_weight = 0,
                                  .is_exact = 0,
                                  .split_axis = -1};
  fusegate_add_tensor(specs, &spec);
  return nullptr;
}

fusegate_error outputs(void*, const fusegate_problem* problem, fusegate_tensor_specs* specs) {
  kinds.insert(problem->axes[1].text);
  if (std::strcmp(problem->axes[1].text, "throws") == 0) return "no such kind";
  const fusegate_tensor_spec spec{.name = "y",
                                  .shape = &problem->axes[0].size,
                                  .rank = 1,
                                  .dtype = "fp32",
                                  .fill = FUSEGATE_CONSTANT,
                                  .first = 0,
                                  .second = 0,
                                  .tolerance = 1e-6,
                                  .in_place_of = nullptr,
                                  .is_weight = 0,
                                  .is_exact = 0,
                                  .split_axis = -1};
  fusegate_add_tensor(specs, &spec);
  return nullptr;
}

fusegate_error fill(void*, const fusegate_problem*, size_t, uint64_t seed,
                    const fusegate_tensor* x) {
  for (std::int64_t i = 0; i < x->shape[0]; ++i) {
    static_cast<float*>(x->data)[i] =
        static_cast<float>((seed + static_cast<std::uint64_t>(i)) % 7);
  }
  return nullptr;
}

fusegate_error reference(void*, const fusegate_problem*, const fusegate_tensor* in, size_t,
                         const fusegate_tensor* out, size_t) {
  EXPECT_STREQ(in->dtype, "fp64");
  for (std::int64_t i = 0; i < in->shape[0]; ++i) {
    static_cast<double*>(out->data)[i] = 2 * static_cast<const double*>(in->data)[i];
  }
  return nullptr;
}

fusegate_error launch(void* self) {
  auto& call = *static_cast<Call*>(self);
  fusegate_begin_stage("multiply");
  for (std::int64_t i = 0; i < call.count; ++i) call.own[i] = call.factor * call.x[i];
  fusegate_end_stage();
  fusegate_begin_stage("left open");
  return nullptr;
}

fusegate_error collect(void* self) {
  const auto& call = *static_cast<Call*>(self);
  std::ranges::copy(call.own, call.y);
  return nullptr;
}

void release(void* self) {
  auto* const call = static_cast<Call*>(self);
  EXPECT_EQ(calls.erase(call), 1u) << "released once";
  delete call;
}

fusegate_error prepare(void* factor, const fusegate_problem*, const fusegate_tensor* in, size_t,
                       const fusegate_tensor* out, size_t, fusegate_call* call) {
  const std::int64_t count = in->shape[0];
  auto* const one =
      new Call{static_cast<const float*>(in->data), static_cast<float*>(out->data), count,
               *static_cast<float*>(factor), std::vector<float>(static_cast<std::size_t>(count))};
  calls.insert(one);
  const fusegate_stage stage{.name = "scale",
                             .flops = static_cast<double>(count),
                             .min_bytes = 8.0 * static_cast<double>(count),
                             .choice = "by one",
                             .launch = &launch,
                             .self = one};
  fusegate_add_stage(call, &stage);
  fusegate_stage marked = stage;
  marked.name = "multiply";
  marked.choice = nullptr;
  marked.launch = nullptr;
  fusegate_add_stage(call, &marked);
  fusegate_set_collect(call, &collect, one);
  fusegate_set_release(call, &release, one);
  return nullptr;
}

void add(const char* name, float& factor, const char* dtype = "fp32") {
  const fusegate_implementation implementation{.operation = "scaled_by_c",
                                               .name = name,
                                               .device = "cpu",
                                               .registered_at = "kernels.py:7",
                                               .dtypes = &dtype,
                                               .dtype_count = 1,
                                               .self = &factor,
                                               .refuses = nullptr,
                                               .prepare = &prepare};
  fusegate_add_implementation(&implementation);
}

int opened = 0;  // how often the program got its device

fusegate_error open(void* self) {
  ++*static_cast<int*>(self);
  EXPECT_STREQ(fusegate_device(), "cpu");
  return nullptr;
}

constexpr const char* kSuite = R"({"name": "own", "protocol": {"samples": 2, "layouts": 1,
    "batch_us": 100, "idle_us": 0}, "sweeps": [{"operations": ["scaled_by_c"]}]})";

int run(const std::vector<const char*>& arguments, bool foreign = false) {
  const char* const restart[] = {"/bin/false", nullptr};
  const fusegate_program program{.name = "kernels",
                                 .suite = kSuite,
                                 .suites = nullptr,
                                 .takes_foreign_suites = foreign,
                                 .versions = R"({"triton": "3.6.0"})",
                                 .commit = "0123456789abcdef",
                                 .dirty = 0,
                                 .restart = restart,
                                 .opened = &open,
                                 .self = &opened};
  std::vector<const char*> argv{"", "--device=cpu"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return fusegate_main(static_cast<int>(argv.size()), argv.data(), &program);
}

// The names of what is planned.
std::set<std::string> planned(std::vector<const char*> flags, bool foreign = false) {
  flags.push_back("--plan");
  testing::internal::CaptureStdout();
  EXPECT_EQ(run(flags, foreign), 0);
  const auto plan = nlohmann::json::parse(testing::internal::GetCapturedStdout());
  std::set<std::string> names;
  for (const auto& swept : plan["work"]) {
    for (const auto& problem : swept["problems"]) {
      names.insert(swept["operation"].get<std::string>() + "/" +
                   problem["name"].get<std::string>());
    }
  }
  return names;
}

void add_operation() {
  static const char* const axes[] = {"rows", "kind"};
  static const fusegate_axis right[] = {{"rows", 64, "64"}, {"kind", 0, "right"}};
  static const fusegate_axis half[] = {{"rows", 64, "64"}, {"kind", 0, "0.5"}};
  static const fusegate_axis yes[] = {{"rows", 64, "64"}, {"kind", 0, "true"}};
  static const fusegate_problem problems[] = {
      {"fp32", right, 2}, {"fp32", half, 2}, {"fp32", yes, 2}};
  const fusegate_operation operation{.name = "scaled_by_c",
                                     .registered_at = "kernels.py:3",
                                     .axes = axes,
                                     .axis_count = 2,
                                     .problems = problems,
                                     .problem_count = 3,
                                     .is_control = 0,
                                     .compared_with = "right",
                                     .self = nullptr,
                                     .inputs = &inputs,
                                     .outputs = &outputs,
                                     .fill = &fill,
                                     .reference = &reference};
  fusegate_add_operation(&operation);
}

void expect_plans() {
  using testing::UnorderedElementsAre;
  EXPECT_THAT(planned({"--suite=own", "--axis=rows=8,16", "--axis=kind=right"}),
              UnorderedElementsAre("scaled_by_c/fp32/rows:8/kind:right",
                                   "scaled_by_c/fp32/rows:16/kind:right"));
  EXPECT_THAT(planned({"--problem=rows:4/kind:0.25"}),
              UnorderedElementsAre("scaled_by_c/fp32/rows:4/kind:0.25"));
  EXPECT_THAT(planned({"--dtype=fp16", "--axis=kind=true"}),
              UnorderedElementsAre("scaled_by_c/fp16/rows:64/kind:true"));
  const baselines::ScratchFolder folder;
  folder.write("theirs.json", R"({"name": "theirs", "sweeps": [
      {"operations": ["gemm"], "implementations": ["x"], "dtype": ["fp32"], "m": [8]},
      {"operations": ["gemm", "scaled_by_c"], "implementations": ["x"], "dtype": ["fp32"],
       "rows": [32], "kind": ["right"]}]})");
  const std::string theirs = "--suite=" + (folder.path() / "theirs.json").string();
  EXPECT_THAT(planned({theirs.c_str()}, true),
              UnorderedElementsAre("scaled_by_c/fp32/rows:32/kind:right"));
  EXPECT_EQ(run({theirs.c_str()}), 2) << "not its own, and it names what is unknown";
}

// Once a process: Google Benchmark remembers what is registered.
TEST(CInterface, MeasuresWhatAProgramRegisters) {
  ASSERT_EQ(fusegate_abi(), FUSEGATE_ABI);
  add_operation();
  static float two = 2, three = 3;
  add("right", two);
  add("wrong", three);
  expect_plans();
  kinds.clear();
  opened = 0;
  const baselines::ScratchFolder folder;
  const std::string out = "--out=" + (folder.path() / "1.json").string();
  EXPECT_EQ(run({out.c_str(), "--process=1"}), 2) << "a kernel is wrong";
  EXPECT_EQ(opened, 1);
  EXPECT_TRUE(calls.empty()) << "every call was released";
  EXPECT_THAT(kinds, testing::UnorderedElementsAre("right", "0.5", "true"));

  const auto file = nlohmann::json::parse(baselines::read_file(folder.path() / "1.json"));
  const auto& context = file["context"]["fusegate"];
  EXPECT_EQ(context["suite"], "own");
  EXPECT_EQ(context["environment"]["triton"], "3.6.0");
  EXPECT_EQ(context["provenance"]["commit"], "0123456789abcdef");
  EXPECT_EQ(context["compared_with"]["scaled_by_c"], nlohmann::json({"right"}));
  std::set<std::string> measured, failed;
  for (const auto& entry : file["benchmarks"]) {
    const bool is_failure = entry.contains("error_occurred");
    (is_failure ? failed : measured).insert(entry["name"].get<std::string>());
    if (entry.contains("details") && entry["details"].contains("stages")) {
      EXPECT_EQ(entry["details"]["stages"].at(1).at("name"), "multiply") << "marked by the launch";
    }
    EXPECT_EQ(entry.value("kernel_launches", 1), 1);
    if (!is_failure) continue;
    EXPECT_THAT(entry["error_message"], testing::HasSubstr("wrong result"));
  }
  EXPECT_THAT(measured, testing::UnorderedElementsAre("scaled_by_c/right/fp32/rows:64/kind:right",
                                                      "scaled_by_c/right/fp32/rows:64/kind:0.5",
                                                      "scaled_by_c/right/fp32/rows:64/kind:true"));
  EXPECT_EQ(failed.size(), 3u);
}

// After the test above, which registers.
TEST(CInterface, TracesTheStagesThatALaunchMarks) {
  const baselines::ScratchFolder folder;
  const std::string out = "--trace=" + (folder.path() / "trace.json").string();
  const std::string filter = "--benchmark_filter=scaled_by_c/right/fp32/rows:64/kind:right";
  fusegate_begin_stage("outside of a launch");
  fusegate_end_stage();
  EXPECT_EQ(run({out.c_str(), filter.c_str()}), 0);
  const auto trace = nlohmann::json::parse(baselines::read_file(folder.path() / "trace.json"));
  std::vector<std::string> ranges;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "X") ranges.push_back(event["name"]);
  }
  ASSERT_EQ(ranges.size(), 15u) << "three steps";
  EXPECT_THAT((std::vector(ranges.begin(), ranges.begin() + 5)),
              testing::ElementsAre("ProfilerStep#2", "scaled_by_c/right/fp32/rows:64/kind:right",
                                   "scale", "multiply", "left open"));
}

}  // namespace
}  // namespace fusegate::bench
