// Two ranks through the C interface: y = 2 x, of which each has a half. The other rank is this
// program, started again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "baselines/io/file_io.h"
#include "baselines/io/scratch_folder.h"
#include "bench/program/fusegate.h"

namespace fusegate::bench {
namespace {

using testing::AllOf, testing::Each, testing::HasSubstr, testing::StartsWith;

struct Call {
  const float* x;
  float* y;
  bool fails;
};
std::vector<std::string> given;  // what ranks gave, in each launch

fusegate_tensor_spec half_of(const char* name, const fusegate_problem* problem) {
  return {.name = name,
          .shape = &problem->axes[0].size,
          .rank = 1,
          .dtype = nullptr,
          .fill = FUSEGATE_UNIFORM,
          .first = 0,
          .second = 1,
          .tolerance = -1,
          .in_place_of = nullptr,
          .is_weight = 0,
          .is_exact = 0,
          .split_axis = 0};
}

fusegate_error inputs(void*, const fusegate_problem* problem, fusegate_tensor_specs* specs) {
  const fusegate_tensor_spec x = half_of("x", problem);
  fusegate_add_tensor(specs, &x);
  return nullptr;
}

fusegate_error outputs(void*, const fusegate_problem* problem, fusegate_tensor_specs* specs) {
  const fusegate_tensor_spec y = half_of("y", problem);
  fusegate_add_tensor(specs, &y);
  return nullptr;
}

fusegate_error reference(void*, const fusegate_problem*, const fusegate_tensor* in, size_t,
                         const fusegate_tensor* out, size_t) {
  EXPECT_EQ(in->shape[0], 64) << "the whole";
  for (std::int64_t i = 0; i < in->shape[0]; ++i) {
    static_cast<double*>(out->data)[i] = 2 * static_cast<const double*>(in->data)[i];
  }
  return nullptr;
}

void add_text(void* to, int rank, const void* data, size_t bytes) {
  auto& text = *static_cast<std::string*>(to);
  text += std::to_string(rank) + "=";
  text.append(static_cast<const char*>(data), bytes);
  text += ";";
}

fusegate_error launch(void* self) {
  const auto& call = *static_cast<const Call*>(self);
  if (call.fails && fusegate_rank() == 1) return "no such link";
  const std::string own = std::string("\0rank ", 6) + std::getenv("RANK");
  std::string all;
  const fusegate_error error =
      fusegate_gather("who is here", own.data(), own.size(), &add_text, &all);
  if (call.fails) return nullptr;  // though there was a failure
  given.push_back(all);
  for (int i = 0; i < 32; ++i) call.y[i] = 2 * call.x[i];
  return error;
}

fusegate_error prepare(void* fails, const fusegate_problem*, const fusegate_tensor* in, size_t,
                       const fusegate_tensor* out, size_t, fusegate_call* call) {
  EXPECT_EQ(in->shape[0], 32);
  const fusegate_stage stage{.name = "scale",
                             .flops = 32,
                             .min_bytes = 256,
                             .choice = nullptr,
                             .launch = &launch,
                             .self = new Call{static_cast<const float*>(in->data),
                                              static_cast<float*>(out->data), fails != nullptr}};
  fusegate_add_stage(call, &stage);
  fusegate_set_release(
      call, [](void* self) { delete static_cast<Call*>(self); }, stage.self);
  return nullptr;
}

void add() {
  static const std::array axes{"rows", "ranks"};
  static const std::array<fusegate_axis, 2> two{{{"rows", 64, "64"}, {"ranks", 2, "2"}}};
  static const fusegate_problem problem{"fp32", two.data(), two.size()};
  const fusegate_operation operation{.name = "scaled_in_halves",
                                     .registered_at = "kernels.py:3",
                                     .axes = axes.data(),
                                     .axis_count = axes.size(),
                                     .problems = &problem,
                                     .problem_count = 1,
                                     .is_control = 0,
                                     .compared_with = "right",
                                     .self = nullptr,
                                     .inputs = &inputs,
                                     .outputs = &outputs,
                                     .fill = nullptr,
                                     .reference = &reference};
  fusegate_add_operation(&operation);
  static int fails = 1;
  for (const bool is_right : {true, false}) {
    const fusegate_implementation implementation{.operation = "scaled_in_halves",
                                                 .name = is_right ? "right" : "failing",
                                                 .device = "cpu",
                                                 .registered_at = "kernels.py:7",
                                                 .dtypes = &problem.dtype,
                                                 .dtype_count = 1,
                                                 .self = is_right ? nullptr : &fails,
                                                 .refuses = nullptr,
                                                 .prepare = &prepare};
    fusegate_add_implementation(&implementation);
  }
}

int run(const std::string& out) {
  constexpr const char* kSuite = R"({"name": "own", "protocol": {"samples": 2, "layouts": 1,
      "batch_us": 100, "idle_us": 0}, "sweeps": [{"operations": ["scaled_in_halves"]}]})";
  const std::string executable = std::filesystem::read_symlink("/proc/self/exe");
  const std::array<const char*, 2> restart{executable.c_str(), nullptr};
  const fusegate_program program{.name = "kernels",
                                 .suite = kSuite,
                                 .suites = nullptr,
                                 .takes_foreign_suites = 0,
                                 .versions = nullptr,
                                 .commit = nullptr,
                                 .dirty = 0,
                                 .restart = restart.data(),
                                 .opened = nullptr,
                                 .self = nullptr};
  const std::array<const char*, 4> argv{"", "--device=cpu", "--ranks=2", out.c_str()};
  return fusegate_main(static_cast<int>(argv.size()), argv.data(), &program);
}

TEST(CInterfaceRanks, GiveEachOtherAndFailTogether) {
  // Where ranks fall out of step, the engine starts the program once more.
  std::string command;
  std::getline(std::ifstream("/proc/self/cmdline"), command);
  ASSERT_THAT(command, testing::Not(HasSubstr("--resume")));
  EXPECT_EQ(fusegate_rank(), 0);
  EXPECT_EQ(fusegate_ranks(), 1);
  std::string alone;
  EXPECT_EQ(fusegate_gather("alone", "a", 1, &add_text, &alone), nullptr);
  EXPECT_EQ(alone, "0=a;");
  add();
  const baselines::ScratchFolder folder;
  EXPECT_EQ(run("--out=" + (folder.path() / "1.json").string()), 2) << "one fails";
  EXPECT_THAT(given, AllOf(testing::SizeIs(testing::Gt(4)),
                           Each(std::string("0=\0rank 0;1=\0rank 1;", 20))));
  const auto file = nlohmann::json::parse(baselines::read_file(folder.path() / "1.json"));
  std::vector<std::string> failures;
  std::size_t ranks = 0;
  for (const auto& entry : file["benchmarks"]) {
    const std::string name = entry["name"];
    if (entry.contains("error_occurred"))
      failures.push_back(name + ": " + entry["error_message"].get<std::string>());
    if (entry.contains("details")) ranks += entry["details"]["ranks"].size();
  }
  EXPECT_THAT(failures, testing::ElementsAre(AllOf(StartsWith("scaled_in_halves/failing/"),
                                                   HasSubstr(": rank 1: no such link"))));
  EXPECT_EQ(ranks, 2u);
}

}  // namespace
}  // namespace fusegate::bench
