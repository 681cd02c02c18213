#include "kernels/contract/device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace fusegate::kernels {
namespace {

// A function's static, since registrations run before main in no particular order.
std::vector<DeviceKind>& kinds() {
  static std::vector<DeviceKind> kinds;
  return kinds;
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const DeviceKind& kind : kinds()) {
    if (std::ranges::find(names, kind.name) == names.end()) names.push_back(kind.name);
  }
  return names;
}

}  // namespace

std::int64_t Tensor::count() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>{});
}

std::int64_t Tensor::rows() const { return cols() == 0 ? 0 : count() / cols(); }

double ErrorNorms::relative() const {
  if (not_finite > 0 || bad_reference > 0) return std::numeric_limits<double>::infinity();
  if (difference == 0) return 0;
  return difference / reference;
}

Tensor allocate_tensor(Device& device, std::vector<std::int64_t> shape, Dtype dtype,
                       std::vector<Memory>& owner) {
  Tensor tensor{nullptr, std::move(shape), dtype};
  owner.push_back(device.allocate(tensor.bytes()));
  tensor.data = owner.back().data();
  return tensor;
}

DeviceRegistration::DeviceRegistration(DeviceKind kind) {
  kinds().push_back(std::move(kind));
  std::ranges::sort(kinds(), std::ranges::greater{}, &DeviceKind::preference);
}

std::unique_ptr<Device> open_device(std::string_view wanted, int number) {
  for (const DeviceKind& kind : kinds()) {
    if (wanted != "auto" && wanted != kind.name) continue;
    if (std::unique_ptr<Device> device = kind.open(number)) return device;
  }
  throw DeviceError(fmt::format("no device of kind '{}' here; this program knows: {}", wanted,
                                fmt::join(kind_names(), ", ")));
}

int device_count(std::string_view wanted) {
  for (const DeviceKind& kind : kinds()) {
    if (wanted != "auto" && wanted != kind.name) continue;
    if (const int count = kind.count(); count > 0) return count;
  }
  return 0;
}

}  // namespace fusegate::kernels
