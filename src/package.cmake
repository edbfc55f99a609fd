# What `cmake --install` puts beside the program and the library, and the Debian package that `cpack -G DEB` makes.
#
# Three components: `cmake --install` takes `program` and `library`, the package `program` and `debian`.

set(ATTN_MAINTAINER "attn-cli maintainers <maintainers@users.noreply.github.com>")
set(data ${CMAKE_INSTALL_DATADIR})

if(NOT CMAKE_CROSSCOMPILING AND NOT ATTN_BUILD_FUZZERS) # what the program writes itself
  set(pages ${CMAKE_BINARY_DIR}/pages)
  set(changelog ${ATTN_DATA}/manual/changelog.md)
  add_custom_command(OUTPUT ${pages}/bash
    COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:attn-cli> -D CHANGELOG=${changelog} -D VERSION=${PROJECT_VERSION}
            -D DATE=${ATTN_DATE} -D MAINTAINER=${ATTN_MAINTAINER} -D OUTPUT=${pages}
            -P ${CMAKE_CURRENT_LIST_DIR}/write_pages.cmake
    DEPENDS attn-cli ${CMAKE_CURRENT_LIST_DIR}/write_pages.cmake
    COMMENT "Writing manual pages and completions"
    VERBATIM)
  add_custom_target(pages ALL DEPENDS ${pages}/bash)
  install(DIRECTORY ${pages}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
  install(FILES ${pages}/bash DESTINATION ${data}/bash-completion/completions RENAME attn-cli COMPONENT program)
  install(FILES ${pages}/fish DESTINATION ${data}/fish/vendor_completions.d RENAME attn-cli.fish COMPONENT program)
  install(FILES ${pages}/zsh DESTINATION ${data}/zsh/site-functions RENAME _attn-cli COMPONENT library)
  install(FILES ${pages}/zsh DESTINATION ${data}/zsh/vendor-completions RENAME _attn-cli COMPONENT debian EXCLUDE_FROM_ALL)
  install(DIRECTORY ${pages}/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT debian EXCLUDE_FROM_ALL
    FILES_MATCHING PATTERN man1 EXCLUDE PATTERN "changelog*.gz")
endif()
install(DIRECTORY ${ATTN_DATA}/recipes ${ATTN_DATA}/schemas DESTINATION ${data}/attn-cli COMPONENT program)
install(PROGRAMS ${ATTN_DATA}/examples/cases.sh ${ATTN_DATA}/examples/parallel.sh DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT program)
install(FILES ${ATTN_DATA}/examples/spark.py DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT program)
install(DIRECTORY ${ATTN_DATA}/examples/cpp ${ATTN_DATA}/examples/pytest DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
  COMPONENT program PATTERN __pycache__ EXCLUDE)
install(FILES ${ATTN_DATA}/debian/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(FILES ${ATTN_DATA}/debian/lintian-overrides DESTINATION ${data}/lintian/overrides RENAME attn-cli
  COMPONENT debian EXCLUDE_FROM_ALL)

# One package, of what is run: a header that changes between versions has no business under /usr/include, and who builds against
# the library has its sources, which `cmake --install` puts in place.
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL program debian)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGE_NAME attn-cli)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "attention of a sentence, computed number by number")
set(CPACK_PACKAGE_DESCRIPTION "From a sentence to tokens, queries, keys, values, scores, weights and context,
down to the digits that tutorials of scaled dot-product attention print: as
tables, JSON, tensors, pictures or a page to explore. Other commands apply
attention to tensors from files, explain a number term by term, and check
results against golden ones.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${ATTN_MAINTAINER})
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
if(NOT attn_static) # a static program depends on nothing
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
include(CPack)
