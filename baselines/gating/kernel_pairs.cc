#include "baselines/gating/kernel_pairs.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "baselines/launches/kernel_name.h"

namespace fusegate::baselines {
namespace {

struct Named {
  std::string_view stage;
  KernelName name;
};

std::vector<Named> named(const std::vector<StagedKernel>& kernels) {
  std::vector<Named> result;
  for (const StagedKernel& kernel : kernels) {
    result.push_back({kernel.stage, read_kernel_name(kernel.name)});
  }
  return result;
}

// Two kernels at all are no more than in the same stage; 3 is the same.
int likeness(const Named& a, const Named& b) {
  if (kernel_differences(a.name, b.name).empty()) return 3;
  if (a.name.library != b.name.library) return 0;
  return a.name.function == b.name.function ? 2 : 1;
}

class Alignment {
 public:
  Alignment(const std::vector<StagedKernel>& before, const std::vector<StagedKernel>& after)
      : before_(named(before)), after_(named(after)) {}

  std::vector<AlignedKernels> aligned() {
    find_common();
    std::size_t i = 0, j = 0;
    for (const auto& [same_i, same_j] : common_) {
      add_between(i, same_i, j, same_j);
      add(same_i, same_j);
      i = same_i + 1;
      j = same_j + 1;
    }
    add_between(i, before_.size(), j, after_.size());
    return std::move(aligned_);
  }

 private:
  bool same(std::size_t i, std::size_t j) const {
    return before_[i].stage == after_[j].stage && likeness(before_[i], after_[j]) == 3;
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
      for (; found < j_end && j < found; ++j) add(std::nullopt, j);
      if (found < j_end) {
        add(i, j++);
      } else {
        add(i, std::nullopt);
      }
    }
    for (; j < j_end; ++j) add(std::nullopt, j);
  }

  // j_end where no kernel of that stage is left.
  std::size_t likest(const Named& kernel, std::size_t j, std::size_t j_end) const {
    std::size_t best = j_end;
    int best_likeness = -1;
    for (; j < j_end; ++j) {
      if (after_[j].stage != kernel.stage) continue;
      if (likeness(kernel, after_[j]) <= best_likeness) continue;
      best = j;
      best_likeness = likeness(kernel, after_[j]);
    }
    return best;
  }

  void add(std::optional<std::size_t> i, std::optional<std::size_t> j) {
    AlignedKernels aligned{.before = i, .after = j};
    if (i && j) aligned.differences = kernel_differences(before_[*i].name, after_[*j].name);
    aligned_.push_back(std::move(aligned));
  }

  std::vector<Named> before_;
  std::vector<Named> after_;
  std::vector<std::pair<std::size_t, std::size_t>> common_;
  std::vector<AlignedKernels> aligned_;
};

std::vector<StagedKernel> staged(const std::vector<ProfiledKernel>& kernels) {
  std::vector<StagedKernel> result;
  for (const ProfiledKernel& kernel : kernels) result.push_back({kernel.name, kernel.stage});
  return result;
}

// Split-K, for one, is another kernel and a second that adds up.
void mark_helpers(std::vector<KernelPair>& pairs) {
  for (KernelPair& pair : pairs) {
    if (!pair.is_alone()) continue;
    const std::string& stage = pair.before ? pair.before->stage : pair.after->stage;
    if (stage.empty()) continue;
    pair.is_part_of_other = std::ranges::any_of(pairs, [&](const KernelPair& other) {
      return other.is_other() && other.before->stage == stage;
    });
  }
}

}  // namespace

std::vector<AlignedKernels> align_kernels(const std::vector<StagedKernel>& before,
                                          const std::vector<StagedKernel>& after) {
  return Alignment(before, after).aligned();
}

std::vector<KernelPair> pair_kernels(const std::vector<ProfiledKernel>& before,
                                     const std::vector<ProfiledKernel>& after) {
  std::vector<KernelPair> pairs;
  for (AlignedKernels& aligned : align_kernels(staged(before), staged(after))) {
    KernelPair pair;
    if (aligned.before) pair.before = before[*aligned.before];
    if (aligned.after) pair.after = after[*aligned.after];
    pair.differences = std::move(aligned.differences);
    pairs.push_back(std::move(pair));
  }
  mark_helpers(pairs);
  return pairs;
}

}  // namespace fusegate::baselines
