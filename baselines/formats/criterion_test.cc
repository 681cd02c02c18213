#include "baselines/formats/criterion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

namespace fs = std::filesystem;

class ReadCriterion : public testing::Test {
 protected:
  void add(const std::string& tree, const std::string& name, const json& sample) const {
    const std::string result = tree + "/" + name + "/new/";
    folder_.write(result + "benchmark.json",
                  json{{"full_id", name}, {"directory_name", name}}.dump());
    if (!sample.is_null()) folder_.write(result + "sample.json", sample.dump());
    folder_.write(result + "estimates.json", R"({"mean": {"point_estimate": 70.5}})");
  }
  ForeignFile read(const std::string& tree) const { return read_criterion(folder_.path() / tree); }
  void expect_error(const std::string& tree, const std::string& place,
                    const std::string& words) const {
    EXPECT_THAT([&] { read(tree); },
                ThrowsMessage<InputError>(AllOf(HasSubstr(place), HasSubstr(words))));
  }

  ScratchFolder folder_;
  json sample_{{"iters", {10, 20}}, {"times", {1000, 3000}}};
};

TEST_F(ReadCriterion, ReadsWhatItLeft) {
  const fs::path base = fs::path(FUSEGATE_FORMATS) / "criterion/base";
  const auto trees = criterion_trees(base);
  EXPECT_THAT(trees, ElementsAre(base / "1", base / "2", base / "3", base / "4", base / "5"));
  const ForeignFile file = read_criterion(trees.front());
  EXPECT_EQ(file.protocol, (json{{"tool", "criterion"}, {"figures", "samples"}}));
  ASSERT_THAT(file.benchmarks, SizeIs(3));
  EXPECT_EQ(file.benchmarks[0].name, "checksum");
  EXPECT_EQ(file.benchmarks[1].name, "sort/stable/100");
  EXPECT_THAT(file.benchmarks[0].times_ns, AllOf(SizeIs(30), Each(DoubleNear(15e3, 14e3))));
}

TEST_F(ReadCriterion, ATreeBeginsWhereItsBenchmarksTell) {
  add("10/criterion", "group/fn/5", sample_);
  add("10/criterion", "alone", sample_);
  add("9/criterion", "group/fn/5", sample_);
  const fs::path at = folder_.path();
  EXPECT_THAT(criterion_trees(at), ElementsAre(at / "9/criterion", at / "10/criterion"));
  EXPECT_THAT(criterion_trees(at / "9/criterion"), ElementsAre(at / "9/criterion"));
  EXPECT_THAT(criterion_trees(at / "10/criterion/group"), ElementsAre(at / "10/criterion/group"));
  EXPECT_THAT(read("10/criterion/group").benchmarks, SizeIs(1)) << "a part of a tree, as named";
  EXPECT_THAT(read("10/criterion").benchmarks, SizeIs(2));
  EXPECT_THAT(read("9/criterion").benchmarks.at(0).times_ns, ElementsAre(100, 150));
  EXPECT_EQ(read("9/criterion").benchmarks.at(0).name, "group/fn/5");
}

TEST_F(ReadCriterion, TakesTheMeanWhereThereAreNoSamples) {
  add("1", "a", nullptr);
  EXPECT_EQ(read("1").protocol.at("figures"), "mean");
  EXPECT_THAT(read("1").benchmarks.at(0).times_ns, ElementsAre(70.5));
  add("1", "b", sample_);
  expect_error("1", "1/b/new/sample.json", "is there, and other benchmarks");
}

TEST_F(ReadCriterion, AnOddTimeFailsItsBenchmark) {
  add("1", "b", sample_);
  add("1", "a", {{"iters", {10, 0}}, {"times", {1000, 2000}}});
  EXPECT_EQ(read("1").benchmarks.at(0).failure, "iters[1]: must be positive, but is 0");
  add("1", "a", {{"iters", {10, 20}}, {"times", {1000, -1}}});
  EXPECT_EQ(read("1").benchmarks.at(0).failure, "times[1]: must be positive");
  EXPECT_EQ(read("1").benchmarks.at(1).failure, "");
}

TEST_F(ReadCriterion, NamesFileAndField) {
  add("1", "a", {{"iters", {10, 20}}, {"times", {1000}}});
  expect_error("1", "1/a/new/sample.json: times", "has 1 values, and \"iters\" 2");
  add("1", "a", {{"times", {1000, 2000}}});
  expect_error("1", "1/a/new/sample.json: iters", "is missing");
  add("1", "a", sample_);
  folder_.write("1/a copy/new/benchmark.json", R"({"full_id": "a", "directory_name": "a"})");
  EXPECT_THAT(
      [&] { criterion_trees(folder_.path()); },
      ThrowsMessage<InputError>(AllOf(HasSubstr("a copy/new/benchmark.json: directory_name"),
                                      HasSubstr("does not lie there"))));
  expect_error("1", "full_id", "stands for two benchmarks");
  expect_error("2", "2", "cannot read the folder");
}

}  // namespace
}  // namespace fusegate::baselines
