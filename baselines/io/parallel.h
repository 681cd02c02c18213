// A loop over all cores, for work that is worth a thread: a file to parse.
#pragma once

#include <cstddef>
#include <functional>

namespace fusegate::baselines {

// Calls work(i) for i in [0, count), in any order and on any thread. Every call is made even where
// one throws; then the exception of the lowest i is thrown on, so that a message does not depend on
// which thread was first.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace fusegate::baselines
