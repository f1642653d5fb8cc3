// One call, and one word for how it ended. See TASK.md.
const http = require("node:http");

function call(done) {
  // One limit, two seconds, for everything: too long, and when it ends the call
  // nobody knows what it was waiting for.
  const request = http.get(process.env.LAB_URL, { timeout: 2000 }, (answer) => {
    answer.resume();
    answer.on("end", () => done("ok"));
  });
  // Node only tells of a timeout. Whoever wants the call to end must end it.
  request.on("timeout", () => request.destroy(new Error("timeout")));
  request.on("error", () => done("failed")); // is that all there is to say?
}

call((word) => console.log(word));
