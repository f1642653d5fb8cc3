<?php
// client.php URL: one GET with the timeout of PHP's own streams.
$context = stream_context_create([
    'http' => ['timeout' => (float) getenv('READ')],
    'ssl' => ['verify_peer' => false, 'verify_peer_name' => false],
]);
$begun = microtime(true);
$body = file_get_contents($argv[1], false, $context);
printf("took %.3f\n", microtime(true) - $begun);
exit($body === false ? 1 : 0);
