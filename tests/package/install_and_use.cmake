# Installs `build` below `work`, then configures, builds and runs `consumer` against what was installed, and nothing else.
file(REMOVE_RECURSE ${work})

function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

step(${CMAKE_COMMAND} --install ${build} --prefix ${work}/prefix)
step(${CMAKE_COMMAND} -S ${consumer} -B ${work}/build -G ${generator}
  -D CMAKE_PREFIX_PATH=${work}/prefix -D CMAKE_BUILD_TYPE=${type} -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_CXX_FLAGS=${flags})
step(${CMAKE_COMMAND} --build ${work}/build)
step(${work}/build/consumer)
