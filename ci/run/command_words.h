// A program as people name it: a file or, with arguments of its own, a command such as
// "python3 -m fusegate run kernels.py".
#pragma once

#include <string>
#include <vector>

namespace fusegate::ci {

// Its words, one at least, split at blanks that stand in no quotes ('...', "...") and behind no
// backslash. A file of that whole name is one word, blanks and all. Throws InputError for a quote
// that does not end.
std::vector<std::string> command_words(const std::string& program);

}  // namespace fusegate::ci
