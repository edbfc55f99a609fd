# find_package(attn): the libraries that attn::attn links, then attn::attn itself.
include(CMakeFindDependencyMacro)
find_dependency(Eigen3 NO_MODULE) # of a version that was good enough when attn::attn was built
find_dependency(OpenSSL 3.0 COMPONENTS Crypto)
find_dependency(PkgConfig)
pkg_check_modules(pcre2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
find_dependency(Threads)
find_dependency(ZLIB)
include(${CMAKE_CURRENT_LIST_DIR}/attn-targets.cmake)
