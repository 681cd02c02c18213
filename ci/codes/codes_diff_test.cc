#include "ci/codes/codes_diff.h"

#include <gmock/gmock.h>

#include "ci/codes/codes_text.h"
#include "ci/document/document.h"

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
  return {.kernels = std::move(kernels), .host = {{".text", "01"}, {".rodata", "02"}}};
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
  EXPECT_THAT(terminal_text(codes_document(diff)), HasSubstr("100 -> 104"));
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

TEST(CodesDiff, NamesWhatOfAKernelChanged) {
  ProgramCodes base = kBase, head = kBase;
  base.kernels[0].kinds = {{"HGMMA", 8}, {"MOV", 3}};
  head.kernels[0].kinds = {{"HGMMA", 8}, {"MOV", 1}, {"STL", 2}};
  head.kernels[0].code.hash = "1a";
  EXPECT_THAT(terminal_text(codes_document(diff_codes(base, head))), HasSubstr("STL +2, MOV -2"));
  EXPECT_EQ(codes_diff_json(diff_codes(base, head))["changes"][0]["after"]["kinds"]["STL"], 2);
  head.kernels[0].kinds = base.kernels[0].kinds;
  EXPECT_THAT(markdown(codes_document(diff_codes(base, head))), HasSubstr("the same ones"));
}

TEST(CodesDiff, HasTheGpuIdentifyWhatAChangedHostOrANewKernelLaunches) {
  ProgramCodes head = kBase;
  head.host[".rodata"] = "03";
  const CodesDiff host = diff_codes(kBase, head);
  EXPECT_THAT(codes_headline(host), HasSubstr("no kernel changed, but the host's code changed"));
  EXPECT_THAT(host.host_changes, ElementsAre(".rodata"));
  EXPECT_EQ(codes_diff_json(host)["gpu"], "identify");
  EXPECT_EQ(codes_exit_code(host), ExitCode::kRegression);
  const auto work_of = [](const std::vector<ProgramKernel>& kernels) {
    return diff_codes(kBase, codes_of(kernels)).gpu_work();
  };
  EXPECT_EQ(work_of({kernel_of("a", "1a"), kernel_of("b", "0b")}), GpuWork::kSome);
  EXPECT_EQ(work_of({kernel_of("a", "0a")}), GpuWork::kIdentify);
  head.host.clear();
  const CodesDiff alone = diff_codes(kBase, head);
  EXPECT_THAT(alone.notes, ElementsAre(HasSubstr("the host's code is not compared")));
  EXPECT_EQ(alone.gpu_work(), GpuWork::kNone);
  EXPECT_TRUE(codes_diff_json(alone)["host"].is_null());
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
                    launching("other by choice", "b", "0b"),
                    baselines::BenchmarkSeries()};
  run.benchmarks.back().name = "without";
  run.benchmarks[0].choices = {{"product", "measured: candidate 1 of 2, a"}};
  run.benchmarks[3].choices = {{"product", "algo 66"}};
  run.benchmarks[6].choices = {{"product", "measured: candidate 1 of 2, b"}};
  const ProgramCodes head = codes_of({kernel_of("a", "1a"), kernel_of("b", "0b")});
  CodesDiff diff = diff_codes(kBase, head);
  add_benchmarks(diff, kBase, run);
  EXPECT_THAT(diff.touched, ElementsAre("by code", "by code of another name", "by name"));
  EXPECT_EQ(diff.changes.at(0).benchmarks, diff.touched);
  EXPECT_THAT(diff.choosing, ElementsAre("other by choice"));
  EXPECT_THAT(diff.unknown, ElementsAre("without"));
  EXPECT_THAT(diff.notes, ElementsAre(HasSubstr("1 kernels that the baseline launches are of "
                                                "libraries")));
  EXPECT_EQ(codes_headline(diff),
            "of 2 kernels, 1 changed, launched by 3 of 8 benchmarks; 1 autotune and may choose it; "
            "not known of 1");
}

}  // namespace
}  // namespace fusegate::ci
