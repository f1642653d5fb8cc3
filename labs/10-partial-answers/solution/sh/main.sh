#!/bin/sh
# Three calls for one page: at once, under one end, and what is missing is named.
# --max-time bounds all of a call, so each ends by itself; --fail makes a status of
# 400 and above a failure, and half a body is one anyway.
calls=$((LAB_BUDGET_MS - LAB_RESERVE_MS))
limit=$((calls / 1000)).$(printf %03d $((calls % 1000)))
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# fetch NAME URL writes how many bytes came. In the background, exec makes curl the
# process that $! names: killing a shell would leave its curl at work.
fetch() {
  exec curl --silent --fail --output /dev/null --write-out '{"bytes":%{size_download}}\n' --max-time "$limit" "$2" >"$dir/$1"
}

fetch order "$LAB_URL_ORDER" &
order=$!
fetch recommendations "$LAB_URL_RECOMMENDATIONS" &
recommendations=$!
fetch reviews "$LAB_URL_REVIEWS" &
reviews=$!

if ! wait "$order"; then
  kill "$recommendations" "$reviews" 2>/dev/null
  echo '{"error":"order"}'
  exit
fi
read -r page <"$dir/order"
page="\"order\":$page"
missing=
for call in "recommendations $recommendations" "reviews $reviews"; do
  name=${call% *}
  if wait "${call#* }"; then
    read -r part <"$dir/$name"
  else
    part=null
    missing="$missing${missing:+,}\"$name\""
  fi
  page="$page,\"$name\":$part"
done
echo "{$page,\"degraded\":[$missing]}"
