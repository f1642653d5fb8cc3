#!/bin/sh
# One payment, and what became of it: by where it stood when it ended. time_connect
# is 0 as long as there is no connection, and then nothing was sent. --max-time
# bounds the whole call; connecting takes nothing on this machine.
seconds() { awk -v ms="$1" 'BEGIN { print ms / 1000 }'; }

send() {
  code=0
  seen=$(curl --silent --output /dev/null --request POST --write-out '%{time_connect} %{http_code}' \
    --connect-timeout "$(seconds "$LAB_CONNECT_MS")" --max-time "$(seconds "$LAB_READ_MS")" "$@" "$LAB_URL") || code=$?
  case $code:$seen in
    0:*' 502' | 0:*' 504') echo unknown ;; # the gateway does not know either
    0:*' '[123]*) echo 'done' ;;
    0:*) echo failed ;;                      # the partner's own no
    *:0' '* | *:0.000000' '*) echo failed ;; # nothing was sent
    *) echo unknown ;;                       # sent, and no whole answer
  esac
}

if [ "$LAB_KEY" = yes ]; then
  # One key for the payment, whatever becomes of its attempts.
  key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  for _ in $(seq "$LAB_TRIES"); do
    word=$(send --header "Idempotency-Key: $key")
    if [ "$word" != unknown ]; then break; fi
  done
else
  word=$(send)
fi
echo "{\"word\":\"$word\"}"
