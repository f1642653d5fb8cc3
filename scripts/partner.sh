# shellcheck shell=bash
# Sourced by the bash scripts that need the two commands and a running partner.
#
#   need_commands         finds partner and caller, or builds them
#   start_partner ARGS    starts one and waits until all its ports are in their state
#   find_url MODE         sets url to its URL for a mode, or for admin
#   misused TEXT          ends the script, which was called wrongly
#   run COMMAND ARGS      runs a command so that SIGINT ends the script at once
#
# Whatever happens, SIGINT included, the partner is stopped and nothing is left
# behind. No locale and no proxy of the environment has a say.
#
# Nothing slow runs in the foreground or in $(...): bash forgets a SIGINT that
# comes while it waits for a command that then ends by itself. It does not while
# it waits in "wait" or "read".

export LC_ALL=C
unset http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY

enable -n caller # bash has a builtin of that name

scratch=''
partner_pid=''
child_pid=''
ready=''

# clean_up CODE may start anew in its own middle: a signal can come before the
# first line of it is done.
clean_up() {
  trap '' INT TERM
  trap - EXIT
  local pid
  for pid in $child_pid $partner_pid; do
    kill "$pid" 2>/dev/null || continue
    wait "$pid" 2>/dev/null || true
  done
  if [[ -n $scratch ]]; then rm -rf "$scratch"; fi
  exit "$1"
}
trap 'clean_up $?' EXIT
trap 'clean_up 130' INT
trap 'clean_up 143' TERM

# The name is known to clean_up before the folder is there.
scratch=${TMPDIR:-/tmp}/chaoslab.$$.$RANDOM$RANDOM
mkdir -m 700 "$scratch" || { scratch='' && die 'no folder could be made for scratch files'; }

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

misused() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 2
}

run() {
  local code=0
  "$@" &
  child_pid=$!
  wait "$child_pid" || code=$?
  child_pid=''
  return "$code"
}

need_commands() {
  if command -v partner >/dev/null && command -v caller >/dev/null; then return; fi
  command -v go >/dev/null || die 'neither partner and caller nor go are installed: see https://go.dev/dl/'
  printf 'building partner and caller (go install ./cmd/... spares this)\n' >&2
  # No script needs the retry queue, and its databases are a third of a first build.
  run go build -C "${BASH_SOURCE[0]%/*}/.." -tags noqueue -o "$scratch/bin/" ./cmd/partner ./cmd/caller ||
    die 'they could not be built'
  PATH=$scratch/bin:$PATH
}

start_partner() {
  local line
  mkfifo "$scratch/ready"
  partner "$@" >"$scratch/ready" &
  partner_pid=$!
  exec 3<"$scratch/ready"
  while IFS= read -r -t 10 line <&3; do
    ready+=$line$'\n'
    if [[ $line == 'ready admin '* ]]; then return; fi
  done
  die 'the partner did not become ready'
}

find_url() {
  local line
  while IFS= read -r line; do
    if [[ $line == "ready mode=$1 "* || $line == "ready $1 "* ]]; then
      # shellcheck disable=SC2034 # for whoever sourced this file
      url=${line##* url=}
      return
    fi
  done <<<"$ready"
  die "the partner has no $1"
}
