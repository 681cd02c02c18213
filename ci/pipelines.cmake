# The tests of the shell entry points and of the workflows. They need no build, so one preset without
# sanitizers is enough.
if(FUSEGATE_SANITIZERS)
  return()
endif()
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
foreach(name setup_test jobs_test comment_test workflows_test)
  add_test(NAME ci/${name} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/${name}.py)
  set_tests_properties(ci/${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300)
endforeach()
