// Run files that cannot be judged: each ends fusegate gate with one line naming file and field.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/file_io.h"
#include "ci/commands/program_test.h"

namespace fusegate::ci {
namespace {

using ::testing::HasSubstr;

TEST_F(ProgramTest, GateNamesWhatIsWrongInARunFile) {
  write_run(folder_, "base", {});
  const std::string good = run_file_text({});
  auto edited = [&](auto edit) {
    auto json = nlohmann::json::parse(good);
    edit(json);
    return json.dump();
  };
  auto with_time = [&](const nlohmann::json& time) {
    return edited([&](auto& json) { json["benchmarks"][0]["real_time"] = time; });
  };
  std::string not_a_number = with_time(12345678.0);
  not_a_number.replace(not_a_number.find("12345678.0"), 10, "NaN");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", ""},
      {good.substr(0, good.size() / 2), ""},
      {"[]", ""},
      {"{}", ""},
      {edited([](auto& json) { json["benchmarks"][0].erase("name"); }), "name"},
      {edited([](auto& json) { json.erase("benchmarks"); }), "benchmarks"},
  };
  for (const auto& [text, field] : cases) {
    folder_.write("head/1.json", text);
    SCOPED_TRACE(text.substr(0, 60));
    expect_error(gate(path("head")), {"head/1.json", field});
    EXPECT_EQ(nlohmann::json::parse(baselines::read_file(path("gate.json")))["exit_code"], 2);
  }
  // An odd time costs its own benchmark alone.
  for (const std::string& text :
       {not_a_number, with_time(-1.0), with_time(0.0), with_time("fast"), with_time(nullptr),
        edited([](auto& json) { json["benchmarks"][0].erase("real_time"); })}) {
    folder_.write("head/1.json", text);
    SCOPED_TRACE(text.substr(0, 60));
    const Ended ended = gate(path("head"));
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.out, testing::HasSubstr("real_time")) << ended.err;
    EXPECT_THAT(ended.out, testing::HasSubstr("invalid")) << ended.err;
  }
}

TEST_F(ProgramTest, GateNamesAFolderWithoutAnyProcess) {
  write_run(folder_, "base", {});
  std::filesystem::create_directories(path("empty"));
  expect_error(gate(path("empty")), {"empty", "no finished "});
  expect_error(gate(path("missing")), {"missing"});
}

TEST_F(ProgramTest, GateNamesTheFieldInWhichEnvironmentsDiffer) {
  write_run(folder_, "base", {});
  FakeRunFile other;
  other.driver = "999.0";
  write_run(folder_, "head", other);
  const Ended gated = gate(path("head"));
  EXPECT_EQ(gated.code, 2);
  EXPECT_THAT(gated.out, HasSubstr("driver"));
  EXPECT_EQ(fusegate({"gate", "--baseline", path("base"), "--candidate", path("head"),
                      "--allow-environment-difference"})
                .code,
            0);
}

TEST_F(ProgramTest, GateTakesPlainGoogleBenchmarkFiles) {
  for (int i = 1; i <= 3; ++i) {
    for (const char* side : {"base", "head"}) {
      FakeRunFile file;
      file.times = {{"BM_copy/8", 1000.0 + i + (*side == 'h' ? 0.2 : 0)}};
      auto json = nlohmann::json::parse(run_file_text(file));
      json["context"].erase("fusegate");
      folder_.write(fmt::format("{}/{}.json", side, i), json.dump());
    }
  }
  const Ended gated = gate(path("head"));
  EXPECT_EQ(gated.code, 0) << gated.out << gated.err;
}

// Of a Google Benchmark program, whose names are its own; slower: so many times.
class GateOfControls : public ProgramTest {
 protected:
  void write(const std::string& side, double slower, const nlohmann::json& fusegate = {}) {
    for (int i = 1; i <= 5; ++i) {
      FakeRunFile file;
      file.times = {{kName, (1000 + 0.1 * i) * slower}, {"linear/addmm", 2000 + 0.1 * i * slower}};
      auto json = nlohmann::json::parse(run_file_text(file));
      json["context"].erase("fusegate");
      if (!fusegate.is_null()) json["context"]["fusegate"] = fusegate;
      folder_.write(fmt::format("{}/{}.json", side, i), json.dump());
    }
  }
  Ended gate_naming(const std::vector<std::string>& patterns) {
    std::vector<std::string> line{"gate", "--baseline", path("base"), "--candidate", path("head")};
    for (const std::string& pattern : patterns) {
      line.insert(line.end(), {"--control", pattern});
    }
    return fusegate(line);
  }

  static constexpr const char* kName = "controlnet/forward";
};

TEST_F(GateOfControls, ANameMakesNoControl) {
  write("base", 1);
  write("head", 1.5);
  const Ended gated = gate(path("head"));
  EXPECT_EQ(gated.code, 1) << gated.out << gated.err;
  EXPECT_THAT(gated.out, HasSubstr("regression  controlnet/forward  +50"));
}

TEST_F(GateOfControls, AFlagNamesThem) {
  write("base", 1);
  write("head", 1.5);
  EXPECT_EQ(gate_naming({"^linear/", "^controlnet/"}).code, 0);
  EXPECT_EQ(gate_naming({"^linear/"}).code, 1);
  expect_error(gate_naming({"^controlnet/", "controlled"}),
               {"--control: \"controlled\" matches no benchmark"});
  expect_error(gate_naming({"controlnet["}),
               {"--control", "\"controlnet[\" is not a regular expression"});
}

TEST_F(GateOfControls, ARunFileNamesThemAndTheBaselineCounts) {
  const nlohmann::json plain{{"protocol", {{"samples", 10}}},
                             {"controls", nlohmann::json::array()}};
  nlohmann::json naming = plain;
  naming["controls"] = {kName};
  write("base", 1, naming);
  write("head", 1.5, naming);
  EXPECT_EQ(gate(path("head")).code, 0);
  write("head", 1.5, plain);
  EXPECT_EQ(gate(path("head")).code, 0) << "the baseline says so";
  write("base", 1, plain);
  write("head", 1.5, naming);
  EXPECT_EQ(gate(path("head")).code, 1) << "the candidate alone says so";
}

TEST_F(ProgramTest, SaysSoWhereAResultCannotBeWritten) {
  write_run(folder_, "base", {});
  write_run(folder_, "head", {});
  const auto gate_to = [&](const std::string& json) {
    return fusegate(
        {"gate", "--baseline", path("base"), "--candidate", path("head"), "--json", json});
  };
  expect_error(gate_to("/dev/full/x.json"), {"/dev/full"});
  const std::string redirected =
      write_script(folder_, "redirect",
                   fmt::format("exec '{}' show '{}' > /dev/full\n",
                               (own_folder() / "fusegate").string(), path("base")));
  Ended ended;
  ChildProcess request;
  request.arguments = {redirected};
  request.on_line = [&](OutputStream, std::string_view line) {
    ended.err.append(line).push_back('\n');
  };
  ended.code = run_child(request).exit_code;
  expect_error(ended, {"standard output"});
}

}  // namespace
}  // namespace fusegate::ci
