#include "bench/meters/make_meter.h"

#include <map>
#include <utility>

#include "bench/meters/ranks_meter.h"

namespace fusegate::bench {
namespace {

using MakeMeter = std::function<std::unique_ptr<Meter>(kernels::Device&)>;

// A function's static, since registrations run before main in no particular order.
std::map<std::string, MakeMeter, std::less<>>& makers() {
  static std::map<std::string, MakeMeter, std::less<>> makers;
  return makers;
}

}  // namespace

MeterRegistration::MeterRegistration(std::string device_kind, MakeMeter make) {
  makers().emplace(std::move(device_kind), std::move(make));
}

std::unique_ptr<Meter> make_meter(kernels::Device& device) {
  const auto found = makers().find(device.kind());
  if (found == makers().end()) {
    throw kernels::DeviceError("no meter is registered for devices of kind " +
                               std::string(device.kind()));
  }
  std::unique_ptr<Meter> meter = found->second(device);
  return device.ranks().are_several() ? make_ranks_meter(device, std::move(meter))
                                      : std::move(meter);
}

}  // namespace fusegate::bench
