#!/bin/sh
# One call, and one word for how it ended. See TASK.md.
# curl's exit codes: man curl, "EXIT CODES". What it measured: --write-out.
if curl --silent --output /dev/null --max-time 2 "$LAB_URL"; then
  echo ok
else
  echo failed # is that all there is to say?
fi
