// Three calls under one budget: everything follows from the one moment at which it ends.
const http = require("node:http");

const ms = (name) => Number(process.env[name]);
const wait = ms("LAB_WAIT_MS");
const end = performance.now() + ms("LAB_BUDGET_MS");
const left = () => end - performance.now();

// attempt resolves with the status of a whole answer, or rejects.
function attempt(url) {
  return new Promise((resolve, reject) => {
    const headers = {
      "X-Request-Timeout-Ms": Math.floor(left()),
      "X-Request-Deadline": Math.floor(Date.now() + left()),
    };
    const request = http.get(url, { agent: false, headers });
    const timer = setTimeout(() => request.destroy(new Error("budget")), left());
    request.on("response", (answer) => {
      answer.resume();
      answer.on("error", reject);
      answer.on("end", () => resolve(answer.statusCode));
    });
    request.on("error", reject);
    request.on("close", () => clearTimeout(timer));
  });
}

async function call(name, floor) {
  for (let tries = 1; ; tries++) {
    if (left() < floor) return "below_floor";
    let status;
    try {
      status = await attempt(process.env["LAB_URL_" + name]);
    } catch (err) {
      return err.message === "budget" ? "budget_exhausted" : "failed";
    }
    if (status < 400) return "ok";
    if (status !== 503 || tries === 2) return "failed";
    if (left() - wait < floor) return "below_floor";
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

async function main() {
  const floor = ms("LAB_FLOOR_MS");
  const a = await call("A", floor);
  const b = await call("B", floor);
  const c = await call("C", ms("LAB_FLOOR_C_MS"));
  console.log(JSON.stringify({ a, b, c }));
}

main();
