// A table in plain text whose columns line up.
#pragma once

#include <string>
#include <vector>

namespace fusegate {

enum class Align { kLeft, kRight };

struct Column {
  std::string header;
  Align align = Align::kLeft;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns);

  // cells: one a column.
  void add_row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  // The header, then the rows, each ended by a newline, without trailing blanks.
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace fusegate
