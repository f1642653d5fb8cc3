// One call under two limits. See TASK.md.
async function call() {
  const read = Number(process.env.LAB_READ_MS);
  try {
    // What does this timeout bound? And where is the budget?
    const answer = await fetch(process.env.LAB_URL, { signal: AbortSignal.timeout(read) });
    const body = await answer.arrayBuffer();
    return { class: "ok", bytes: body.byteLength };
  } catch {
    return { class: "read_timeout", bytes: 0 };
  }
}

call().then((outcome) => console.log(JSON.stringify(outcome)));
