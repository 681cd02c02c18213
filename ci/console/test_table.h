// For tests: what a table has.
#pragma once

#include <string>
#include <vector>

#include "ci/console/table.h"

namespace fusegate::ci {

inline std::vector<std::string> headers(const Table& table) {
  std::vector<std::string> headers;
  for (const Column& column : table.columns()) headers.push_back(column.header);
  return headers;
}

}  // namespace fusegate::ci
