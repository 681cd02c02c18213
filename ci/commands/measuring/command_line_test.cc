#include "ci/commands/measuring/all_commands.h"
#include "ci/commands/measuring/measuring_test.h"

namespace fusegate::ci {
namespace {

class ParseCommandLine : public ::testing::Test {
 protected:
  struct Ended {
    ExitCode code;
    std::string out;
    std::string err;
  };

  static Ended run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "fusegate");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    std::ostringstream out;
    std::ostringstream err;
    Console console{out, err};
    const ExitCode code = parse_command_line(static_cast<int>(argv.size()), argv.data())(console);
    return {code, out.str(), err.str()};
  }
  static std::string help(const std::string& command) { return run({command, "--help"}).out; }
  // Of two runs.
  Ended gate(const std::vector<std::string>& more) const {
    std::vector<std::string> line{"gate", "--baseline", path("base"), "--candidate", path("head")};
    line.insert(line.end(), more.begin(), more.end());
    return run(line);
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  // A program that prints its arguments and the choices that it is to keep.
  std::string program(const std::string& name, const FakeRunFile& file = {}) const {
    const auto prepared = folder_.write(name + ".json", run_file_text(file)).string();
    return write_script(folder_, name,
                        std::string(kReadFlags) + "leave '" + prepared +
                            "' \"$out\"\nfor a in \"$FUSEGATE_KEEP_CHOICES\" \"$@\"; do echo "
                            "\"[$a]\"; done\n");
  }

  baselines::ScratchFolder folder_;
};

TEST_F(ParseCommandLine, PrintsHelpAndVersion) {
  EXPECT_EQ(run({"--help"}).code, kNoRegression);
  EXPECT_THAT(run({"--help"}).out, HasSubstr("gate"));
  EXPECT_THAT(help("gate"), HasSubstr("--min-effect"));
  EXPECT_THAT(run({"--version"}).out, HasSubstr("fusegate 1."));
}

TEST_F(ParseCommandLine, EveryCommandTakesWhatItNeeds) {
  for (const char* command : {"gate", "report", "duet", "replay", "job"}) {
    EXPECT_THAT(help(command), AllOf(HasSubstr("--allow FRACTION"), HasSubstr("--control PATTERN"),
                                     HasSubstr("--fail-on ")))
        << command;
    EXPECT_THAT(help(command), Not(HasSubstr("--require-ruled-out"))) << command;
  }
  EXPECT_THAT(help("replay"), AllOf(HasSubstr("--max-creep"), HasSubstr("--max-age-days")));
  EXPECT_THAT(help("accept"), HasSubstr("--anchor"));
}

TEST_F(ParseCommandLine, TakesFlagsByTheirFormerNames) {
  for (const char* command : {"run", "duet", "replay", "job", "calibrate"}) {
    EXPECT_THAT(help(command), HasSubstr("--processes"));
    EXPECT_THAT(help(command), Not(HasSubstr("invocations"))) << command;
    const std::string err = run({command, "--invocations", "0"}).err;
    EXPECT_THAT(err, HasSubstr("Value 0 not in range")) << command;
  }
  EXPECT_THAT(run({"job", "--max-invocations", "0"}).err, HasSubstr("Value 0 not in range"));
  const Ended ended = run({"run", "--suite", "smoke", "--invocations", "2", "--max-invocations",
                           "2", "--program", program("bench"), "--out", path("run")});
  EXPECT_EQ(ended.code, kNoRegression) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("2 processes of suite smoke in "));
}

