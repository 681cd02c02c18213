#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "kernels/cuda/autotuning/lt_tuning.h"
#include "kernels/cuda/device/cuda_graph.h"
#include "kernels/cuda/device/gpu_test_fixture.h"

namespace fusegate::kernels {
namespace {

class Tuning : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    x_ = random(256, 768, Dtype::kBf16, 1.0, 1);
    w_ = random(1024, 768, Dtype::kBf16, 1.0, 2);
    out_ = tensor(256, 1024, Dtype::kBf16);
    device_->poison(out_);
  }

  LtMatmul matmul() {
    return LtMatmul(device_->lt(),
                    {.m = out_.rows(), .n = out_.cols(), .k = x_.cols(), .type = CUDA_R_16BF});
  }

  Tensor x_, w_, out_;
};

TEST_F(Tuning, ChoosesOnceAndNamesTheChoice) {
  LtMatmul first = matmul(), second = matmul();
  const std::string choice = tune(*device_, "down_proj", first, x_, w_, out_).choice;
  EXPECT_THAT(choice, testing::StartsWith("tuned: candidate "));
  EXPECT_THAT(choice, testing::EndsWith(", " + first.algorithm()));
  EXPECT_EQ(device_->lt_choices().size(), 1u);
  const Graph no_new_choice(device_->stream(), [&] {
    EXPECT_EQ(tune(*device_, "down_proj", second, x_, w_, out_).choice, choice);
  });
  EXPECT_EQ(second.algorithm(), first.algorithm());
}

TEST_F(Tuning, TakesWhatIsKnownAlready) {
  LtMatmul tuned = matmul();
  const cublasLtMatmulAlgo_t other = tuned.candidates(12).back();
  device_->lt_choices()[tuned.text()] = {.algorithm = other, .text = "what it was"};
  EXPECT_EQ(tune(*device_, "down_proj", tuned, x_, w_, out_).choice, "what it was");
  EXPECT_EQ(tuned.algorithm(), LtMatmul::algorithm_text(other));
}

TEST_F(Tuning, IsOfAllThatTheAlgorithmDependsOn) {
  LtContext small = device_->lt();
  small.workspace_bytes = 0;
  const LtMatmulShape one{.m = 128, .n = 3072, .k = 768};
  std::set<std::string> seen{LtMatmul(small, one).text()};
  const auto add = [&](auto change) {
    LtMatmulShape other = one;
    change(other);
    seen.insert(LtMatmul(device_->lt(), other).text());
  };
  add([](LtMatmulShape&) {});
  add([](LtMatmulShape& s) { s.m = 256; });
  add([](LtMatmulShape& s) { s.n = 768; });
  add([](LtMatmulShape& s) { s.k = 3072; });
  add([](LtMatmulShape& s) { s.type = CUDA_R_16F; });
  add([](LtMatmulShape& s) { s.type = CUDA_R_64F, s.compute = CUBLAS_COMPUTE_64F; });
  add([this](LtMatmulShape& s) { s.bias = w_.data; });
  EXPECT_EQ(seen.size(), 8u);
}

TEST_F(Tuning, CandidatesEachComputeTheProduct) {
  const LtMatmul plain = matmul();
  const std::vector<cublasLtMatmulAlgo_t> algorithms = plain.candidates(12);
  const std::vector<Candidate> candidates = lt_candidates(plain, x_, w_, out_);
  ASSERT_EQ(candidates.size(), algorithms.size());
  const double* const expected = product(x_, w_);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    EXPECT_EQ(candidates[i].name, LtMatmul::algorithm_text(algorithms[i]));
    device_->poison(out_);
    candidates[i].launch();
    const ErrorNorms norms = device_->reference_math().compare(out_, expected);
    EXPECT_LE(norms.relative(), error_bound(out_.dtype)) << candidates[i].name;
    EXPECT_EQ(norms.not_finite, 0) << candidates[i].name;
  }
}

TEST_F(Tuning, TakesARequiredPinnedChoiceWithoutMeasuring) {
  LtMatmul tuned = matmul();
  const auto candidates = tuned.candidates(12);
  ASSERT_GT(candidates.size(), 1u);
  const Graph no_measuring(device_->stream(), [&] {
    for (const cublasLtMatmulAlgo_t& algorithm : {candidates.back(), candidates.front()}) {
      const std::string name = LtMatmul::algorithm_text(algorithm);
      device_->pin_choices({{{"down_proj", "tuned: candidate 1 of 1, " + name}}, true});
      const TunedMatmul pinned = tune(*device_, "down_proj", tuned, x_, w_, out_);
      EXPECT_EQ(tuned.algorithm(), name) << "whatever was pinned for the same problem before";
      EXPECT_THAT(pinned.choice, testing::EndsWith(", " + name));
      EXPECT_EQ(pinned.note, "pinned, not measured");
    }
    device_->pin_choices({{{"down_proj", "algo 77"}}, true});
    EXPECT_THROW(tune(*device_, "down_proj", tuned, x_, w_, out_), DeviceError);
  });
}

TEST_F(Tuning, LeavesTheOperandsAsTheyWere) {
  const auto x = bytes(x_), w = bytes(w_), out = bytes(out_);
  LtMatmul tuned = matmul();
  tune(*device_, "down_proj", tuned, x_, w_, out_);
  EXPECT_EQ(bytes(x_), x);
  EXPECT_EQ(bytes(w_), w);
  EXPECT_EQ(bytes(out_), out);
}

TEST_F(Tuning, RefusesToMeasureWhileTheStreamCaptures) {
  LtMatmul tuned = matmul();
  EXPECT_THROW(Graph(device_->stream(), [&] { tune(*device_, "down_proj", tuned, x_, w_, out_); }),
               DeviceError);
  EXPECT_NO_THROW(tune(*device_, "down_proj", tuned, x_, w_, out_)) << "the capture is over";
}

TEST_F(Tuning, BeginsWithWhatTheHeuristicGivesAlone) {
  const LtMatmul plain = matmul();
  const std::vector<cublasLtMatmulAlgo_t> candidates = plain.candidates(12);
  ASSERT_GT(candidates.size(), 1u);
  EXPECT_LE(candidates.size(), 12u);
  LtMatmul first = matmul();
  first.use(candidates.front());
  EXPECT_EQ(first.algorithm(), plain.algorithm());
}

}  // namespace
}  // namespace fusegate::kernels
