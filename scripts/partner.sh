# shellcheck shell=bash
# Sourced by the bash scripts that need the two commands and a running partner.
#
#   need_commands         finds partner and caller, or builds them
#   start_partner ARGS    starts one and waits until all its ports are in their state
#   url_of MODE           its URL for a mode, or for admin
#
# Whatever happens, SIGINT included, the partner is stopped and nothing is left
# behind. No locale and no proxy of the environment has a say.

export LC_ALL=C
unset http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY

enable -n caller # bash has a builtin of that name

scratch=$(mktemp -d "${TMPDIR:-/tmp}/chaoslab.XXXXXX")
started=()
ready=

clean_up() {
  local code=$? pid
  trap - EXIT
  trap '' INT TERM # a second one must not stop the cleaning
  exec 3<&-
  for pid in ${started[@]+"${started[@]}"}; do
    kill "$pid" 2>/dev/null || continue
    wait "$pid" 2>/dev/null || true
  done
  rm -rf "$scratch"
  exit "$code"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

need_commands() {
  local root
  if command -v partner >/dev/null && command -v caller >/dev/null; then return; fi
  command -v go >/dev/null || die 'neither partner and caller nor go are installed: see https://go.dev/dl/'
  root=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
  printf 'building partner and caller (go install ./cmd/... spares this)\n' >&2
  # In the background, since a shell that waits for it can be interrupted.
  go build -C "$root" -o "$scratch/bin/" ./cmd/partner ./cmd/caller &
  started+=($!)
  wait $! || die 'they could not be built'
  PATH=$scratch/bin:$PATH
}

start_partner() {
  local line
  mkfifo "$scratch/ready"
  partner "$@" >"$scratch/ready" &
  started+=($!)
  exec 3<"$scratch/ready"
  while IFS= read -r -t 10 line <&3; do
    ready+=$line$'\n'
    if [[ $line == 'ready admin '* ]]; then return; fi
  done
  die 'the partner did not become ready'
}

url_of() {
  local line
  while IFS= read -r line; do
    if [[ $line == "ready mode=$1 "* || $line == "ready $1 "* ]]; then
      printf '%s\n' "${line##* url=}"
      return
    fi
  done <<<"$ready"
  die "the partner has no $1"
}
