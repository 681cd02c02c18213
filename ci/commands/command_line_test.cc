#include "ci/commands/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/fakes/fake_program.h"

namespace fusegate::ci {
namespace {

using tests::FakeRunFile;
using tests::kReadFlags;
using tests::run_file_text;
using tests::write_run;
using tests::write_script;

using ::testing::HasSubstr;

struct Ended {
  baselines::ExitCode code;
  std::string out;
  std::string err;
};

Ended run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "fusegate");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  std::ostringstream out;
  std::ostringstream err;
  Console console{out, err};
  const baselines::ExitCode code =
      parse_command_line(static_cast<int>(argv.size()), argv.data())(console);
  return {code, out.str(), err.str()};
}

TEST(ParseCommandLine, PrintsHelpAndVersion) {
  EXPECT_EQ(run({"--help"}).code, baselines::ExitCode::kNoRegression);
  EXPECT_THAT(run({"--help"}).out, HasSubstr("gate"));
  EXPECT_THAT(run({"gate", "--help"}).out, HasSubstr("--min-effect"));
  EXPECT_THAT(run({"--version"}).out, HasSubstr("fusegate 1."));
}

TEST(ParseCommandLine, AReplayIsAskedWhatAStoredBaselineIs) {
  EXPECT_THAT(run({"replay", "--help"}).out,
              ::testing::AllOf(HasSubstr("--max-creep"), HasSubstr("--max-age-days")));
}

TEST(ParseCommandLine, TakesFlagsByTheirFormerNames) {
  for (const char* command : {"run", "duet", "replay", "job", "calibrate"}) {
    const std::string help = run({command, "--help"}).out;
    EXPECT_THAT(help, HasSubstr("--processes"));
    EXPECT_THAT(help, ::testing::Not(HasSubstr("invocations"))) << command;
    const std::string err = run({command, "--invocations", "0"}).err;
    EXPECT_THAT(err, HasSubstr("Value 0 not in range")) << command;
  }
  EXPECT_THAT(run({"job", "--max-invocations", "0"}).err, HasSubstr("Value 0 not in range"));
  const baselines::ScratchFolder folder;
  const std::string prepared = folder.write("prepared", run_file_text({})).string();
  const std::string program = write_script(
      folder, "bench", std::string(kReadFlags) + "leave '" + prepared + "' \"$out\"\n");
  const std::string out = (folder.path() / "run").string();
  const Ended ended = run({"run", "--suite", "smoke", "--invocations", "2", "--max-invocations",
                           "2", "--program", program, "--out", out});
  EXPECT_EQ(ended.code, baselines::ExitCode::kNoRegression) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("2 processes of suite smoke in "));
}

TEST(ParseCommandLine, EndsWithTwoOnEveryWrongLine) {
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
    EXPECT_EQ(ended.code, baselines::ExitCode::kCouldNotJudge) << ::testing::PrintToString(line);
    EXPECT_THAT(ended.err, ::testing::StartsWith("fusegate: ")) << ::testing::PrintToString(line);
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  }
}

TEST(ParseCommandLine, NamesACommandThatIsNone) {
  EXPECT_EQ(
      run({"gat", "--candidate", "x"}).err,
      "fusegate: \"gat\" is not a command; the nearest is gate (--help shows what there is)\n");
}

