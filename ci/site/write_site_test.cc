#include "ci/site/write_site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "baselines/history/change_id.h"
#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/scratch_folder.h"
#include "ci/site/series.h"
#include "ci/site/site_texts.h"
#include "ci/site/test_year.h"

namespace fusegate::ci {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::size_t times_in(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) ++count;
  return count;
}

constexpr std::size_t kMostBytes = 2'000'000;

TEST(Site, IsBelowTwoMegabytesForAYearOf344Benchmarks) {
  const auto files = site_files(made_up_year(344, 365));
  std::size_t bytes = 0;
  for (const auto& [path, text] : files) bytes += text.size();
  EXPECT_EQ(files.size(), 344 + 6u);
  EXPECT_LT(bytes, kMostBytes);
  RecordProperty("bytes", static_cast<int>(bytes));
}

class SmallSite : public testing::Test {
 protected:
  SmallSite() : site_(made_up_year(32, 300)) {}
  std::string page(const std::string& path) const { return site_files(site_).at(path); }
  std::string index() const { return page("index.html"); }
  std::string benchmark(std::size_t i) const { return page(page_of_benchmark(made_up_name(i))); }

  Site site_;
};

TEST_F(SmallSite, BeginsWithTheLastNightAndWhatWasFound) {
  const std::string html = index();
  EXPECT_THAT(html, HasSubstr("<h1>nightly on NVIDIA H200</h1>"));
  EXPECT_THAT(html, HasSubstr("<div class=\"verdict alarm\">"));
  EXPECT_THAT(html,
              HasSubstr("1 change point was found in the last night, the largest +0.41 % in "));
  EXPECT_THAT(html, HasSubstr("3 alarms; 2 triaged, 1 of them false (50.0 %)"));
  EXPECT_THAT(html, HasSubstr("293 nights since 2025-01-01, 32 benchmarks"));
  EXPECT_THAT(html, HasSubstr(" Data are missing: machine h200-2.</div>"));
  EXPECT_THAT(html, AllOf(HasSubstr("No night for a week."),
                          HasSubstr("data-label=\"until\">2025-09-25</td>")));
  EXPECT_THAT(html, HasSubstr("explains it; alarm " + baselines::change_id(site_.changes[2])));
}

TEST_F(SmallSite, NamesEachPlantedChangeOnceWithItsClassAndCommit) {
  const std::string html = index();
  const std::string table =
      html.substr(html.find("Change points</h2>"),
                  html.find("Missing data</h2>") - html.find("Change points</h2>"));
  EXPECT_EQ(times_in(table, "role=\"rowheader\""), 3u);
  for (const char* text :
       {">code<", ">library<", ">unexplained<", "commit 100003b..100003c; alarm ",
        "driver 570.124.06 -&gt; 580.159.04", ">confirmed<", ">2025-05-01<"}) {
    EXPECT_THAT(table, HasSubstr(text)) << text;
  }
}

TEST_F(SmallSite, HasEveryBenchmarkInItsTableWithALink) {
  const std::string html = index();
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_THAT(html, HasSubstr("href=\"" + page_of_benchmark(made_up_name(i)) + "\""));
  }
  EXPECT_THAT(html,
              HasSubstr("data-label=\"since 2025-01-01\">+1.30 %"));  // stepped, and the driver
  EXPECT_THAT(html, HasSubstr(">@org/linear</td>"));
}

TEST_F(SmallSite, SortsByAbsoluteEffect) {
  const std::string html = index();
  const std::string table = html.substr(html.find(">32 benchmarks</h2>"));
  const std::regex effect("data-label=\"last night\">([+-][0-9.]+) %");
  double before = INFINITY;
  std::size_t rows = 0;
  for (std::sregex_iterator at(table.begin(), table.end(), effect), end; at != end; ++at, ++rows) {
    EXPECT_LE(std::abs(std::stod((*at)[1])), before);
    before = std::abs(std::stod((*at)[1]));
  }
  EXPECT_EQ(rows, 32u);
}

TEST_F(SmallSite, ShowsABenchmarksHistoryKernelsAndCommands) {
  const std::string html = benchmark(9);
  EXPECT_THAT(html, HasSubstr("class=\"slower\" d=\"M119.5 0v"));
  EXPECT_THAT(html, HasSubstr("<title>2025-05-01: +2.12 %, code, commit 100003b..100003c</title>"));
  EXPECT_THAT(html, HasSubstr("src=\"../nights.svg\""));
  EXPECT_THAT(html, HasSubstr("2 versions of its code, the last 9be1b2a3, 2025-05-01 to "));
  EXPECT_THAT(html, HasSubstr("<path d=\"M0 0h120\"/><path class=\"odd\" d=\"M120 0h173\"/>"));
  EXPECT_THAT(html, HasSubstr("code 0a1b2c3d, 2025-01-01 to 2025-10-27"));
  EXPECT_THAT(html, HasSubstr("fusegate bisect --good 100003bc0ffee0decade --bad "));
  EXPECT_THAT(html, HasSubstr("--benchmark_filter=^geglu_mlp/fused_epilogue_sm90/bf16/batch:1/"));
  EXPECT_THAT(benchmark(8), Not(HasSubstr("bisect")));
}