TEST_F(ParseCommandLine, EndsWithTwoOnEveryWrongLine) {
  const std::vector<std::vector<std::string>> lines{
      {},
      {"unknown"},
      {"gate"},
      {"gate", "--candidate", "x", "--odd-flag"},
      {"gate", "--candidate", "x", "--min-effect", "0"},
      {"gate", "--candidate", "x", "--fdr", "nan"},
      {"gate", "--candidate", "x", "--max-creep", "2"},
      {"gate", "--candidate", "x", "--require-ruled-out", "2"},
      {"gate", "--candidate", "x", "--allow", "0"},
      {"gate", "--candidate", "x", "--allow", "2"},
      {"report", "--candidate", "x", "--control", "["},
      {"gate", "--candidate", "x", "--fail-on", "moon"},
      {"gate", "--candidate", "x", "--fail-on"},
      {"gate", "--candidate", "x", "--max-age-days", "0"},
      {"gate", "--candidate", "x", "--max-age-days", "soon"},
      {"gate", "--candidate", "x", "--", "--flag"},
      {"explain", "base", "head"},
      {"run", "--suite", "s"},
      {"run", "--out", "d"},
      {"run", "--suite", "s", "--out", "d", "--processes", "0"},
      {"run", "--suite", "s", "--out", "d", "--timeout-s", "-1"},
      {"run", "--suite", "s", "--out", "d", "stray"},
      {"run", "--suite", "s", "--out", "d", "--max-processes", "many"},
      {"duet"},
      {"duet", "--suite", "s", "--base", "b"},
      {"duet", "--suite", "s", "--base", "b", "--head", "h", "--processes", "0"},
      {"duet", "--suite", "s", "--base", "b", "--head", "h", "--budget-s", "0"},
      {"duet", "--suite", "s", "--base", "b", "--head", "h", "--budget-gpu-s", "0"},
      {"job", "--budget-s", "9", "--budget-gpu-s", "9"},
      {"replay", "--suite", "s", "--only", "("},
      {"duet", "--suite", "s", "--base", "b", "--head", "h", "--fdr", "2"},
      {"accept", "x"},
      {"report"},
      {"show"},
      {"calibrate", "--suite", "s", "--processes", "1"},
      {"calibrate", "--run", "x", "--program", "p"},
      {"calibrate", "--run", "x", "--processes", "4"},
  };
  for (const auto& line : lines) {
    const Ended ended = run(line);
    EXPECT_EQ(ended.code, kCouldNotJudge) << ::testing::PrintToString(line);
    EXPECT_THAT(ended.err, StartsWith("fusegate: ")) << ::testing::PrintToString(line);
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  }
}

TEST_F(ParseCommandLine, NamesACommandOrAFlagThatIsNone) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> lines{
      {{"gat", "--candidate", "x"},
       "fusegate: \"gat\" is not a command; the nearest is gate (--help shows what there is)\n"},
      {{"gate", "--candiate", "x"},
       "\"--candiate\" is not a flag of gate; the nearest is --candidate (--help"},
      {{"gate", "--candiate=x"},
       "\"--candiate\" is not a flag of gate; the nearest is --candidate"},
      {{"gate", "--candidate", "x", "--base-line", "y"},
       "--base-line\" is not a flag of gate; the"},
      {{"run", "--suite", "s", "--out", "d", "--xyzzy"},
       "\"--xyzzy\" is not a flag of run (--help"},
      {{"--versio"}, "\"--versio\" is not a flag of fusegate; the nearest is --version"},
      {{"gate"}, "--candidate is required"}};
  for (const auto& [line, error] : lines) EXPECT_THAT(run(line).err, HasSubstr(error));
}

TEST_F(ParseCommandLine, HelpsByTopics) {
  for (const char* command : {"gate", "report", "run", "duet", "replay", "job", "calibrate"}) {
    const std::string text = help(command);
    EXPECT_THAT(text, HasSubstr("\nWhat is written:\n")) << command;
    EXPECT_THAT(text, HasSubstr("\nOf every command:\n")) << command;
    std::size_t topics = 0;
    for (std::size_t at = 0; (at = text.find("\nWhat ", at)) != text.npos; ++at) ++topics;
    EXPECT_GE(topics, 3U) << text;
    const std::size_t options = text.find("\nOptions:\n");
    const std::string untitled = text.substr(options, text.find("\nWhat ", options) - options);
    EXPECT_EQ(std::count(untitled.begin(), untitled.end(), '-'), 3) << "--help alone: " << text;
  }
}

TEST_F(ParseCommandLine, PassesOnWhatFollowsTheDashesAndTheBaselinesChoices) {
  const std::string named = write_run(folder_, "named", {});
  std::vector<std::string> line{"run",        "--suite",
                                "smoke",      "--program",
                                program("p"), "--out",
                                path("kept"), "--processes",
                                "1",          "--baseline",
                                named,        "--",
                                "--batch=8",  "--benchmark_filter=a b"};
  EXPECT_EQ(run(line).code, kNoRegression);
  EXPECT_THAT(
      read_file(path("kept/1.log")),
      AllOf(StartsWith("[" + named + "]\n"), HasSubstr("[--batch=8]\n[--benchmark_filter=a b]\n")));
  line[6] = path("fresh");
  line.insert(line.begin() + 1, "--fresh-choices");
  EXPECT_EQ(run(line).code, kNoRegression);
  EXPECT_THAT(read_file(path("fresh/1.log")), StartsWith("[]\n"));
}

