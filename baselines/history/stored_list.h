// Lists and maps of texts as a history's database has them: JSON in a column.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "baselines/history/database.h"
#include "baselines/io/error.h"

namespace fusegate::baselines {

// Bytes that are no UTF-8 are replaced.
inline std::string stored_list(const nlohmann::json& list) {
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Throws InputError where the text is no such list: somebody changed it.
template <typename List>
List read_stored_list(const std::string& text, const Database& database) try {
  return nlohmann::json::parse(text).get<List>();
} catch (const nlohmann::json::exception&) {
  throw InputError(database.path().string(), "", damaged_text("a list in it is none"));
}

}  // namespace fusegate::baselines
