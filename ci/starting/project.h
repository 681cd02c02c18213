// Writes a starting project of a user's kernels from a folder of templates. A file's ending
// ".template" is removed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fusegate::ci {

// The folder's name as an identifier of CMake and C++: "My-kernels" is "my_kernels". Throws
// InputError if it has no letter or digit.
std::string project_name(const std::filesystem::path& folder);

// Writes the project into the folder and returns its files, sorted, as paths within it. In each,
// the name replaces "@project@". Throws InputError if the folder is not empty, if there are no
// templates, and if a file cannot be written.
std::vector<std::filesystem::path> write_project(const std::filesystem::path& templates,
                                                 const std::filesystem::path& folder);

}  // namespace fusegate::ci
