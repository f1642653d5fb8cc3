// client.js KIND URL: one GET with the timeout settings of Node itself.
const [kind, url] = process.argv.slice(2);
const { READ, TOTAL } = process.env;
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';

async function main() {
  if (kind === 'http') {
    // The setting makes an event only: nothing is cut unless the program does it.
    const library = require(url.startsWith('https') ? 'https' : 'http');
    await new Promise((resolve, reject) => {
      const request = library.get(url, { timeout: READ * 1000 }, (answer) => {
        answer.resume();
        answer.on('end', () => (answer.complete ? resolve() : reject(new Error('cut'))));
        answer.on('error', reject);
      });
      request.on('error', reject);
    });
    return;
  }
  const options = kind === 'signal' ? { signal: AbortSignal.timeout(TOTAL * 1000) } : {};
  await (await fetch(url, options)).arrayBuffer();
}

const begun = performance.now();
const tell = () => console.log(`took ${((performance.now() - begun) / 1000).toFixed(3)}`);

main().then(
  () => {
    tell();
    process.exit(0);
  },
  (error) => {
    tell();
    console.error(String(error));
    process.exit(1);
  },
);
