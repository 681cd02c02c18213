#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/traces/writer.h"
#include "ci/claims/test_input.h"
#include "ci/commands/commands.h"
#include "ci/processes/fake_program.h"

namespace fusegate::ci {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

constexpr const char* kGemm = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_bias_TNT";

class ClaimsCommandTest : public testing::Test {
 protected:
  ClaimsCommandTest() {
    FakeRunFile file;
    file.profiles[reference_benchmark("linear", "addmm")] =
        baselines::test_profile_json({{kGemm, "addmm", 57e3}});
    request_.candidate = {write_run(folder_, "ours", file)};
    std::filesystem::create_directory(folder_.path() / "traces");
    request_.traces = folder_.path() / "traces";
    const baselines::Trace trace = steps_trace(reference_benchmark("linear", "torch_eager"),
                                               {{"aten::t"}, {"aten::addmm", kGemm}});
    folder_.write("traces/linear-torch_eager.json", baselines::trace_text(trace));
  }
  std::string page() {
    std::ostringstream out, err;
    Console console{out, err};
    EXPECT_EQ(claims_command(request_, console), baselines::ExitCode::kNoRegression);
    EXPECT_EQ(err.str(), "");
    return out.str();
  }

  baselines::ScratchFolder folder_;
  ClaimsRequest request_;
};

TEST_F(ClaimsCommandTest, WritesHeadTableAndFindings) {
  const std::string text = page();
  EXPECT_THAT(text, HasSubstr("fusegate claims --candidate " + request_.candidate[0].string()));
  for (const char* part :
       {"device NVIDIA H200", "driver 580.159.04", "commit 0123456789ab", "5 invocations",
        "`linear-torch_eager` (3 steps)", "- peers: none", "huggingface.co/blog/torch-mlp-fusion",
        "| 1 | A Linear with bias is one kernel: the bias is added in the GEMM's epilogue |",
        "## Beyond it"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, HasSubstr("- yes: PyTorch's trace has no `aten::add`\n"));
  EXPECT_THAT(text, HasSubstr("  - missing: `linear/torch_compile` in the peers' run (--peers was "
                              "not given)\n"));
}

TEST_F(ClaimsCommandTest, IsTheSameForTheSameInput) { EXPECT_EQ(page(), page()); }

TEST_F(ClaimsCommandTest, WritesAFileAndSaysHowManyHold) {
  request_.out = folder_.path() / "claims.md";
  EXPECT_THAT(page(), AllOf(HasSubstr("statements, "), HasSubstr("wrote ")));
  EXPECT_THAT(baselines::read_file(*request_.out), HasSubstr("# The series' claims, checked\n"));
}

TEST_F(ClaimsCommandTest, TakesThePublishedFiguresOfAStore) {
  EXPECT_THAT(page(), Not(HasSubstr("170.0 us")));
  request_.stores = {std::filesystem::path(FUSEGATE_SOURCE) / "baselines"};
  EXPECT_THAT(page(), HasSubstr("Published for the A100: 170.0 us over 190.0 us: 0.895."));
}

TEST_F(ClaimsCommandTest, ReadsPyTorchsOwnTraces) {
  request_.traces = std::filesystem::path(FUSEGATE_SOURCE) / "baselines/traces/testdata/h200";
  EXPECT_THAT(page(), AllOf(HasSubstr("`geglu_mlp-liger` (3 steps on NVIDIA H200)"),
                            HasSubstr("- no: Every step of PyTorch's trace asks for the occupancy "
                                      "three times\n  - no `cudaOccupancy*`\n")));
}

TEST_F(ClaimsCommandTest, TakesStatementsOfAUsersOwn) {
  request_.claims = folder_.write("own.json", R"({
    "source": "Ours.", "card": "L4", "problem": "bf16/batch:64/seq:128/dim:768/hidden:3072",
    "confidence": 0.95, "smallest_effect": 0.1, "kernels": {},
    "claims": [{"id": "a", "statement": "A Linear takes time", "published": "none",
                "findings": [{"question": "More than nothing",
                              "of": ["time", "ours:linear/addmm"], "is": "more"}]}]})");
  EXPECT_THAT(page(), AllOf(HasSubstr("| 1 | A Linear takes time | none | **holds** |"),
                            HasSubstr("published for the L4"), HasSubstr("the 95 % interval"),
                            HasSubstr("--claims " + request_.claims->string())));
  request_.claims = folder_.write("own.json", R"({"source": "Ours."})");
  EXPECT_THAT([&] { page(); }, ThrowsMessage<baselines::InputError>(HasSubstr("own.json: ")));
}

TEST_F(ClaimsCommandTest, RefusesTracesOfAnotherDevice) {
  folder_.write(
      "traces/linear-torch_compile.json",
      R"({"deviceProperties": [{"name": "NVIDIA L4"}], "traceEvents": [)"
      R"({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1})"
      "]}");
  EXPECT_THAT([&] { page(); },
              ThrowsMessage<baselines::InputError>(HasSubstr("is NVIDIA L4, but our run")));
  request_.allow_environment_differences = true;
  EXPECT_THAT(page(), HasSubstr("on NVIDIA L4"));
}

TEST_F(ClaimsCommandTest, RefusesPeersOfAnotherDriver) {
  FakeRunFile file;
  file.driver = "555.1";
  request_.peers = {write_run(folder_, "peers", file)};
  EXPECT_THAT([&] { page(); },
              ThrowsMessage<baselines::InputError>(HasSubstr("environment.driver")));
}

TEST_F(ClaimsCommandTest, RefusesAStoredBaseline) {
  request_.candidate = {std::filesystem::path(FUSEGATE_SOURCE) / "baselines/nvidia-h200/pr.json"};
  EXPECT_THAT([&] { page(); }, ThrowsMessage<baselines::InputError>(HasSubstr("name run files")));
}

TEST_F(ClaimsCommandTest, RefusesTwoTracesOfOneNameAndAFolderThatIsNone) {
  folder_.write("traces/linear-torch_eager.json.gz",
                baselines::trace_text(steps_trace("a", {{"aten::t"}})));
  EXPECT_THAT([&] { page(); },
              ThrowsMessage<baselines::InputError>(HasSubstr("another trace of that name")));
  request_.traces = folder_.path() / "nothing";
  EXPECT_THAT([&] { page(); },
              ThrowsMessage<baselines::InputError>(HasSubstr("cannot read the folder")));
}

}  // namespace
}  // namespace fusegate::ci
