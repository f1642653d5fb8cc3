<?php
// client.php URL: one GET with the timeout of PHP's own streams.
$context = stream_context_create([
    'http' => ['timeout' => (float) getenv('READ')],
    'ssl' => ['verify_peer' => false, 'verify_peer_name' => false],
]);
exit(file_get_contents($argv[1], false, $context) === false ? 1 : 0);
