# Writes what is installed beside the program and has to be made: manual pages and completions, by the program itself, and the
# changelogs of the Debian package. Manual pages and changelogs are compressed.
#   cmake -D PROGRAM=<attn-cli> -D CHANGELOG=<text> -D VERSION=… -D DATE=… -D MAINTAINER=… -D OUTPUT=<folder> -P write_pages.cmake
file(REMOVE_RECURSE ${OUTPUT})
file(MAKE_DIRECTORY ${OUTPUT}/man1)

foreach(shell bash zsh fish)
  execute_process(COMMAND ${PROGRAM} completions ${shell} OUTPUT_FILE ${OUTPUT}/${shell} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

execute_process(COMMAND ${PROGRAM} completions bash -- "" OUTPUT_VARIABLE commands COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" commands "${commands}")
execute_process(COMMAND ${PROGRAM} manual-page OUTPUT_FILE ${OUTPUT}/man1/attn-cli.1 COMMAND_ERROR_IS_FATAL ANY)
foreach(command IN LISTS commands)
  execute_process(COMMAND ${PROGRAM} manual-page ${command}
    OUTPUT_FILE ${OUTPUT}/man1/attn-cli-${command}.1 COMMAND_ERROR_IS_FATAL ANY)
endforeach()

set(changelogs ${OUTPUT}/changelog.Debian)
execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C date --utc --date=${DATE} --rfc-email
  OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${OUTPUT}/changelog.Debian
  "attn-cli (${VERSION}-1) unstable; urgency=medium\n\n  * Version ${VERSION}.\n\n -- ${MAINTAINER}  ${date}\n")
if(EXISTS "${CHANGELOG}")
  configure_file(${CHANGELOG} ${OUTPUT}/changelog COPYONLY)
  list(APPEND changelogs ${OUTPUT}/changelog)
endif()

file(GLOB pages ${OUTPUT}/man1/*)
execute_process(COMMAND gzip -9n ${pages} ${changelogs} COMMAND_ERROR_IS_FATAL ANY)
