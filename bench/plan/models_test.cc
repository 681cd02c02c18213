#include "bench/plan/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"
#include "bench/plan/options.h"
#include "bench/plan/plan.h"

namespace fusegate::bench {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

json model_file(const std::string& name, const std::string& operation = "geglu_mlp") {
  return {{"name", name},
          {"layers", 3},
          {"calls", {{{"operation", operation}, {"dim", 96}, {"hidden", 320}}}}};
}

json suite_of_models() {
  return {{"name", "mine"},
          {"sweeps",
           {{{"models", {"a", "b", "twin"}}, {"rows", {1, 64}}, {"dtype", {"fp32"}}},
            {{"operations", {"linear"}},
             {"dtype", {"fp32"}},
             {"batch", {1}},
             {"seq", {2}},
             {"dim", {3}},
             {"hidden", {4}}}}}};
}

class ModelSweeps : public testing::Test {
 protected:
  ModelSweeps() {
    std::filesystem::create_directory(folder_.path() / "models");
    write("a", model_file("a"));
    write("twin", model_file("twin"));
    write("b", model_file("b", "swiglu_mlp"));
  }
  void write(const std::string& name, const json& model) {
    folder_.write("models/" + name + ".json", model.dump());
  }
  Suite measured(std::vector<const char*> flags) {
    flags.insert(flags.begin(), "fusegate_bench");
    return suite_of(parse_options(static_cast<int>(flags.size()), flags.data(), folder_.path()),
                    {.folder = folder_.path()});
  }
  std::string error_of(const json& suite) {
    folder_.write("mine.json", suite.dump());
    return error_with({"--suite=mine"});
  }
  std::string error_with(const std::vector<const char*>& flags) {
    try {
      measured(flags);
      return "";
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  baselines::ScratchFolder folder_;
};

TEST_F(ModelSweeps, AreSweepsOfTheirCalls) {
  folder_.write("mine.json", suite_of_models().dump());
  const Suite suite = measured({"--suite=mine"});
  std::vector<std::string> names;
  for (const baselines::Model& model : suite.models) names.push_back(model.name);
  EXPECT_THAT(names, ElementsAre("a", "b", "twin"));
  ASSERT_EQ(suite.sweeps.size(), 3u) << "two models have one shape";
  EXPECT_THAT(suite.sweeps[0].operations, ElementsAre("geglu_mlp"));
  EXPECT_THAT(suite.sweeps[0].axes.at("batch"), ElementsAre(1, 64));
  EXPECT_THAT(suite.sweeps[0].axes.at("seq"), ElementsAre(1));
  EXPECT_THAT(suite.sweeps[0].axes.at("hidden"), ElementsAre(320));
  EXPECT_THAT(suite.sweeps[0].dtype, ElementsAre(kernels::Dtype::kFp32));
  EXPECT_THAT(suite.sweeps[1].operations, ElementsAre("linear")) << "others stay where they are";
  EXPECT_THAT(suite.sweeps[2].operations, ElementsAre("swiglu_mlp"));
  const std::string problem = kernels::problem_name(swept_operations(suite.sweeps)[0].problems[1]);
  const auto name = baselines::parse_benchmark_name("geglu_mlp/fused/" + problem);
  EXPECT_EQ(suite.models[0].calls[0].rows_of(name.value()), 64) << "the model knows its problems";
  EXPECT_EQ(sweeps_in(folder_.path()).size(), 3u);
}

TEST_F(ModelSweeps, OfFlagsNeedNoSuite) {
  const Suite suite = measured({"--model=a,b", "--rows=1,8", "--implementation=unfused"});
  ASSERT_EQ(suite.sweeps.size(), 2u);
  EXPECT_EQ(suite.models.size(), 2u);
  EXPECT_THAT(suite.sweeps[1].axes.at("batch"), ElementsAre(1, 8));
  EXPECT_THAT(suite.sweeps[1].dtype, ElementsAre(kernels::Dtype::kBf16));
  EXPECT_THAT(suite.sweeps[1].implementations, ElementsAre("unfused"));
  EXPECT_THAT(measured({"--model=a", "--rows=1", "--dtype=fp32"}).sweeps[0].dtype,
              ElementsAre(kernels::Dtype::kFp32));
  const std::string file = (folder_.path() / "models" / "b.json").string();
  EXPECT_EQ(measured({"--model", file.c_str(), "--rows=1"}).models[0].name, "b");
}

TEST_F(ModelSweeps, OfFlagsReplaceASuitesSweepsButItsControls) {
  json suite = suite_of_models();
  suite["sweeps"].push_back(suite["sweeps"][1]);
  suite["sweeps"][2]["operations"] = {"control_gemm"};
  suite["protocol"] = {{"samples", 9}};
  folder_.write("mine.json", suite.dump());
  const Suite measured_suite = measured({"--suite=mine", "--model=b", "--rows=1"});
  ASSERT_EQ(measured_suite.sweeps.size(), 2u);
  EXPECT_THAT(measured_suite.sweeps[0].operations, ElementsAre("control_gemm"));
  EXPECT_THAT(measured_suite.sweeps[1].operations, ElementsAre("swiglu_mlp"));
  EXPECT_EQ(measured_suite.models.size(), 1u);
  EXPECT_EQ(measured_suite.protocol.samples, 9);
}

TEST_F(ModelSweeps, LieBesideTheSuitesFileOrBesideTheProgram) {
  const baselines::ScratchFolder other;
  std::filesystem::create_directory(other.path() / "models");
  json wider = model_file("a");
  wider["calls"][0]["dim"] = 128;
  other.write("models/a.json", wider.dump());
  const std::string file = other.write("mine.json", suite_of_models().dump()).string();
  const Suite suite = measured({"--suite", file.c_str()});
  EXPECT_THAT(suite.sweeps[0].axes.at("dim"), ElementsAre(128));
  EXPECT_THAT(suite.sweeps[2].operations, ElementsAre("swiglu_mlp"));
}

TEST_F(ModelSweeps, NameTheFieldThatIsWrong) {
  const auto error_in_suite = [this](const char* pointer, const json& value) {
    json suite = suite_of_models();
    suite[json::json_pointer(pointer)] = value;
    return error_of(suite);
  };
  EXPECT_EQ(error_of(suite_of_models()), "");
  EXPECT_THAT(error_in_suite("/sweeps/0/models/1", "c"),
              HasSubstr("mine.json: sweeps[0].models[1]: no model 'c'; expected a, b, twin, or a "
                        ".json file"));
  EXPECT_THAT(error_in_suite("/sweeps/0/dim", {96}),
              HasSubstr("sweeps[0].dim: unknown key beside models; known: models, rows, dtype"));
  EXPECT_THAT(error_in_suite("/sweeps/0/rows/1", 0), HasSubstr("sweeps[0].rows[1]: must be a"));
  EXPECT_THAT(error_in_suite("/sweeps/0/rows", json::array()), HasSubstr("sweeps[0].rows: must"));
  EXPECT_THAT(error_in_suite("/sweeps/0/models", json::array()), HasSubstr("models: must be a"));
  EXPECT_THAT(error_in_suite("/sweeps/1/hidden", {0}), HasSubstr("mine.json: sweeps[1].hidden"));
  EXPECT_THAT(error_with({"--model=nope", "--rows=1"}),
              HasSubstr("--model: models[0]: no model 'nope'; expected a, b, twin"));
  EXPECT_THAT(error_with({"--model=a"}), HasSubstr("--model requires --rows"));
  EXPECT_THAT(error_with({"--rows=1"}), HasSubstr("--rows requires --model"));
  EXPECT_THAT(error_with({"--model=a", "--rows=1", "--hidden=8"}),
              HasSubstr("--model: cannot be used with --hidden"));
}

TEST_F(ModelSweeps, NameTheFieldOfAModelsFile) {
  const auto error_in_model = [this](const char* pointer, const json& value) {
    json model = model_file("a");
    model[json::json_pointer(pointer)] = value;
    write("a", model);
    return error_of(suite_of_models());
  };
  EXPECT_THAT(error_in_model("/depth", 3), HasSubstr("models/a.json: depth: unknown key; known"));
  EXPECT_THAT(error_in_model("/calls/0/wide", 3),
              HasSubstr("models/a.json: calls[0].wide: unknown key or axis; operation 'geglu_mlp' "
                        "has batch, seq, dim, hidden"));
  EXPECT_THAT(error_in_model("/calls/0", {{"operation", "geglu_mlp"}, {"dim", 96}}),
              HasSubstr("models/a.json: calls[0].hidden: is missing; operation 'geglu_mlp' has"));
  EXPECT_THAT(error_in_model("/calls/0/rows", "tokens"),
              HasSubstr("models/a.json: calls[0].rows: must name the axis of the rows"));
  EXPECT_THAT(error_in_model("/calls/0/operation", "magic"),
              HasSubstr("sweeps[0].operations[0]: unknown name 'magic'; known: "));
}

}  // namespace
}  // namespace fusegate::bench