TEST(ParseCommandLine, NamesAFlagThatIsNone) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> lines{
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

TEST(ParseCommandLine, HelpsByTopics) {
  for (const char* command : {"gate", "report", "run", "duet", "replay", "job", "calibrate"}) {
    const std::string help = run({command, "--help"}).out;
    EXPECT_THAT(help, HasSubstr("\nWhat is written:\n")) << command;
    EXPECT_THAT(help, HasSubstr("\nOf every command:\n")) << command;
    std::size_t topics = 0;
    for (std::size_t at = 0; (at = help.find("\nWhat ", at)) != help.npos; ++at) ++topics;
    EXPECT_GE(topics, 3U) << help;
    const std::size_t options = help.find("\nOptions:\n");
    EXPECT_EQ(
        std::count(help.begin() + static_cast<std::ptrdiff_t>(options),
                   help.begin() + static_cast<std::ptrdiff_t>(help.find("\nWhat ", options)), '-'),
        3)
        << "--help alone: " << help;
  }
}

TEST(ParseCommandLine, PassesOnWhatFollowsTheDashes) {
  const baselines::ScratchFolder folder;
  const auto prepared = folder.write("prepared", run_file_text({})).string();
  const std::string program =
      write_script(folder, "bench",
                   std::string(kReadFlags) + "leave '" + prepared +
                       "' \"$out\"\nfor a in \"$@\"; do echo \"[$a]\"; done\n");
  const Ended ended = run({"run", "--suite", "smoke", "--program", program, "--out",
                           (folder.path() / "run").string(), "--processes", "1", "--", "--batch=8",
                           "--benchmark_filter=a b"});
  EXPECT_EQ(ended.code, baselines::ExitCode::kNoRegression) << ended.err;
  const std::string log = baselines::read_file(folder.path() / "run" / "1.log");
  EXPECT_THAT(log, HasSubstr("[--batch=8]\n[--benchmark_filter=a b]\n"));
}

TEST(ParseCommandLine, HasARunPinTheChoicesOfTheBaselineByDefault) {
  const baselines::ScratchFolder folder;
  const auto prepared = folder.write("prepared", run_file_text({})).string();
  const std::string program = write_script(folder, "bench",
                                           std::string(kReadFlags) + "leave '" + prepared +
                                               "' \"$out\"\necho \"[$FUSEGATE_KEEP_CHOICES]\"\n");
  const std::string named = write_run(folder, "named", {});
  const auto environment_given = [&](const std::string& out,
                                     const std::vector<std::string>& flags) {
    std::vector<std::string> arguments{"run",
                                       "--suite",
                                       "smoke",
                                       "--processes",
                                       "1",
                                       "--program",
                                       program,
                                       "--baseline",
                                       named,
                                       "--out",
                                       (folder.path() / out).string()};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    EXPECT_EQ(run(arguments).code, baselines::ExitCode::kNoRegression);
    return baselines::read_file(folder.path() / out / "1.log");
  };
  EXPECT_EQ(environment_given("kept", {}), "[" + named + "]\n");
  EXPECT_EQ(environment_given("fresh", {"--fresh-choices"}), "[]\n");
}

TEST(ParseCommandLine, TakesADuetWithoutAnAaComparison) {
  const baselines::ScratchFolder folder;
  const auto program = [&](const std::string& name, double slower) {
    FakeRunFile file;
    for (auto& [benchmark, time_ns] : file.times) time_ns *= slower;
    const auto prepared = folder.write(name + ".json", run_file_text(file)).string();
    return write_script(
        folder, name,
        std::string(kReadFlags) + "leave '" + prepared + "' \"$out\"\necho \"[$*]\"\n");
  };
  const std::string out = (folder.path() / "duet").string();
  const Ended ended = run({"duet", "--suite", "smoke", "--base", program("base", 1), "--head",
                           program("head", 1.0001), "--out", out, "--processes", "2", "--no-aa",
                           "--", "--batch=8"});
  EXPECT_EQ(ended.code, baselines::ExitCode::kNoRegression) << ended.err;
  EXPECT_THAT(baselines::read_file(folder.path() / "duet" / "head" / "2.log"),
              HasSubstr(" --batch=8]"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "duet" / "base_again"));
}

TEST(ParseCommandLine, PairsRepeatedProgramsWithFolders) {
  const baselines::ScratchFolder folder;
  const auto prepared = folder.write("prepared", run_file_text({})).string();
  const std::string body = std::string(kReadFlags) + "leave '" + prepared + "' \"$out\"\n";
  const Ended ended =
      run({"run", "--suite", "smoke", "--processes", "2", "--program",
           write_script(folder, "a", body), "--out", (folder.path() / "A").string(), "--program",
           write_script(folder, "b", body), "--out", (folder.path() / "B").string()});
  EXPECT_EQ(ended.code, baselines::ExitCode::kNoRegression) << ended.err;
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "A" / "2.json"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "B" / "2.json"));
}

