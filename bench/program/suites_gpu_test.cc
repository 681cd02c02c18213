// Every benchmark of the suites on a GPU, checked as before it is timed, and what that costs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "baselines/io/file_io.h"
#include "bench/meters/meter_test_fixture.h"
#include "bench/plan/plan.h"
#include "bench/plan/suite.h"
#include "kernels/contract/expected.h"
#include "kernels/contract/verify.h"
#include "kernels/contract/workspace.h"

namespace fusegate::bench {
namespace {

// They lie beside the program.
Suite suite(const std::string& name) {
  const auto path =
      suite_path(name, std::filesystem::read_symlink("/proc/self/exe").parent_path() / "suites");
  return parse_suite(nlohmann::json::parse(baselines::read_file(path)), path.string());
}

class SuitesGpuTest : public MeterTest {
 protected:
  // What f takes on the device, once it has run before: the first time loads code.
  template <typename F>
  double seconds(F&& f) {
    f();
    device_->synchronize();
    const auto begin = std::chrono::steady_clock::now();
    f();
    device_->synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
};

// A seed a problem, in turn: all three for each benchmark take minutes, and neighbours launch the
// same kernels. The implementations of a problem share its reference. `nightly` checks itself every
// night.
TEST_F(SuitesGpuTest, PassTheirCheckWithOneOfThreeSeeds) {
  if (std::getenv("FUSEGATE_FEW_SHAPES") != nullptr) GTEST_SKIP() << "takes all shapes";
  std::vector<kernels::Verifier> verifiers;
  for (const std::uint64_t seed : {1, 2, 3}) verifiers.emplace_back(*device_, seed);
  std::set<std::string> seen, problems;
  for (const std::string name : {"smoke", "pr", "ladder", "training"}) {
    const Plan plan = make_plan(suite(name).sweeps, *device_, name);
    for (const PlannedBenchmark& benchmark : plan.benchmarks) {
      if (!seen.insert(benchmark.name()).second) continue;
      problems.insert(benchmark.implementation->operation +
                      kernels::problem_name(benchmark.problem));
      const std::size_t i = problems.size() % verifiers.size();
      const kernels::Verification result =
          verifiers[i].verify(*benchmark.implementation, benchmark.problem);
      EXPECT_TRUE(result.passed()) << benchmark.name() << ", seed " << i + 1 << ": "
                                   << result.message();
    }
  }
}

// The bounds of an output, and its comparison with them after each of two calls, over the time that
// the samples alone take.
TEST_F(SuitesGpuTest, AreBoundedAtLittleCost) {
  for (const std::string name : {"pr", "ladder"}) {
    const Suite one = suite(name);
    const Plan plan = make_plan(one.sweeps, *device_, name);
    const Protocol protocol = one.protocol_on("cuda");
    const std::chrono::duration<double> sample = protocol.batch + protocol.idle;
    double bounds_s = 0, comparing_s = 0;
    std::string last;
    double compare_s = 0;
    for (const PlannedBenchmark& benchmark : plan.benchmarks) {
      const kernels::Operation& operation =
          kernels::find_operation(benchmark.implementation->operation);
      const std::string key = operation.name + kernels::problem_name(benchmark.problem);
      if (key != last) {
        const kernels::Workspace workspace(*device_, operation, benchmark.problem, 1);
        const auto expect = [&] {
          return kernels::expected_outputs(*device_, operation, benchmark.problem, workspace, 1);
        };
        bounds_s += seconds(expect) - seconds([&] {
                      kernels::reference_values(*device_, operation, benchmark.problem, workspace);
                    });
        const kernels::Expected expected = expect();
        compare_s = seconds([&] {
          expected.bounds[0].beyond(device_->reference_math().errors(
              workspace.outputs()[0], static_cast<const double*>(expected.values[0].data()),
              expected.bounds[0].scale()));
        });
      }
      last = key;
      comparing_s += 2 * compare_s;
    }
    const double sampling_s =
        sample.count() * protocol.samples * static_cast<double>(plan.benchmarks.size());
    fmt::print(
        "{}: {:.3f} s for the bounds and {:.3f} s to compare, {:.1f} s of samples: {:.2f} %\n",
        name, bounds_s, comparing_s, sampling_s, 100 * (bounds_s + comparing_s) / sampling_s);
    EXPECT_LT(bounds_s + comparing_s, 0.03 * sampling_s) << name;
  }
}

}  // namespace
}  // namespace fusegate::bench
