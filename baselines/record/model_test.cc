#include "baselines/record/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json gemma() {
  return {{"name", "gemma"},
          {"sources", {{"https://example.org", "all of it"}}},
          {"layers", 62},
          {"calls", {{{"operation", "geglu_mlp"}, {"dim", 5376}, {"hidden", 21504}}}}};
}

Model model_of(const json& root) { return read_model(JsonField(root, "gemma.json", "")); }

std::string model_error(const json& root) {
  try {
    model_of(root);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

std::int64_t rows_in(const Model& model, const std::string& benchmark) {
  return model.calls.front().rows_of(parse_benchmark_name(benchmark).value());
}

TEST(Model, KnowsTheRowsOfItsBenchmarks) {
  const Model model = model_of(gemma());
  EXPECT_EQ(rows_in(model, "geglu_mlp/fused/bf16/batch:64/seq:1/dim:5376/hidden:21504"), 64);
  EXPECT_EQ(rows_in(model, "geglu_mlp/fused/bf16/batch:2/seq:512/dim:5376/hidden:21504"), 1024);
  EXPECT_EQ(rows_in(model, "geglu_mlp/fused/bf16/batch:64/seq:1/dim:5376/hidden:21505"), 0);
  EXPECT_EQ(rows_in(model, "swiglu_mlp/fused/bf16/batch:64/seq:1/dim:5376/hidden:21504"), 0);
  EXPECT_EQ(rows_in(model, "geglu_mlp/fused/bf16/batch:64/seq:1/dim:5376"), 0);
  EXPECT_EQ(rows_in(model, "geglu_mlp/fused/bf16/batch:4/seq:1/dim:5376/hidden:21504/top:2"), 0);
}

TEST(Model, TakesTheRowsFromAnAxisThatItNames) {
  json root = gemma();
  root["calls"] = {{{"operation", "norm"}, {"rows", "tokens"}, {"dim", 8}, {"kind", "rms"}}};
  const Model model = model_of(root);
  EXPECT_EQ(rows_in(model, "norm/fused/bf16/tokens:7/dim:8/kind:rms"), 7);
  EXPECT_EQ(rows_in(model, "norm/fused/bf16/tokens:7/dim:8/kind:layer"), 0);
}

TEST(Model, IsReadAsItIsWritten) {
  json root = gemma();
  root["calls"][0]["per_layer"] = 0.5;
  json written = model_json(model_of(root));
  EXPECT_EQ(model_json(model_of(written)), written);
  root.erase("sources");
  EXPECT_EQ(written, root);
}

TEST(Model, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(model_error(gemma()), "");
  const auto with = [](const char* pointer, const json& value) {
    json root = gemma();
    root[json::json_pointer(pointer)] = value;
    return model_error(root);
  };
  EXPECT_EQ(with("/layer", 62),
            "gemma.json: layer: unknown key; known: name, sources, layers, calls");
  EXPECT_THAT(with("/layers", 0), HasSubstr("layers: must be a whole number from 1 to 100000"));
  EXPECT_THAT(with("/name", ""), HasSubstr("name: must not be empty"));
  EXPECT_THAT(with("/calls", json::array()), HasSubstr("calls: must be a list with at least one"));
  EXPECT_THAT(with("/calls/0/batch", 1), HasSubstr("calls[0].batch: is not fixed"));
  EXPECT_THAT(with("/calls/0/dim", {5376}), HasSubstr("calls[0].dim: must be a size"));
  EXPECT_THAT(with("/calls/0/per_layer", 0), HasSubstr("calls[0].per_layer"));
  EXPECT_THAT(with("/sources", {{"https://a", 1}}), HasSubstr("sources"));
}

}  // namespace
}  // namespace fusegate::baselines
