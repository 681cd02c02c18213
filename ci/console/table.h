// A table of text cells; in plain text its columns line up.
#pragma once

#include <string>
#include <vector>

namespace fusegate::ci {

enum class Align { kLeft, kRight };

struct Column {
  std::string header;
  Align align = Align::kLeft;
  bool is_code = false;  // names of a program's things, set apart where a format can
};

class Table {
 public:
  explicit Table(std::vector<Column> columns);

  // cells: one a column.
  void add_row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<std::vector<std::string>>& rows() const { return rows_; }
  // The header, then the rows, each ended by a newline, without trailing blanks.
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace fusegate::ci
