#!/bin/sh
# Plays npm in the tests: notes the call, then does what the folder's plan says.
echo "$@" >>calls
. ./plan.sh
