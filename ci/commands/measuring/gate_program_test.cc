// What fusegate gate cannot judge, from end to end: each ends it with one line naming file and
// field.
#include "ci/commands/measuring/program_test.h"

namespace fusegate::ci {
namespace {

TEST_F(ProgramTest, GateNamesWhatIsWrongInARunFile) {
  write_run(folder_, "base", {});
  const std::string good = run_file_text({});
  const auto edited = [&](auto edit) {
    auto json = nlohmann::json::parse(good);
    edit(json);
    return json.dump();
  };
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
    EXPECT_EQ(json_in(path("gate.json"))["exit_code"], 2);
  }
  // An odd time costs its own benchmark alone.
  folder_.write("head/1.json", edited([](auto& json) { json["benchmarks"][0]["real_time"] = -1; }));
  const Ended ended = gate(path("head"));
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.out, AllOf(HasSubstr("real_time"), HasSubstr("invalid"))) << ended.err;
}

TEST_F(ProgramTest, GateNamesAFolderWithoutAnyProcess) {
  write_run(folder_, "base", {});
  fs::create_directories(path("empty"));
  expect_error(gate(path("empty")), {"empty", "no finished "});
  expect_error(gate(path("missing")), {"missing"});
}

// In files of a Google Benchmark program, whose names are its own.
TEST_F(ProgramTest, GateTakesForControlsWhatAFlagNamesAndNoOther) {
  for (const auto& [side, slower] : {std::pair{"base", 1.0}, {"head", 1.5}}) {
    for (int i = 1; i <= 5; ++i) {
      auto json = nlohmann::json::parse(
          run_file_text({.times = {{"controlnet/forward", (1000 + 0.1 * i) * slower},
                                   {"linear/addmm", 2000 + 0.1 * i * slower}}}));
      json["context"].erase("fusegate");
      folder_.write(fmt::format("{}/{}.json", side, i), json.dump());
    }
  }
  const auto gate_naming = [&](const std::vector<std::string>& patterns) {
    std::vector<std::string> line{"gate", "--baseline", path("base"), "--candidate", path("head")};
    for (const std::string& pattern : patterns) {
      line.insert(line.end(), {"--control", pattern});
    }
    return fusegate(line);
  };
  const Ended unnamed = gate_naming({});
  EXPECT_EQ(unnamed.code, 1) << unnamed.out << unnamed.err;
  EXPECT_THAT(unnamed.out, HasSubstr("regression  controlnet/forward  +50"));
  EXPECT_EQ(gate_naming({"^linear/", "^controlnet/"}).code, 0);
  EXPECT_EQ(gate_naming({"^linear/"}).code, 1);
  expect_error(gate_naming({"^controlnet/", "controlled"}),
               {"--control: \"controlled\" matches no benchmark"});
  expect_error(gate_naming({"controlnet["}),
               {"--control", "\"controlnet[\" is not a regular expression"});
}

TEST_F(ProgramTest, SaysSoWhereAResultCannotBeWritten) {
  write_run(folder_, "base", {});
  expect_error(fusegate({"gate", "--baseline", path("base"), "--candidate",
                         write_run(folder_, "head", {}), "--json", "/dev/full/x.json"}),
               {"/dev/full"});
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
