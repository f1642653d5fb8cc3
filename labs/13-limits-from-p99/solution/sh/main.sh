#!/bin/sh
# A limit from the p99 of good answers, with the line that says why. One curl makes
# all the calls, each under a --max-time of its own and on a connection of its own.
cap=$(awk -v ms="$LAB_CAP_MS" 'BEGIN { print ms / 1000 }')

for _ in $(seq "$LAB_CALLS"); do
  printf 'url = "%s"\noutput = /dev/null\n' "$LAB_URL"
done | curl --silent --config - --header 'Connection: close' --max-time "$cap" \
  --write-out '%{exitcode} %{http_code} %{time_total}\n' |
  sort -n -k 3 | awk -v source="$LAB_URL on $(date +%Y-%m-%d)" '
  $1 != 0 || $2 >= 400 { failed++; next }
  { ms[++n] = $3 * 1000 }
  function up(x) { return int(x) + (x > int(x)) } # to the next whole number
  END {
    p99 = limit = "null"
    why = "too few answers for a p99"
    if (n >= 100) {
      p99 = ms[up(0.99 * n)]
      limit = up(3 * p99)
      why = sprintf("p99=%.1fms, factor=3", p99)
    }
    printf "{\"n\":%d,\"failed\":%d,\"p99_ms\":%s,\"limit_ms\":%s,\"reason\":\"%s: %s, n=%d\"}\n", n, failed, p99, limit, source, why, n
  }'
