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
      {not_a_number, ""},
      {with_time(-1.0), "real_time"},
      {with_time(0.0), "real_time"},
      {with_time("fast"), "real_time"},
      {with_time(nullptr), "real_time"},
      {edited([](auto& json) { json["benchmarks"][0].erase("real_time"); }), "real_time"},
      {edited([](auto& json) { json["benchmarks"][0].erase("name"); }), "name"},
      {edited([](auto& json) { json.erase("benchmarks"); }), "benchmarks"},
  };
  for (const auto& [text, field] : cases) {
    folder_.write("head/1.json", text);
    SCOPED_TRACE(text.substr(0, 60));
    expect_error(gate(path("head")), {"head/1.json", field});
    EXPECT_EQ(nlohmann::json::parse(baselines::read_file(path("gate.json")))["exit_code"], 2);
  }
}

TEST_F(ProgramTest, GateNamesAFolderWithoutAnyInvocation) {
  write_run(folder_, "base", {});
  std::filesystem::create_directories(path("empty"));
  expect_error(gate(path("empty")), {"empty", "no finished invocation"});
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
  ProcessRequest request;
  request.arguments = {redirected};
  request.on_line = [&](OutputStream, std::string_view line) {
    ended.err.append(line).push_back('\n');
  };
  ended.code = run_process(request).exit_code;
  expect_error(ended, {"standard output"});
}

}  // namespace
}  // namespace fusegate::ci
