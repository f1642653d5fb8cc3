// One call, and one word for how it ended: by where it stood, not by the error's text.
const http = require("node:http");

const connect = Number(process.env.LAB_CONNECT_MS);
const read = Number(process.env.LAB_READ_MS);

function call(done) {
  const request = http.get(process.env.LAB_URL, { agent: false });
  const end = (word) => {
    clearTimeout(timer);
    request.destroy();
    done(word);
    done = () => {}; // destroy brings an error of its own
  };
  const timer = setTimeout(() => end("connect_timeout"), connect);
  request.on("socket", (socket) =>
    socket.on("connect", () => {
      // From here on another limit is in force; every byte starts it afresh.
      clearTimeout(timer);
      socket.setTimeout(read, () => end("read_timeout"));
    }),
  );
  request.on("response", (answer) => {
    answer.resume();
    answer.on("end", () => end("ok"));
  });
  request.on("error", (err) => end(err.code === "ECONNREFUSED" ? "refused" : "failed"));
}

call((word) => console.log(word));
