#!/bin/sh
# One payment, and what became of it. See TASK.md.
# curl's exit codes: man curl, "EXIT CODES". What it measured: --write-out.
if curl --silent --output /dev/null --request POST --max-time "$(awk "BEGIN { print $LAB_READ_MS / 1000 }")" "$LAB_URL"; then
  echo '{"word":"done"}' # is it?
else
  echo '{"word":"failed"}' # has it?
fi
