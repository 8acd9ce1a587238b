// The module `baytree._core`. Each family binds its kernels in one thin file of bind/: check, release the GIL, call.
#include "bind/families.hpp"

NB_MODULE(_core, module) {
  module.doc() = "Kernels of baytree: rows in, statistics out.";
  bind_statistics(module);
  bind_c45(module);
  bind_tree(module);
  bind_chaid(module);
  bind_text(module);
  bind_bayes(module);
  bind_choose(module);
  bind_linear(module);
}