TEST(ParseCommandLine, EveryCommandThatGatesTakesWhatIsAllowedAndControls) {
  for (const char* command : {"gate", "report", "duet", "replay", "job"}) {
    const std::string help = run({command, "--help"}).out;
    EXPECT_THAT(help, HasSubstr("--allow FRACTION")) << command;
    EXPECT_THAT(help, HasSubstr("--control PATTERN")) << command;
    EXPECT_THAT(help, ::testing::Not(HasSubstr("--require-ruled-out"))) << command;
  }
}

TEST(ParseCommandLine, WritesWhatIsAllowedIntoTheVerdicts) {
  const baselines::ScratchFolder folder;
  const std::string base = write_run(folder, "base", {});
  const std::string head = write_run(folder, "head", {.protocol = {{"allow", 0.3}}}, 6);
  const std::string json = folder.path() / "gate.json";
  const auto allowed = [&](const std::vector<std::string>& more) {
    std::vector<std::string> line{"gate", "--baseline", base, "--candidate", head, "--json", json};
    line.insert(line.end(), more.begin(), more.end());
    EXPECT_EQ(run(line).code, baselines::ExitCode::kNoRegression);
    return nlohmann::json::parse(baselines::read_file(json)).at("rule").at("allow").get<double>();
  };
  EXPECT_EQ(allowed({}), 0.05);
  EXPECT_EQ(allowed({"--allow", "8%"}), 0.08);
}

TEST(ParseCommandLine, TakesSeveralPathsBehindOneFlag) {
  const baselines::ScratchFolder folder;
  const std::string base = write_run(folder, "base", {});
  const std::string head = write_run(folder, "head", {});
  const Ended ended = run({"gate", "--baseline", base + "/1.json", base + "/2.json",
                           base + "/3.json", "--candidate", head + "/1.json", head + "/2.json",
                           head + "/3.json", "--min-effect", "0.5%"});
  EXPECT_EQ(ended.code, baselines::ExitCode::kNoRegression) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr(" on NVIDIA H200"));
}

TEST(ParseCommandLine, TakesWhatFailsBesideTime) {
  const baselines::ScratchFolder folder;
  FakeRunFile file;
  for (const auto& [name, time_ns] : file.times) file.host_ns[name] = 9100;
  const std::string base = write_run(folder, "base", file);
  file.host_ns.begin()->second = 29200;
  const std::string head = write_run(folder, "head", file);
  const auto code_of = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> line{"gate", "--baseline", base, "--candidate", head};
    line.insert(line.end(), flags.begin(), flags.end());
    return run(line).code;
  };
  EXPECT_EQ(code_of({}), baselines::ExitCode::kNoRegression);
  EXPECT_EQ(code_of({"--fail-on", "host"}), baselines::ExitCode::kRegression);
  EXPECT_EQ(code_of({"--fail-on", "kernels"}), baselines::ExitCode::kCouldNotJudge);
  EXPECT_EQ(code_of({"--fail-on", "kernels", "--fail-on", "host"}),
            baselines::ExitCode::kRegression);
  EXPECT_EQ(code_of({"--fail-on", "kernels,host"}), baselines::ExitCode::kRegression);
  for (const char* command : {"gate", "report", "duet", "replay", "job"}) {
    EXPECT_THAT(run({command, "--help"}).out, HasSubstr("--fail-on ")) << command;
  }
}

TEST(ParseCommandLine, TakesWhatAsksForKernels) {
  const baselines::ScratchFolder folder;
  const std::string base = write_run(folder, "base", {});
  const std::string head = write_run(folder, "head", {});
  for (const char* flag : {"--fail-on=kernels", "--fail-on-changed-kernels"}) {
    EXPECT_THAT(run({"gate", "--baseline", base, "--candidate", head, flag}).out,
                HasSubstr("Could not judge: a run has no profiles"));
  }
  const std::string benchmark = "linear/addmm/bf16/batch:64/seq:128/dim:768/hidden:3072";
  const Ended explained = run({"explain", base, head, benchmark, "--min-effect", "10%"});
  EXPECT_EQ(explained.code, baselines::ExitCode::kNoRegression);
  EXPECT_THAT(explained.out, HasSubstr(benchmark + "\nunchanged: "));
  EXPECT_THAT(explained.out, HasSubstr("lies within [-9.09, +10.00] %"));
}

}  // namespace
}  // namespace fusegate::ci
