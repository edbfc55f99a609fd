# Installs `build` below `work`, sees that all is there, then configures, builds and runs `consumer` against what was installed, and nothing else.
file(REMOVE_RECURSE ${work})

function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

step(${CMAKE_COMMAND} --install ${build} --prefix ${work}/prefix)
foreach(installed
    bin/attn-cli
    share/man/man1/attn-cli.1.gz
    share/man/man1/attn-cli-run.1.gz
    share/bash-completion/completions/attn-cli
    share/fish/vendor_completions.d/attn-cli.fish
    share/zsh/site-functions/_attn-cli
    share/attn-cli/recipes/raschka-2023.json
    share/attn-cli/schemas/result.json
    share/doc/attn-cli/copyright
    share/doc/attn-cli/examples/cases.sh
    share/doc/attn-cli/examples/cpp/CMakeLists.txt
    share/doc/attn-cli/examples/parallel.sh
    share/doc/attn-cli/examples/pytest/test_kernel.py)
  if(NOT EXISTS ${work}/prefix/${installed})
    message(FATAL_ERROR "cmake --install leaves out ${installed}")
  endif()
endforeach()

step(${CMAKE_COMMAND} -S ${consumer} -B ${work}/build -G ${generator}
  -D CMAKE_PREFIX_PATH=${work}/prefix -D CMAKE_BUILD_TYPE=${type} -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_CXX_FLAGS=${flags})
step(${CMAKE_COMMAND} --build ${work}/build)
step(${work}/build/consumer)
