#include "ci/console/table.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace fusegate::ci {
namespace {

TEST(Table, AlignsColumnsAndDropsTrailingBlanks) {
  Table table({{"name"}, {"time", Align::kRight}, {"note"}});
  table.add_row({"a", "1.5 us", "slow"});
  table.add_row({"longer", "12.5 us", ""});
  EXPECT_EQ(table.text(),
            "name       time  note\n"
            "a        1.5 us  slow\n"
            "longer  12.5 us\n");
}

TEST(Table, CountsCodePointsAndNotBytes) {
  Table table({{"name"}, {"x"}});
  table.add_row({"\u00b5s", "1"});
  table.add_row({"abcd", "2"});
  EXPECT_EQ(table.text(), "name  x\n\u00b5s    1\nabcd  2\n");
}

TEST(Table, RefusesARowOfAnotherWidth) {
  Table table({{"name"}});
  EXPECT_THROW(table.add_row({"a", "b"}), std::logic_error);
}

}  // namespace
}  // namespace fusegate::ci
