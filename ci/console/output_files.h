// Files that a command was asked for with flags, such as --json and --markdown.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>

namespace fusegate::ci {

struct OutputFile {
  std::optional<std::filesystem::path> path;  // nothing: it was not asked for
  std::function<std::string()> text;
};

// Writes them, one after the other. One that cannot be made or written costs none of the others;
// the first such InputError is thrown when all were tried. written: of each that was.
void write_output_files(
    std::initializer_list<OutputFile> files,
    const std::function<void(const std::filesystem::path&)>& written = [](const auto&) {});

}  // namespace fusegate::ci
