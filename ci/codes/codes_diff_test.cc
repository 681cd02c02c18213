#include "ci/codes/codes_diff.h"

#include <gmock/gmock.h>

#include "ci/codes/codes_text.h"

namespace fusegate::ci {
namespace {

using baselines::ExitCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ProgramKernel kernel_of(const std::string& name, const std::string& hash,
                        const std::string& architecture = "sm_90a", int instructions = 100) {
  return {name, architecture, {.hash = hash, .instructions = instructions}};
}

ProgramCodes codes_of(std::vector<ProgramKernel> kernels) {
  return {.kernels = std::move(kernels)};
}

const ProgramCodes kBase = codes_of({kernel_of("a", "0a"), kernel_of("b", "0b")});

baselines::BenchmarkSeries launching(const std::string& name, const std::string& kernel,
                                     const std::string& code) {
  baselines::BenchmarkSeries series;
  series.name = name;
  series.identity = baselines::CallIdentity{.launches = {{.kernel = kernel, .code = code}}};
  return series;
}

TEST(CodesDiff, OfTheSameCodesNeedsNoGpu) {
  const CodesDiff diff = diff_codes(kBase, kBase);
  EXPECT_EQ(codes_headline(diff), "no kernel changed: no GPU needed");
  EXPECT_EQ(codes_exit_code(diff), ExitCode::kNoRegression);
}

TEST(CodesDiff, NamesWhatChangedWasAddedAndRemoved) {
  const CodesDiff diff =
      diff_codes(kBase, codes_of({kernel_of("a", "1a", "sm_90a", 104), kernel_of("c", "0c")}));
  EXPECT_EQ(codes_headline(diff), "of 3 kernels, 1 changed, 1 added, 1 removed");
  EXPECT_EQ(codes_exit_code(diff), ExitCode::kRegression);
  EXPECT_THAT(codes_table(diff).text(), HasSubstr("100 -> 104"));
  const nlohmann::json json = codes_diff_json(diff);
  EXPECT_EQ(json["exit_code"], 1);
  EXPECT_EQ(json["changes"][0]["after"]["instructions"], 104);
  EXPECT_TRUE(json["benchmarks"].is_null());
}

TEST(CodesDiff, TakesARenamedKernelForNoChange) {
  const CodesDiff diff = diff_codes(kBase, codes_of({kernel_of("a", "0a"), kernel_of("c", "0b")}));
  ASSERT_EQ(diff.changes.size(), 1u);
  EXPECT_EQ(diff.changes[0].former_name, "b");
  EXPECT_EQ(codes_headline(diff), "of 3 kernels, 1 renamed; no kernel changed: no GPU needed");
  EXPECT_EQ(codes_exit_code(diff), ExitCode::kNoRegression);
}

TEST(CodesDiff, CannotCompareAnArchitectureThatOnlyOneHas) {
  ProgramCodes head = kBase;
  head.kernels.push_back(kernel_of("a", "8a", "sm_80"));
  const CodesDiff diff = diff_codes(kBase, head);
  EXPECT_THAT(diff.changes, IsEmpty());
  EXPECT_EQ(codes_exit_code(diff), ExitCode::kCouldNotJudge);
  EXPECT_THAT(diff.notes, ElementsAre(HasSubstr("sm_80: only the head has it (1 kernels)")));
}

TEST(CodesDiff, NamesTheBenchmarksThatLaunchWhatChanged) {
  baselines::Run run;
  run.benchmarks = {launching("by code", "a", "0a"),
                    launching("by code of another name", "other", "0a"),
                    launching("by name", "a", "of another compiler"),
                    launching("other", "b", "0b"),
                    launching("same name, other code of the base", "a", "0b"),
                    launching("library", "cublas", "77"),
                    baselines::BenchmarkSeries()};
  run.benchmarks.back().name = "without";
  const ProgramCodes head = codes_of({kernel_of("a", "1a"), kernel_of("b", "0b")});
  CodesDiff diff = diff_codes(kBase, head);
  add_benchmarks(diff, kBase, run);
  EXPECT_THAT(diff.touched, ElementsAre("by code", "by code of another name", "by name"));
  EXPECT_EQ(diff.changes.at(0).benchmarks, diff.touched);
  EXPECT_THAT(diff.unknown, ElementsAre("without"));
  EXPECT_THAT(diff.notes, ElementsAre(HasSubstr("1 kernels that the baseline launches are of "
                                                "libraries")));
  EXPECT_EQ(codes_headline(diff),
            "of 2 kernels, 1 changed, launched by 3 of 7 benchmarks; not known of 1");
}

}  // namespace
}  // namespace fusegate::ci
