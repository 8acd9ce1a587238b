#include "util/options.hpp"

#include <stdexcept>

namespace baytree {

void refuse_choice(std::string_view option, std::string_view given, std::span<const std::string_view> names) {
  std::string message = std::string(option) + "='" + std::string(given) + "': give one of ";
  for (std::size_t i = 0; i < names.size(); ++i) message.append(i ? ", " : "").append(names[i]);
  throw std::invalid_argument(message);
}

}  // namespace baytree
