#!/usr/bin/env node
// Runs the program in the package of this platform, which npm has installed beside this one.
"use strict";

const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const name = process.platform === "win32" ? "stopgate.exe" : "stopgate";

let program;
try {
  program = require.resolve(`stopgate-${platform}/bin/${name}`);
} catch {
  console.error(`stopgate: the package stopgate-${platform} is not installed`);
  console.error("install again without --omit=optional; other platforms: https://github.com/stopgate/stopgate");
  process.exit(3);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });

// The terminal sends these to both processes: the program decides. The others are passed on.
for (const signal of ["SIGINT", "SIGQUIT"]) process.on(signal, () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));

child.on("error", (error) => {
  console.error(`stopgate: cannot run ${program}: ${error.message}`);
  process.exit(3);
});
child.on("exit", (code, signal) => {
  if (!signal) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