TEST_F(SmallSite, SaysWhatIsMissingOrNew) {
  auto& last = site_.nights.back().benchmarks;
  const std::string gone = last.front().name;
  last.front().name = "0 new";
  EXPECT_THAT(page(page_of_benchmark(gone)), HasSubstr("verdict missing\"><strong>missing</strong> "
                                                       "Last measured 2025-10-26."));
  EXPECT_THAT(page(page_of_benchmark("0 new")), HasSubstr("<strong>new</strong>"));
}

TEST_F(SmallSite, SaysWhatTheReplayRulesOut) {
  EXPECT_THAT(index(), Not(HasSubstr("ruled out")));
  for (baselines::NightBenchmark& one : site_.nights.back().benchmarks) {
    one.over_replay = {{.value = 0.001, .variance = 1e-6}};
  }
  EXPECT_THAT(index(),
              HasSubstr("<dt>ruled out</dt><dd>slowdowns above 0.26 % in nine tenths of 32 "
                        "benchmarks, above 0.26 % in all</dd>"));
  EXPECT_THAT(index(), HasSubstr("data-label=\"ruled out\">&gt; 0.26 %"));
}

TEST_F(SmallSite, LetsNoNameBreakOut) {
  const std::string evil =
      "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>/../../x";
  for (baselines::Night& night : site_.nights) {
    for (auto* text : {&night.session, &night.commit, &night.device, &night.card, &night.driver,
                       &night.cuda, &night.cublas, &night.suite, &night.replayed}) {
      *text = evil;
    }
    night.benchmarks.resize(1);
    night.benchmarks[0].name = night.benchmarks[0].identity = evil;
    night.benchmarks[0].kernels = {evil};
  }
  for (baselines::ChangePoint& change : site_.changes) {
    change.subject = change.first_session = change.alarm_session = change.reason = evil;
    change.benchmarks = {evil, evil};
  }
  site_.missing = {{evil, evil, evil, evil}};
  site_.owners = {{evil, evil}};
  const auto files = site_files(site_);
  EXPECT_EQ(files.size(), 7u);
  for (const auto& [path, text] : files) {
    EXPECT_THAT(path, AllOf(Not(HasSubstr("..")), Not(HasSubstr("<"))));
    EXPECT_THAT(text, Not(HasSubstr("<img src=x"))) << path;
    EXPECT_THAT(text, Not(HasSubstr("<script>alert"))) << path;
    EXPECT_THAT(text, Not(HasSubstr("</script><script>"))) << path;
  }
  EXPECT_THAT(files.at("nights.js"), HasSubstr("\\u003c/script>"));
}

TEST(Series, BreaksWhereAnotherProgramWasReplayed) {
  Site site = made_up_year(1, 4);
  for (std::size_t i = 0; i < 4; ++i) {
    site.nights[i].replayed = i < 2 ? "a" : "b";
    site.nights[i].benchmarks[0].over_replay = {{.value = 0.01, .variance = 1e-6}};
  }
  const Series series = all_series(site.nights).at(0);
  const Curve curve = curve_of(series, site.nights);
  EXPECT_TRUE(curve.is_over_replay);
  EXPECT_EQ(curve.is_break, (std::vector<bool>{false, false, true, false}));
  const Movement last = last_movement(series, site.nights);
  EXPECT_NEAR(last.effect, 0.01005, 1e-6);
  EXPECT_NEAR(last.high - last.low, 2 * 1.96e-3 * 1.01, 1e-5);
  EXPECT_EQ(last.against, "the replay of b");
}

TEST(Series, ComparesStoredFiguresWithTheMedianOfTheNightsBefore) {
  Site site = made_up_year(1, 4);
  for (std::size_t i = 0; i < 4; ++i) site.nights[i].benchmarks[0].log_equal_clock = i == 1 ? 9 : 1;
  site.nights[3].benchmarks[0].log_equal_clock = 1.01;
  const Movement last = last_movement(all_series(site.nights).at(0), site.nights);
  EXPECT_NEAR(last.effect, 0.01005, 1e-6);
  EXPECT_TRUE(std::isnan(last.low));
  EXPECT_EQ(last.against, "the median of the 3 nights before");
}

TEST(Page, OfABenchmarkKeepsItsAddress) {
  EXPECT_EQ(page_of_benchmark("geglu/fused/bf16/batch:8"),
            page_of_benchmark("geglu/fused/bf16/batch:8"));
  EXPECT_THAT(page_of_benchmark("geglu/fused/bf16/batch:8"),
              HasSubstr("b/geglu-fused-bf16-batch-8-"));
  EXPECT_NE(page_of_benchmark("a/b"), page_of_benchmark("a:b"));
}

TEST(WriteSite, TakesAwayPagesOfBenchmarksThatAreGone) {
  const baselines::ScratchFolder folder;
  write_site(made_up_year(3, 20), folder.path());
  std::ofstream(folder.path() / "b" / "mine.txt") << "kept";
  write_site(made_up_year(2, 20), folder.path());
  EXPECT_FALSE(std::filesystem::exists(folder.path() / page_of_benchmark(made_up_name(2))));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / page_of_benchmark(made_up_name(1))));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "b" / "mine.txt"));
}

TEST(WriteSite, NeedsANight) { EXPECT_THROW(site_files({}), baselines::InputError); }

}  // namespace
}  // namespace fusegate::ci
