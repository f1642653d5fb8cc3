// One call under a limit on silence and a budget for all of it.
const http = require("node:http");

const read = Number(process.env.LAB_READ_MS);
const budget = Number(process.env.LAB_BUDGET_MS);

function call(done) {
  let bytes = 0;
  // The budget begins here, and nothing starts it afresh.
  const timer = setTimeout(() => end("budget_exhausted"), budget);
  const request = http.get(process.env.LAB_URL, { agent: false });
  const end = (word) => {
    clearTimeout(timer);
    request.destroy();
    done({ class: word, bytes });
    done = () => {}; // destroy brings an error of its own
  };
  // The socket's timeout is on silence: every byte starts it afresh, in the head too.
  request.on("socket", (socket) => socket.setTimeout(read, () => end("read_timeout")));
  request.on("response", (answer) => {
    answer.on("data", (part) => (bytes += part.length));
    answer.on("end", () => end("ok"));
    answer.on("error", () => end("truncated"));
  });
  request.on("error", () => end("failed"));
}

call((outcome) => console.log(JSON.stringify(outcome)));
