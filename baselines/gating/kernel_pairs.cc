// Which kernel of the candidate stands in which one's place.
#include <algorithm>

#include "baselines/gating/kernel_story.h"
#include "baselines/launches/kernel_name_reader.h"

namespace fusegate::baselines {
namespace {

struct Named {
  const ProfiledKernel* kernel = nullptr;
  KernelName name;
};

std::vector<Named> named(const std::vector<ProfiledKernel>& kernels) {
  std::vector<Named> result;
  for (const ProfiledKernel& kernel : kernels) {
    result.push_back({&kernel, read_kernel_name(kernel.name)});
  }
  return result;
}

// Two kernels at all are no more than in the same stage; 3 is the same.
int likeness(const Named& a, const Named& b) {
  if (kernel_differences(a.name, b.name).empty()) return 3;
  if (a.name.library != b.name.library) return 0;
  return a.name.function == b.name.function ? 2 : 1;
}

class Pairing {
 public:
  Pairing(const std::vector<ProfiledKernel>& before, const std::vector<ProfiledKernel>& after)
      : before_(named(before)), after_(named(after)) {}

  std::vector<KernelPair> pairs() {
    find_common();
    std::size_t i = 0, j = 0;
    for (const auto& [same_i, same_j] : common_) {
      add_between(i, same_i, j, same_j);
      add(&before_[same_i], &after_[same_j]);
      i = same_i + 1;
      j = same_j + 1;
    }
    add_between(i, before_.size(), j, after_.size());
    mark_helpers();
    return std::move(pairs_);
  }

 private:
  bool same(std::size_t i, std::size_t j) const {
    return before_[i].kernel->stage == after_[j].kernel->stage &&
           likeness(before_[i], after_[j]) == 3;
  }

  // The longest sequence of the same kernels on both sides (R. A. Wagner, M. J. Fischer, "The
  // string-to-string correction problem", J. ACM 21 (1974), 168-173).
  void find_common() {
    const std::size_t rows = before_.size(), columns = after_.size();
    std::vector<std::vector<int>> longest(rows + 1, std::vector<int>(columns + 1, 0));
    for (std::size_t i = rows; i-- > 0;) {
      for (std::size_t j = columns; j-- > 0;) {
        longest[i][j] =
            same(i, j) ? longest[i + 1][j + 1] + 1 : std::max(longest[i + 1][j], longest[i][j + 1]);
      }
    }
    for (std::size_t i = 0, j = 0; i < rows && j < columns;) {
      if (same(i, j)) {
        common_.emplace_back(i++, j++);
      } else if (longest[i + 1][j] >= longest[i][j + 1]) {
        ++i;
      } else {
        ++j;
      }
    }
  }

  void add_between(std::size_t i, std::size_t i_end, std::size_t j, std::size_t j_end) {
    for (; i < i_end; ++i) {
      const std::size_t found = likest(before_[i], j, j_end);
      for (; found < j_end && j < found; ++j) add(nullptr, &after_[j]);
      add(&before_[i], found < j_end ? &after_[j++] : nullptr);
    }
    for (; j < j_end; ++j) add(nullptr, &after_[j]);
  }

  // j_end where no kernel of that stage is left.
  std::size_t likest(const Named& kernel, std::size_t j, std::size_t j_end) const {
    std::size_t best = j_end;
    int best_likeness = -1;
    for (; j < j_end; ++j) {
      if (after_[j].kernel->stage != kernel.kernel->stage) continue;
      if (likeness(kernel, after_[j]) <= best_likeness) continue;
      best = j;
      best_likeness = likeness(kernel, after_[j]);
    }
    return best;
  }

  void add(const Named* before, const Named* after) {
    KernelPair pair;
    if (before) pair.before = *before->kernel;
    if (after) pair.after = *after->kernel;
    if (before && after) pair.differences = kernel_differences(before->name, after->name);
    pairs_.push_back(std::move(pair));
  }

  // Split-K, for one, is another kernel and a second that adds up.
  void mark_helpers() {
    for (KernelPair& pair : pairs_) {
      if (!pair.is_alone()) continue;
      const std::string& stage = pair.before ? pair.before->stage : pair.after->stage;
      if (stage.empty()) continue;
      pair.is_part_of_other = std::ranges::any_of(pairs_, [&](const KernelPair& other) {
        return other.is_other() && other.before->stage == stage;
      });
    }
  }

  std::vector<Named> before_;
  std::vector<Named> after_;
  std::vector<std::pair<std::size_t, std::size_t>> common_;
  std::vector<KernelPair> pairs_;
};

}  // namespace

std::vector<KernelPair> pair_kernels(const std::vector<ProfiledKernel>& before,
                                     const std::vector<ProfiledKernel>& after) {
  return Pairing(before, after).pairs();
}

}  // namespace fusegate::baselines
