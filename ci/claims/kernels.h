// Kernels that a call launches, and what a claim says of them, as JSON:
//
//   "gemm"                                a pattern that the file's "kernels" names
//   {"is": "gemm", "layout": "tn"}        the same, and more of it
//   {"name": "*[Gg]elu*"}                 a wildcard of a shell, as are all values
//   {"library": ["cublas", "cutlass"]}    one of these
//   {"function": "!splitK*"}              any but these
//   {"shape": "$a"}, {"shape": "!$a"}     the same as (another than) that of the kernel before it
//                                         which was said to be "$a"; never empty
//
// Fields are those of a kernel's name as far as it can be read (kernel_name.h):
// name, library, function, architecture, operations, layout, tile
// ("128x64x32"), stages, and shape, which is tile and stages.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "baselines/io/json_field.h"
#include "baselines/launches/kernel_name.h"

namespace fusegate::ci {

using KernelNames = std::vector<baselines::KernelName>;

class KernelPatterns {
 public:
  // named: an object of patterns by name. Throws InputError for one that is none.
  explicit KernelPatterns(const baselines::JsonField& named);

  // Whether these are the kernels, one by one. Throws InputError naming what is
  // no pattern, however many kernels there are.
  bool are(const KernelNames& kernels, const std::vector<baselines::JsonField>& patterns) const;
  // Those that fit the pattern of that name, or those that do not.
  KernelNames select(const KernelNames& kernels, const baselines::JsonField& name,
                     bool fitting) const;

 private:
  using Said = std::map<std::string, std::string>;  // by "$a"
  bool fits(const baselines::KernelName& kernel, const baselines::JsonField& pattern,
            Said* said) const;

  const baselines::JsonField named_;
};

// "`nvjet_...` (cublas nvjet bf16 256x128x64 tn), 57.06 us"
std::string kernel_line(const std::string& name, double duration_ns);

}  // namespace fusegate::ci
