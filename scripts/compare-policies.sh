#!/usr/bin/env bash
# What retry policies do to a partner that fails, and how soon it is well again:
# the same load under each policy, really made, on loopback. Takes some forty
# seconds; the load is small unless told otherwise. Arguments are flags of caller
# storm, but for --policy and --format:
#
#   scripts/compare-policies.sh                                       5 x 40/s
#   scripts/compare-policies.sh --instances 20 --rate 100 --failure 3s
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=partner.sh
source "${BASH_SOURCE[0]%/*}/partner.sh"

if [[ ${1-} == -h || ${1-} == --help ]]; then
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
  exit 0
fi

need_commands

# measure POLICY FLAGS... makes one run and sets line to what came of it.
measure() {
  # What comes later on a command line wins, so the caller's flags do.
  run caller storm --instances 5 --rate 40 --healthy 1s --failure 1500ms --recovery 2500ms \
    "${@:2}" --policy "$1" --format json >"$scratch/run" || exit $?
  line=$(<"$scratch/run")
}

# number FIELD [THOUSANDTHS] sets value to a field of line, the first of its name:
# as it is, or in thousands with one digit behind the point.
number() {
  value='?'
  if [[ $line =~ \"$1\":([^,\}]*) ]]; then value=${BASH_REMATCH[1]}; fi
  if [[ -n ${2-} && $value == [0-9]* ]]; then
    printf -v value '%05d' "$((${value%.*} / 100))"
    value=$((10#${value%?})).${value: -1}
  fi
}

columns='%-9s %10s %10s %8s %8s %6s %6s %9s %6s\n'
# shellcheck disable=SC2059 # the formats are those above
{
  printf "$columns" policy arithmetic partner first retried calls calls orphaned well
  printf "$columns" '' 'req/s' 'gets req/s' sent sent good failed 'work s' after
}
printf '%.0s-' {1..80}
printf '\n'
for policy in none backoff jitter throttle breaker deadline; do
  measure "$policy" "$@"
  row=("$policy")
  for field in arithmetic_per_s peak_per_s first retried good failed; do
    number "$field"
    row+=("${value%.*}")
  done
  number orphaned_overlap_ms thousandths
  row+=("$value")
  number recovered_ms thousandths
  row+=("${value/null/never}")
  # shellcheck disable=SC2059
  printf "$columns" "${row[@]}"
done

printf '\n%s\n%s\n%s\n' \
  'well after: seconds from the end of the failure until 9 of 10 calls are good' \
  'again. Waiting longer moves retries, it does not remove them: what helps is to' \
  'make fewer, and not to work for those who have left.'
