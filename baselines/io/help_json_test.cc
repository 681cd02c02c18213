#include "baselines/io/help_json.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace fusegate::baselines {
namespace {

using nlohmann::json;

json option_of(const json& help, const std::string& name) {
  for (const json& option : help.at("options")) {
    if (option.at("names").back() == name) return option;
  }
  ADD_FAILURE() << "no option " << name;
  return {};
}

class HelpJson : public ::testing::Test {
 protected:
  HelpJson() {
    CLI::App* gate = app_.add_subcommand("gate", "Judge a run");
    gate->footer("The end.");
    add_example(*gate, "tool gate run");
    gate->add_option("run", paths_, "Runs")->required();
    gate->option_defaults()->group("What is compared");
    CLI::Option* base = gate->add_option("-b,--base", text_, "Base")->type_name("PATH");
    gate->add_option("--count", count_, "How many")
        ->check(CLI::Range(1, 9))
        ->capture_default_str()
        ->envname("COUNT");
    gate->add_option("--sizes", sizes_, "Sizes")->delimiter(',');
    CLI::Option* sizes = gate->get_option("--sizes");
    CLI::Option* all = gate->add_flag("--all", all_, "All of them");  // after --sizes in memory
    gate->add_flag("--wide", wide_, "As wide as it is")
        ->excludes(sizes)
        ->excludes(all)
        ->excludes(base)
        ->needs("--count");
    gate->add_option("--secret", secret_)->group("");
    app_.add_subcommand("hidden", "Not told")->group("");
    add_help_json(app_);
  }

  CLI::App app_{"Tells", "tool"};
  std::vector<std::string> paths_;
  std::vector<int> sizes_;
  std::string text_;
  std::string secret_;
  int count_ = 5;
  bool wide_ = false;
  bool all_ = false;
};

TEST_F(HelpJson, HasEveryCommandAndOptionThatHelpShowsAndNoOther) {
  const json help = help_json(app_);
  EXPECT_EQ(help["name"], "tool");
  EXPECT_EQ(help["description"], "Tells");
  ASSERT_EQ(help["commands"].size(), 1U) << help;
  std::vector<std::string> names;
  for (const json& option : help["commands"][0]["options"]) names.push_back(option["names"].back());
  EXPECT_EQ(names, (std::vector<std::string>{"--help", "run", "--base", "--count", "--sizes",
                                             "--all", "--wide"}));
  EXPECT_EQ(help["commands"][0]["footer"], "The end.\n\nExample:\n  tool gate run");
  EXPECT_EQ(help["options"].size(), 1U) << "--help alone: " << help["options"];
}

TEST_F(HelpJson, SaysOfAnOptionWhatHelpSays) {
  const json gate = help_json(app_)["commands"][0];
  EXPECT_EQ(option_of(gate, "--count"), json({{"names", {"--count"}},
                                              {"topic", "What is compared"},
                                              {"description", "How many"},
                                              {"value", "INT:INT in [1 - 9]"},
                                              {"default", "5"},
                                              {"required", false},
                                              {"repeats", false},
                                              {"takes_several", false},
                                              {"delimiter", ""},
                                              {"excludes", json::array()},
                                              {"needs", json::array()},
                                              {"environment", "COUNT"}}));
  const json base = option_of(gate, "--base");
  EXPECT_EQ(base["names"], json({"-b", "--base"}));
  EXPECT_EQ(base["value"], "PATH");
  EXPECT_EQ(base["excludes"], json({"--wide"}));
  const json wide = option_of(gate, "--wide");
  EXPECT_EQ(wide["value"], "");
  EXPECT_EQ(wide["needs"], json({"--count"}));
  EXPECT_EQ(wide["excludes"], json({"--all", "--base", "--sizes"}));
  EXPECT_EQ(option_of(gate, "run")["required"], true);
  EXPECT_EQ(option_of(gate, "run")["takes_several"], true);
  EXPECT_EQ(option_of(gate, "--sizes")["delimiter"], ",");
}

TEST_F(HelpJson, IsPrintedByAFlagWhateverIsRequired) {
  app_.require_subcommand(1);
  std::ostringstream out;
  try {
    app_.parse("--help-json");
    FAIL() << "the flag did not end it";
  } catch (const CLI::ParseError& ended) {
    EXPECT_EQ(app_.exit(ended, out, out), 0);
  }
  EXPECT_EQ(json::parse(out.str()), help_json(app_));
  EXPECT_EQ(app_.help().find("help-json"), std::string::npos);
}

}  // namespace
}  // namespace fusegate::baselines
