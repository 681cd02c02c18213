// Programs that choose by measuring, and do not always come to the same.
#include "ci/run/identification.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "baselines/io/file_io.h"
#include "tests/fakes/fake_program.h"

namespace fusegate::ci {
namespace {

using tests::FakeRunFile;
using tests::identities_text;
using tests::kReadFlags;
using tests::write_script;

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

// What a program answers about "mlp".
struct Answer {
  std::string choice;
  std::string code;
};

class IdentifyProgramsTest : public testing::Test {
 protected:
  // Answers what it is asked for the first time with the first of these, and so on; the last
  // repeats.
  ProcessRequest program(const std::string& name, const std::vector<Answer>& answers) {
    for (std::size_t i = 0; i < answers.size(); ++i) {
      FakeRunFile file{.codes = {{"mlp", answers[i].code}, {"plain", "0f"}}};
      file.choices["mlp"]["down_proj"] = answers[i].choice;
      folder_.write(fmt::format("answers/{}.{}", name, i + 1), identities_text(file));
    }
    const std::string start = fmt::format(
        "folder='{}' name={}\n"
        "echo \"$name ${{FUSEGATE_KEEP_CHOICES#$folder/}} ${{FUSEGATE_KEEP_STRICTLY:-no}} $*\" >> "
        "$folder/asked\n"
        "n=$(grep -c \"^$name \" $folder/asked); [ $n -gt {} ] && n={}\n"
        "identities=$folder/answers/$name.$n\n",
        folder_.path().string(), name, answers.size(), answers.size());
    return script(name, start + std::string(kReadFlags));
  }
  ProcessRequest script(const std::string& name, const std::string& body) {
    ProcessRequest request;
    request.program = write_script(folder_, name, body);
    request.suite = "smoke";
    request.folder = folder_.path() / (name + "-run");
    request.timeout_s = 30;
    return request;
  }
  IdentifyResult identify(const std::vector<ProcessRequest>& requests) {
    for (const ProcessRequest& request : requests) fs::create_directories(request.folder);
    Console console{out_, err_};
    return identify_programs(requests, console);
  }
  std::vector<std::string> asked() const {
    std::vector<std::string> result;
    std::istringstream lines(baselines::read_file(folder_.path() / "asked"));
    for (std::string line; std::getline(lines, line);) result.push_back(line);
    return result;
  }
  static std::string choice_in(const fs::path& folder) {
    return baselines::read_identities(folder / "identities.json").choices.at("mlp").at("down_proj");
  }
  static std::string code_in(const fs::path& folder) {
    const auto identities = baselines::read_identities(folder / "identities.json");
    return identities.benchmarks.at("mlp").launches.at(0).code;
  }

