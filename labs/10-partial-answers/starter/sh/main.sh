#!/bin/sh
# Three calls for one page. See TASK.md.
# One after the other, all or nothing.
set -e
order=$(curl --silent --fail --max-time 2 "$LAB_URL_ORDER" | wc -c)
recommendations=$(curl --silent --fail --max-time 2 "$LAB_URL_RECOMMENDATIONS" | wc -c)
reviews=$(curl --silent --fail --max-time 2 "$LAB_URL_REVIEWS" | wc -c)
echo "{\"order\":{\"bytes\":$order},\"recommendations\":{\"bytes\":$recommendations},\"reviews\":{\"bytes\":$reviews},\"degraded\":[]}"
