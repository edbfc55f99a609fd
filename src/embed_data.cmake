# Writes a C++ source that holds the files of data/ byte by byte:
#   cmake -D DATA=<data folder> -D OUTPUT=<source> -P embed_data.cmake

# The bytes of `text` as a C++ array named `name`.
function(bytes_of text name result)
  string(HEX "${text}" hex)
  bytes_of_hex("${hex}" ${name} array)
  set(${result} "${array}" PARENT_SCOPE)
endfunction()

# The same of bytes in hexadecimal digits, aligned so that numbers among them are.
function(bytes_of_hex hex name result)
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  string(REPEAT "." 64 line)
  string(REGEX REPLACE "(${line})" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  set(${result} "alignas(16) constexpr std::array<char, ${size}> ${name}{${bytes}};\n" PARENT_SCOPE)
endfunction()

# The arrays of all files of a folder, and the table that names them.
function(table_of folder arrays_out rows_out)
  file(GLOB files "${DATA}/${folder}/*.json")
  list(TRANSFORM files REPLACE "^.*/(.*)\\.json$" "\\1" OUTPUT_VARIABLE stems)
  list(SORT stems)
  set(all "")
  set(rows "")
  foreach(stem IN LISTS stems)
    string(MAKE_C_IDENTIFIER "${folder}_${stem}" name)
    file(READ "${DATA}/${folder}/${stem}.json" text)
    bytes_of("${text}" ${name} array)
    string(APPEND all "${array}")
    string(APPEND rows "    {\"${stem}\", {${name}.data(), ${name}.size()}},\n")
  endforeach()
  set(${arrays_out} "${all}" PARENT_SCOPE)
  list(LENGTH stems count)
  set(${rows_out} "constexpr std::array<BuiltinFile, ${count}> ${folder}{{\n${rows}}};\n" PARENT_SCOPE)
endfunction()

# The page of --format html; its scripts in this order, since each uses what stands before it.
set(page_scripts text result roles scale elementary arithmetic what_if heat_map lines reading steps projections workbench model_view page)
file(READ "${DATA}/page/page.html" frame)
file(READ "${DATA}/page/page.css" style)
file(READ "${DATA}/page/model_view.css" more_style)
string(APPEND style "${more_style}")
set(script "")
foreach(stem IN LISTS page_scripts)
  file(READ "${DATA}/page/${stem}.js" text)
  string(APPEND script "${text}\n")
endforeach()
set(page_arrays "")
foreach(part frame style script)
  bytes_of("${${part}}" page_${part} array)
  string(APPEND page_arrays "${array}")
endforeach()

# The pages of the manual, in the order in which `attn-cli help` lists them.
set(manual_pages tutorial output recipes pictures models tensors gradients checking mistakes python scale performance library contributing changelog)
set(manual_arrays "")
set(manual_rows "")
foreach(stem IN LISTS manual_pages)
  file(READ "${DATA}/manual/${stem}.md" text)
  bytes_of("${text}" manual_${stem} array)
  string(APPEND manual_arrays "${array}")
  string(APPEND manual_rows "    {\"${stem}\", {manual_${stem}.data(), manual_${stem}.size()}},\n")
endforeach()
list(LENGTH manual_pages count)
set(manual "constexpr std::array<BuiltinFile, ${count}> manual{{\n${manual_rows}}};\n")

# The models inside, each a folder.
file(GLOB folders "${DATA}/models/*")
list(SORT folders)
set(model_arrays "")
set(model_rows "")
foreach(folder IN LISTS folders)
  cmake_path(GET folder FILENAME stem)
  set(parts "")
  foreach(file config.json model.safetensors draws.json)
    if(NOT EXISTS "${folder}/${file}")
      string(APPEND parts ", {}")
      continue()
    endif()
    string(MAKE_C_IDENTIFIER "model_${stem}_${file}" name)
    file(READ "${folder}/${file}" hex HEX)
    bytes_of_hex("${hex}" ${name} array)
    string(APPEND model_arrays "${array}")
    string(APPEND parts ", {${name}.data(), ${name}.size()}")
  endforeach()
  string(APPEND model_rows "    {\"${stem}\"${parts}},\n")
endforeach()
list(LENGTH folders count)
set(models "constexpr std::array<BuiltinModel, ${count}> models{{\n${model_rows}}};\n")

table_of(recipes recipe_arrays recipes)
table_of(schemas schema_arrays schemas)
file(WRITE "${OUTPUT}" "// Made from data/ by src/embed_data.cmake.
#include \"attn/io/builtin.hpp\"

#include <array>

namespace attn::io {
namespace {

${recipe_arrays}
${schema_arrays}
${page_arrays}
${manual_arrays}
${model_arrays}
${recipes}
${schemas}
${manual}
${models}
} // namespace

std::span<const BuiltinFile> builtin_recipes()
{
    return recipes;
}

std::span<const BuiltinFile> builtin_schemas()
{
    return schemas;
}

std::span<const BuiltinFile> builtin_manual()
{
    return manual;
}

std::span<const BuiltinModel> builtin_models()
{
    return models;
}

BuiltinPage builtin_page()
{
    return {{page_frame.data(), page_frame.size()}, {page_style.data(), page_style.size()}, {page_script.data(), page_script.size()}};
}

} // namespace attn::io
")