  // Two kernels of the same stage, and another code of the second.
  const Answer a_{"tuned: candidate 1 of 2, a", "0a"}, b_{"tuned: candidate 2 of 2, b", "0b"},
      faster_b_{b_.choice, "1b"};
  baselines::ScratchFolder folder_;
  std::ostringstream out_, err_;
};

TEST_F(IdentifyProgramsTest, TheSecondKeepsWhatTheFirstChose) {
  EXPECT_EQ(identify({program("base", {a_}), program("head", {a_})}), IdentifyResult::kAll);
  EXPECT_THAT(asked(), ElementsAre(StartsWith("base  no "),
                                   StartsWith("head base-run/identities.json no ")));
}

// The first takes as long as the second needs to load, and a little more.
TEST_F(IdentifyProgramsTest, TheSecondLoadsWhileASlowFirstIsAsked) {
  const auto slow = [this](const std::string& name, const std::string& before) {
    const ProcessRequest quick = program(name + "-quick", {a_});
    const std::string events = (folder_.path() / "events").string();
    return script(
        name, fmt::format("{}{}printf '({} ' >> '{}'\n'{}' \"$@\"; printf '{}) ' >> '{}'",
                          tests::kAwaitTurn, before, name, events, quick.program, name, events));
  };
  const std::string events = (folder_.path() / "events").string();
  const auto base = slow("base", "sleep 2\n");
  const auto head = slow("head", fmt::format("printf 'loaded ' >> '{}'; await_turn r\n", events));
  EXPECT_EQ(identify({base, head}), IdentifyResult::kAll);
  EXPECT_EQ(baselines::read_file(events), "loaded (base base) (head head) ");
}

TEST_F(IdentifyProgramsTest, WhoseTurnIsNotPassedOnIsAskedAnew) {
  const auto base =
      script("base", fmt::format("sleep 1.5\nexec '{}' \"$@\"", program("quick", {a_}).program));
  const auto head = script(
      "head", fmt::format("[ -z \"$FUSEGATE_TURN\" ] || {{ echo no turn came >&2; exit 1; }}\n"
                          "exec '{}' \"$@\"",
                          program("other", {a_}).program));
  EXPECT_EQ(identify({base, head}), IdentifyResult::kAll);
}

TEST_F(IdentifyProgramsTest, WhatTheSecondDoesOnceAsTheFirstItIsToDo) {
  const auto base = program("base", {a_}), head = program("head", {b_, a_});
  EXPECT_EQ(identify({base, head}), IdentifyResult::kAll);
  ASSERT_THAT(asked(), SizeIs(3));
  EXPECT_THAT(asked()[2], StartsWith("head base-run/identities.json no "));
  EXPECT_THAT(asked()[2], HasSubstr(" --benchmark_filter=^(mlp)("));
  EXPECT_EQ(choice_in(head.folder), a_.choice);
  EXPECT_EQ(code_in(head.folder), a_.code);
  EXPECT_THAT(
      err_.str(),
      HasSubstr("head tunes 1 benchmark again, where the programs chose different kernels\n"));
  EXPECT_FALSE(fs::exists(head.folder / "asked_again"));
}

TEST_F(IdentifyProgramsTest, WhatTheFirstDoesOnceAsTheSecondItIsToDoInAllOfItsFolders) {
  const auto base = program("base", {a_, b_}), head = program("head", {b_});
  ProcessRequest base_again = base;
  base_again.folder += "-again";
  EXPECT_EQ(identify({base, base_again, head}), IdentifyResult::kAll);
  ASSERT_THAT(asked(), SizeIs(4));
  EXPECT_THAT(asked()[3], StartsWith("base base-run/identities.json no "))
      << "it takes the other only where its own choice is clearly slower";
  for (const ProcessRequest& request : {base, base_again, head}) {
    EXPECT_EQ(choice_in(request.folder), b_.choice);
    EXPECT_EQ(code_in(request.folder), b_.code);
  }
}

TEST_F(IdentifyProgramsTest, WhatAgreesLaterIsTakenOverAndNothingElse) {
  const Answer third{"tuned: candidate 3 of 3, c", "0c"};
  const Answer other_code{"measured: candidate 1 of 3, a", "1a"};
  struct Case {
    const char* what;
    std::vector<Answer> of_head;
    std::size_t times_asked;
    Answer kept;
  };
  const std::vector<Case> cases{
      {"differs every time: a candidate is new, or faster, or a rule takes another",
       {faster_b_},
       6,
       faster_b_},
      {"a third choice", {b_, third}, 6, b_},
      {"the same choice, with another code", {b_, other_code}, 3, other_code}};
  for (const Case& one : cases) {
    fs::remove(folder_.path() / "asked");
    const auto base = program("base", {a_}), head = program("head", one.of_head);
    EXPECT_EQ(identify({base, head}), IdentifyResult::kAll);
    EXPECT_THAT(asked(), SizeIs(one.times_asked)) << one.what;
    EXPECT_EQ(choice_in(base.folder), a_.choice) << one.what;
    EXPECT_EQ(choice_in(head.folder), one.kept.choice) << one.what;
    EXPECT_EQ(code_in(head.folder), one.kept.code) << one.what;
  }
}

TEST_F(IdentifyProgramsTest, ThoseThatChoseAlikeAreNotAskedAgain) {
  const Answer by_rule{"algo 66", "0a"}, by_another_rule{"algo 67", "0b"};
  const Answer of_three{"tuned: candidate 2 of 3, a", a_.code};
  const Answer faster_of_three{"measured: candidate 2 of 3, a", "1a"};
  const std::vector<std::pair<Answer, Answer>> alike{
      {b_, faster_b_}, {a_, of_three}, {a_, faster_of_three}, {by_rule, by_another_rule}};
  for (const auto& [of_base, of_head] : alike) {
    fs::remove(folder_.path() / "asked");
    EXPECT_EQ(identify({program("base", {of_base}), program("head", {of_head})}),
              IdentifyResult::kAll);
    EXPECT_THAT(asked(), SizeIs(2)) << of_head.choice;
  }
}

TEST_F(IdentifyProgramsTest, AProgramThatFailsTheSecondTimeKeepsItsFirstAnswer) {
  const auto base = program("base", {a_}), head = program("head", {b_, b_});
  fs::remove(folder_.path() / "answers" / "head.2");
  EXPECT_EQ(identify({base, head}), IdentifyResult::kAll);
  EXPECT_EQ(choice_in(head.folder), b_.choice);
}

TEST_F(IdentifyProgramsTest, ThoseThatAreToChooseAnewKeepNothing) {
  auto base = program("base", {a_}), head = program("head", {b_});
  for (ProcessRequest* request : {&base, &head}) {
    request->environment["FUSEGATE_KEEP_CHOICES"] = "";
  }
  EXPECT_EQ(identify({base, head}), IdentifyResult::kAll);
  EXPECT_THAT(asked(), ElementsAre(StartsWith("base  no "), StartsWith("head  no ")));
  take_found_choices(head);
  EXPECT_THAT(head.environment, SizeIs(1));
}

TEST_F(IdentifyProgramsTest, WhatWasFoundIsPinned) {
  auto head = program("head", {b_});
  head.environment["FUSEGATE_KEEP_CHOICES"] = "a stored baseline";
  take_found_choices(head);
  EXPECT_EQ(head.environment.at("FUSEGATE_KEEP_CHOICES"),
            (head.folder / "identities.json").string());
  EXPECT_EQ(head.environment.at("FUSEGATE_KEEP_STRICTLY"), "true");
}

}  // namespace
}  // namespace fusegate::ci
