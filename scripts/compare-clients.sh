#!/usr/bin/env bash
# What do the timeout settings of HTTP clients really bound? Each client that is
# here, with its own settings, against the same faults: a table on stdout, and with
# -o FOLDER also clients.csv and clients.svg. Takes about three minutes.
#
# usage: scripts/compare-clients.sh [-o FOLDER] [CLIENT...]
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=partner.sh
source "${BASH_SOURCE[0]%/*}/partner.sh"

folder=''
while getopts 'o:h' flag; do
  case $flag in
    o) folder=$OPTARG ;;
    *) die 'usage: scripts/compare-clients.sh [-o FOLDER] [CLIENT...]' ;;
  esac
done
shift $((OPTIND - 1))
[[ -z $folder || -d $folder ]] || die "$folder is no folder"
need_commands
clients="$(cd -- "${BASH_SOURCE[0]%/*}" && pwd)/clients"

# The limits that every client is given, and what is the longest it may take: who
# is still there then was never cut.
export READ=1 CONNECT=2 TOTAL=3 MOST=8
BEGIN=3 # the longest that a client may take to begin

start_partner --config "$clients/partner.yaml" --admin 127.0.0.1:0

# here CLIENT says whether what it needs is installed.
here() {
  case $1 in
    curl-*) command -v curl ;;
    wget) command -v wget ;;
    python-urllib) command -v python3 ;;
    python-*) command -v python3 && python3 -c "import ${1#python-}" ;;
    node-*) command -v node ;;
    java-*) command -v java && command -v javac ;;
    go-*) command -v go ;;
    perl) command -v perl && perl -MHTTP::Tiny -e 1 ;;
    ruby) command -v ruby ;;
    php) command -v php ;;
    *) false ;;
  esac >/dev/null 2>&1
}

# command_of CLIENT URL sets argv to the client's command line. It ends with 0 if
# it takes what came for a success.
command_of() {
  case $1 in
    curl-connect) argv=(curl -sSf -L -o /dev/null --connect-timeout "$CONNECT" "$2") ;;
    curl-total) argv=(curl -sSf -L -o /dev/null -m "$TOTAL" "$2") ;;
    curl-rate) argv=(curl -sSf -L -o /dev/null --connect-timeout "$CONNECT" -y2 -Y10 "$2") ;;
    wget) argv=(wget -q -O /dev/null -T "$READ" -t1 "$2") ;;
    python-*) argv=(python3 "$clients/client.py" "${1#python-}" "$2") ;;
    node-*) argv=(node "$clients/client.js" "${1#node-}" "$2") ;;
    java-*) argv=(java -cp "$scratch" Client "${1#java-}" "$2") ;;
    go-*) argv=("$scratch/goclient" "${1#go-}" "$2") ;;
    perl) argv=(perl "$clients/client.pl" "$2") ;;
    ruby) argv=(ruby "$clients/client.rb" "$2") ;;
    php) argv=(php "$clients/client.php" "$2") ;;
  esac
}

# measure CLIENT URL prints how it ended: seconds, and ok if what came was taken for
# a success. A client that takes long to begin says itself how long its call took.
measure() {
  local code=0 from to argv own
  command_of "$1" "$2"
  from=$EPOCHREALTIME
  own=$(timeout -k 1 $((MOST + BEGIN)) "${argv[@]}" </dev/null 2>/dev/null) || code=$?
  to=$EPOCHREALTIME
  awk -v from="$from" -v to="$to" -v code="$code" -v most="$MOST" -v own="$own" 'BEGIN {
    took = own ~ /^took / ? substr(own, 6) : to - from
    if (code == 124 || code == 137 || took >= most) { printf ">%d\n", most; exit }
    printf "%.1f%s\n", took, code == 0 ? " ok" : ""
  }'
}

# judge WANT TOOK ends with 0 if what was measured is like what is expected.
judge() {
  awk -v want="$1" -v took="$2" 'BEGIN {
    ok = took ~ / ok$/; late = took ~ /^>/
    if (want == ">") exit !late
    if (want == "ok") exit !ok
    if (want == "error") exit !(!ok && !late)
    exit !(!ok && !late && took >= want - 0.1 && took <= want + 0.9)
  }'
}

# expected CLIENT COLUMN prints what expected.csv says, from 2.
expected() { awk -F, -v client="$1" -v column="$2" '$1 == client { print $column }' "$clients/expected.csv"; }

faults=(drip hang gap bh tls cut loop)
urls=()
for mode in drip read-timeout stall connect-timeout tls-timeout truncate status; do
  find_url "$mode"
  urls+=("$url")
done
names=(curl-connect curl-total curl-rate wget python-urllib python-requests python-httpx python-aiohttp
  node-fetch node-signal node-http java-client java-url go-total go-phases perl ruby php)
(($# == 0)) || names=("$@")
if [[ " ${names[*]} " == *' go-'* ]] && here go-total; then
  run go build -o "$scratch/goclient" "$clients/goclient.go" || die 'the Go client could not be built'
fi

if [[ " ${names[*]} " == *' java-'* ]] && here java-url; then
  run javac -d "$scratch" "$clients/Client.java" || die 'the Java client could not be built'
fi

# draw prints clients.svg from the rows: one bar for each client and fault.
draw() {
  awk -F, -v most="$MOST" -v rows="$(wc -l <"$1")" '
    BEGIN { print "<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" font-size=\"12\" viewBox=\"0 0 1000 " 40 + 24 * rows "\">" }
    NR == 1 { for (i = 2; i <= NF; i++) printf "<text x=\"%d\" y=\"20\">%s</text>\n", 140 + (i - 2) * 140, $i; next }
    {
      y = 12 + NR * 24
      printf "<text x=\"8\" y=\"%d\">%s</text>\n", y, $1
      for (i = 2; i <= NF; i++) {
        t = $i; sub(/ ok/, "", t); never = sub(/>/, "", t)
        color = never ? "#c0392b" : $i ~ /ok/ ? "#2f7d5b" : "#d08700"
        x = 140 + (i - 2) * 140
        printf "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"14\" fill=\"%s\"/><text x=\"%d\" y=\"%d\">%s</text>\n", x, y - 11, t / most * 80 + 1, color, x + 86, y, $i
      }
    }
    END { print "</svg>" }' "$1" | sed 's/>\([0-9][0-9]*\)<\/text>/>\1<\/text>/; s/>>/>\&gt;/g'
}

(
  IFS=,
  printf 'client,%s\n' "${faults[*]}"
) >"$scratch/rows"
printf 'limits: read %s s, connect %s s, total %s s; >%s: never cut; ok: taken for a success\n' "$READ" "$CONNECT" "$TOTAL" "$MOST"
printf 'loop: a redirect to itself, 0.3 s each: the seconds show how many are followed\n'
printf '*: not as expected (scripts/clients/expected.csv)\n\n%-16s' client
printf '%9s' "${faults[@]}"
printf '\n'
for name in "${names[@]}"; do
  if ! here "$name"; then
    printf '%-16s not here\n' "$name"
    continue
  fi
  # All faults of one client at once: it mostly waits.
  pids=()
  for i in "${!faults[@]}"; do
    (
      trap - EXIT INT TERM
      measure "$name" "${urls[i]}" >"$scratch/took.$i"
    ) &
    pids+=($!)
  done
  child_pid=${pids[*]}
  wait "${pids[@]}"
  child_pid=''
  printf '%-16s' "$name"
  row=$name
  for i in "${!faults[@]}"; do
    took=$(<"$scratch/took.$i")
    row+=,$took
    judge "$(expected "$name" $((i + 2)))" "$took" || took+='*'
    printf '%9s' "$took"
  done
  printf '\n'
  printf '%s\n' "$row" >>"$scratch/rows"
done
if [[ -n $folder ]]; then
  cp "$scratch/rows" "$folder/clients.csv"
  draw "$scratch/rows" >"$folder/clients.svg"
  printf '\n%s/clients.csv and clients.svg are written\n' "$folder" >&2
fi
