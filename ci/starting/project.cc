#include "ci/starting/project.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <system_error>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using baselines::InputError;

constexpr std::string_view kMark = "@project@";

// Nothing is ever overwritten.
void require_free(const fs::path& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status)) throw InputError(folder.string(), "", "is not a folder");
  if (!fs::is_empty(folder)) {
    throw InputError(folder.string(), "", "is not empty; name a new folder or an empty one");
  }
}

std::vector<fs::path> files_below(const fs::path& templates) {
  std::vector<fs::path> files;
  if (fs::is_directory(templates)) {
    for (const auto& entry : fs::recursive_directory_iterator(templates)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  if (files.empty()) {
    throw InputError(templates.string(), "", "the templates are missing; reinstall fusegate");
  }
  std::ranges::sort(files);
  return files;
}

std::string filled_in(std::string text, const std::string& name) {
  for (std::size_t at = 0; (at = text.find(kMark, at)) != text.npos; at += name.size()) {
    text.replace(at, kMark.size(), name);
  }
  return text;
}

}  // namespace

std::string project_name(const fs::path& folder) {
  fs::path absolute = fs::absolute(folder).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  std::string name = absolute.filename().string();
  const auto is_plain = [](unsigned char c) { return c < 0x80 && std::isalnum(c); };
  if (std::ranges::none_of(name, is_plain)) {
    throw InputError(folder.string(), "", "its name needs a letter or digit, to name the project");
  }
  for (char& c : name) {
    c = is_plain(static_cast<unsigned char>(c)) ? static_cast<char>(std::tolower(c)) : '_';
  }
  const bool starts_well = std::isalpha(static_cast<unsigned char>(name.front()));
  return starts_well ? name : "kernels_" + name;
}

std::vector<fs::path> write_project(const fs::path& templates, const fs::path& folder) {
  const std::string name = project_name(folder);
  require_free(folder);
  std::vector<fs::path> written;
  for (const fs::path& file : files_below(templates)) {
    fs::path within = file.lexically_relative(templates);
    if (within.extension() == ".template") within.replace_extension();
    baselines::write_atomically(folder / within, filled_in(baselines::read_file(file), name));
    fs::permissions(folder / within, fs::status(file).permissions() | fs::perms::owner_write);
    written.push_back(within);
  }
  std::ranges::sort(written);
  return written;
}

}  // namespace fusegate::ci
