#!/bin/sh
# Root for a moment: the worker's user gets what it needs to start children as other users and to
# end them, and nobody can get anything else. No user shares a group with another.
set -eu
umask 077
exec setpriv --reuid=1001 --regid=1000 --clear-groups \
  --inh-caps=-all,+setuid,+setgid,+kill \
  --ambient-caps=-all,+setuid,+setgid,+kill \
  --bounding-set=-all,+setuid,+setgid,+kill \
  -- "$@"