TEST_F(ParseCommandLine, TakesADuetWithoutAnAaComparison) {
  FakeRunFile later;
  for (auto& [benchmark, time_ns] : later.times) time_ns *= 1.0001;
  const Ended ended =
      run({"duet", "--suite", "smoke", "--base", program("base"), "--head", program("head", later),
           "--out", path("duet"), "--processes", "2", "--no-aa", "--", "--batch=8"});
  EXPECT_EQ(ended.code, kNoRegression) << ended.err;
  EXPECT_THAT(read_file(path("duet/head/2.log")), HasSubstr("[--batch=8]\n"));
  EXPECT_FALSE(fs::exists(path("duet/base_again")));
}

TEST_F(ParseCommandLine, WritesWhatIsAllowedIntoTheVerdicts) {
  write_run(folder_, "base", {});
  write_run(folder_, "head", {.protocol = {{"allow", 0.3}}}, 6);
  EXPECT_EQ(gate({"--json", path("gate.json")}).code, kNoRegression);
  EXPECT_EQ(json_in(path("gate.json"))["rule"]["allow"], 0.05);
  gate({"--json", path("gate.json"), "--allow", "8%"});
  EXPECT_EQ(json_in(path("gate.json"))["rule"]["allow"], 0.08);
}

TEST_F(ParseCommandLine, TakesSeveralPathsBehindOneFlag) {
  const std::string base = write_run(folder_, "base", {});
  const std::string head = write_run(folder_, "head", {});
  const Ended ended = run({"gate", "--baseline", base + "/1.json", base + "/2.json",
                           base + "/3.json", "--candidate", head + "/1.json", head + "/2.json",
                           head + "/3.json", "--min-effect", "0.5%"});
  EXPECT_EQ(ended.code, kNoRegression) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr(" on NVIDIA H200"));
}

TEST_F(ParseCommandLine, TakesWhatFailsBesideTime) {
  FakeRunFile file{.host_ns = {{kFused, 9100}, {kLinear, 9100}}};
  write_run(folder_, "base", file);
  file.host_ns[kFused] = 29200;
  write_run(folder_, "head", file);
  EXPECT_EQ(gate({}).code, kNoRegression);
  EXPECT_EQ(gate({"--fail-on", "host"}).code, kRegression);
  EXPECT_EQ(gate({"--fail-on", "kernels", "--fail-on", "host"}).code, kRegression);
  EXPECT_EQ(gate({"--fail-on", "kernels,host"}).code, kRegression);
  for (const char* flag : {"--fail-on=kernels", "--fail-on-changed-kernels"}) {
    EXPECT_THAT(gate({flag}).out, HasSubstr("Could not judge: a run has no profiles"));
  }
}

TEST_F(ParseCommandLine, ExplainsByTheRuleThatIsGiven) {
  const std::string base = write_run(folder_, "base", {});
  const Ended ended =
      run({"explain", base, write_run(folder_, "head", {}), kLinear, "--min-effect", "10%"});
  EXPECT_EQ(ended.code, kNoRegression);
  EXPECT_THAT(ended.out, HasSubstr(std::string(kLinear) + "\nunchanged: "));
  EXPECT_THAT(ended.out, HasSubstr("lies within [-9.09, +10.00] %"));
}

TEST(ProcessCounts, FollowAMaximumWhereTheyAreNotGiven) {
  for (const auto& [given, maximum, wanted] :
       std::vector<std::tuple<bool, std::optional<int>, int>>{{false, std::nullopt, 5},
                                                              {false, 4, 4},
                                                              {false, 5, 5},
                                                              {false, 6, 6},
                                                              {false, 7, 5},
                                                              {true, 6, 5}}) {
    EXPECT_EQ((ProcessCounts{.is_given = given, .maximum = maximum}.wanted()), wanted)
        << maximum.value_or(0);
  }
}

}  // namespace
}  // namespace fusegate::ci
