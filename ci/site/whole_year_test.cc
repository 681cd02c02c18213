// A made-up year, night by night into a database, judged, and drawn: each planted event is on the
// first page, in its night, at its commit, with its class, and no other is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "baselines/changes/judge_history.h"
#include "baselines/io/scratch_folder.h"
#include "ci/site/write_site.h"
#include "tests/audit/made_up_year.h"

namespace fusegate::ci {
namespace {

using ::testing::HasSubstr;
namespace audit = baselines::audit;

std::string without(std::string text, const std::string& part) {
  for (std::size_t at = 0; (at = text.find(part)) != text.npos;) text.erase(at, part.size());
  return text;
}

// The rows of changes, the oldest first, each with the note below it.
std::vector<std::string> change_rows(const std::string& html) {
  const std::string row = "<tr role=\"row\" class=\"noted\">";
  std::vector<std::string> rows;
  for (std::size_t at = html.find(row); at != html.npos;) {
    const std::size_t next = html.find(row, at + 1);
    const std::size_t end = std::min(next, html.find("</table>", at));
    if (const std::string text = html.substr(at, end - at);
        text.find("data-label=\"class\"") != text.npos) {
      rows.push_back(text);
    }
    at = next;
  }
  std::ranges::reverse(rows);
  return rows;
}

TEST(WholeYear, ShowsEachPlantedEventAndNoOther) {
  const baselines::ScratchFolder folder;
  baselines::History history(folder.path() / "history.db", baselines::DatabaseUse::kWrite);
  for (const baselines::Night& night : audit::made_up_year()) ASSERT_TRUE(history.add(night));
  Site site;
  site.missing = baselines::judge_history(history, audit::end_of_made_up_year()).missing;
  site.nights = history.whole_nights();
  for (const auto& stored : history.change_points()) site.changes.push_back(stored.point);
  const std::string html = without(site_files(site).at("index.html"), "<wbr>");

  std::vector<std::string> rows = change_rows(html);
  const auto creep = std::ranges::stable_partition(
      rows, [](const std::string& row) { return row.find(audit::kCreeping) == row.npos; });
  EXPECT_TRUE(creep.size() == 1 || creep.size() == 2) << "as creep, it is found once or twice";
  rows.erase(creep.begin(), creep.end());
  const auto planted = audit::planted_changes();
  ASSERT_EQ(rows.size(), planted.size());
  for (std::size_t i = 0; i < planted.size(); ++i) {
    SCOPED_TRACE(planted[i].subject);
    const auto first =
        std::ranges::find(site.nights, planted[i].first_session, &baselines::Night::session);
    ASSERT_NE(first, site.nights.end());
    EXPECT_THAT(rows[i], HasSubstr('>' + planted[i].first_session + '<'));
    EXPECT_THAT(rows[i], HasSubstr(planted[i].subject));
    EXPECT_THAT(rows[i], HasSubstr(std::string("data-label=\"class\">") +
                                   change_class_name(planted[i].of_class) + '<'));
    if (planted[i].of_class == baselines::ChangeClass::kCode) {
      EXPECT_THAT(rows[i], HasSubstr(first->commit.substr(0, 7)));
    }
  }
  EXPECT_THAT(html, HasSubstr("GPU-5"));
  EXPECT_EQ(site.missing.size(), 2u) << "the week that was missing is over";
}

}  // namespace
}  // namespace fusegate::ci
