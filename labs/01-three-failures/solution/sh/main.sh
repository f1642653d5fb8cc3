#!/bin/sh
# One call, and one word for how it ended. curl ends every timeout with 28: only
# time_connect, 0 as long as there is no connection, tells them apart. --max-time
# bounds the whole call; connecting takes nothing on this machine.
ms() { awk -v ms="$1" 'BEGIN { print ms / 1000 }'; }

code=0
connected=$(curl --silent --output /dev/null --write-out '%{time_connect}' \
  --connect-timeout "$(ms "$LAB_CONNECT_MS")" --max-time "$(ms "$LAB_READ_MS")" "$LAB_URL") || code=$?
case $code in
  0) echo ok ;;
  7) echo refused ;;
  28)
    case $connected in
      0 | 0.000000) echo connect_timeout ;;
      *) echo read_timeout ;;
    esac
    ;;
  *) echo "curl $code" ;;
esac
