#!/bin/sh
# Root for a moment: the worker's user gets what it needs to start children as another user and to
# end them, and nobody can get anything else. The two users share a group, and the mask lets each
# read and remove what the other wrote.
set -eu
umask 007
exec setpriv --reuid=1001 --regid=1000 --clear-groups \
  --inh-caps=-all,+setuid,+setgid,+kill \
  --ambient-caps=-all,+setuid,+setgid,+kill \
  --bounding-set=-all,+setuid,+setgid,+kill \
  -- "$@"
