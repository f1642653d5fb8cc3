#!/usr/bin/env bash
# The three ways a connection fails, measured with curl and with caller, side by
# side. Takes about two seconds.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=partner.sh
source "${BASH_SOURCE[0]%/*}/partner.sh"

usage='usage: scripts/three-failures.sh   (no arguments; takes about two seconds)'
case ${1-} in
  '') ;;
  -h | --help) echo "$usage" && exit 0 ;;
  *) misused "unknown argument \"$1\"; $usage" ;;
esac
command -v curl >/dev/null || die 'curl is not installed: apt-get install curl'
need_commands
start_partner --mode all --listen 127.0.0.1:0 --admin 127.0.0.1:0

# with_curl URL OPTIONS... prints curl's exit code and the time it took.
with_curl() {
  local url=$1 code=0 seconds
  shift
  seconds=$(curl --silent --noproxy '*' --output /dev/null --write-out '%{time_total}' "$@" "$url") || code=$?
  awk -v code="$code" -v s="$seconds" 'BEGIN { printf "%d %.1f\n", code, s * 1000 }'
}

# with_caller URL FLAGS... prints class, phase, limit, effect and the time it took.
with_caller() {
  local class phase limit effect elapsed
  IFS=, read -r _ _ class phase limit effect _ elapsed _ \
    < <(caller measure "$@" --format csv 2>/dev/null | tail -n 1)
  printf '%s %s %s %s %s\n' "$class" "$phase" "$limit" "$effect" "$elapsed"
}

# row MODE CURL_OPTION SECONDS CALLER_FLAG prints one line of the table.
row() {
  local mode=$1 code took class phase limit effect elapsed
  find_url "$mode"
  read -r code took < <(with_curl "$url" "$2" "$3")
  read -r class phase limit effect elapsed < <(with_caller "$url" "$4" "$3s")
  printf '%-15s %4d %6.1f  %-15s %-10s %-7s %-7s %7.1f\n' \
    "$mode" "$code" "$took" "$class" "$phase" "$limit" "$effect" "$elapsed"
}

printf '%-15s %4s %6s  %s\n' '' curl '' caller
printf '%-15s %4s %6s  %-15s %-10s %-7s %-7s %7s\n' partner exit ms class phase limit effect ms
printf '%.0s-' {1..80}
printf '\n'
row refused --connect-timeout 0.3 --connect-timeout
row connect-timeout --connect-timeout 0.3 --connect-timeout
row read-timeout --max-time 0.5 --read-timeout
printf '\n%s\n%s\n' \
  'curl ends both timeouts with 28, but they mean opposite things: after the one' \
  'nothing can have happened, after the other it may have.'
