// Options given by name. An unknown name raises std::invalid_argument, which lists the known names.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace baytree {

[[noreturn]] void refuse_choice(std::string_view option, std::string_view given, std::span<const std::string_view> names);

template <typename Value> struct Choice {
  std::string_view name;
  Value value;
};

template <typename Value, std::size_t N>
Value chosen(std::string_view option, std::string_view given, const Choice<Value> (&choices)[N]) {
  std::array<std::string_view, N> names;
  for (std::size_t i = 0; i < N; ++i) {
    if (choices[i].name == given) return choices[i].value;
    names[i] = choices[i].name;
  }
  refuse_choice(option, given, names);
}

template <typename Value, std::size_t N> std::string name_of(Value value, const Choice<Value> (&choices)[N]) {
  for (const Choice<Value>& choice : choices)
    if (choice.value == value) return std::string(choice.name);
  return {};
}

}  // namespace baytree
