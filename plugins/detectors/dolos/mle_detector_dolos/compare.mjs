// Compares files with references by Dolos: a request a line on standard input, an answer a line on standard output.
// Request: {files: [path], references: [path], ignored: path | null, least, most}. Answer: {pairs} or {error}.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(process.argv[2] + "/"));
const lib = await import(pathToFileURL(require.resolve("@dodona/dolos-lib")).href);
const { Dolos } = lib;
const core = await import(
  pathToFileURL(createRequire(require.resolve("@dodona/dolos-lib")).resolve("@dodona/dolos-core")).href);

const BATCH = 50; // references at once: bounds the memory
const FRAGMENTS = 5;

function file(path) {
  return new core.File(path, readFileSync(path, "utf8"));
}

// The same share with each fingerprint counted once: long lists repeat a few, and resemble each other for nothing.
function distinct(left, right) {
  let both = 0;
  for (const fingerprint of left) both += right.has(fingerprint);
  return left.size + right.size ? 2 * both / (left.size + right.size) : 0;
}

function region(selection) {
  return [selection.startRow + 1, selection.endRow + 1];
}

async function compare(request) {
  const pairs = [];
  for (let start = 0; start < request.references.length; start += BATCH) {
    const batch = request.references.slice(start, start + BATCH);
    const dolos = new Dolos({ language: "python", kgramData: false });
    const files = [...request.files, ...batch].map(file);
    const report = await dolos.analyze(files, undefined, request.ignored ? file(request.ignored) : undefined);
    const own = report.files.slice(0, request.files.length);
    const theirs = report.files.slice(request.files.length);
    own.forEach((left, i) => theirs.forEach((right, j) => {
      const pair = report.getPair(left, right);
      const enough = Math.min(pair.leftEntry.shared.size, pair.rightEntry.shared.size) >= request.least;
      const similarity = Math.min(pair.similarity, distinct(pair.leftEntry.shared, pair.rightEntry.shared));
      if (!enough || similarity <= 0) return;
      pairs.push({ own: i, reference: start + j, similarity, dolos: pair.similarity, longest: pair.longest,
        overlap: pair.overlap, own_total: pair.leftTotal, reference_total: pair.rightTotal, pair });
    }));
    pairs.sort((a, b) => b.similarity - a.similarity);
    pairs.splice(request.most);
    for (const each of pairs) { // what is kept of a batch must not hold its index
      if (each.pair) {
        const fragments = each.pair.buildFragments();
        fragments.sort((a, b) => b.pairs.length - a.pairs.length);
        each.fragments = fragments.slice(0, FRAGMENTS).map(f => [region(f.leftSelection), region(f.rightSelection)]);
        delete each.pair;
      }
    }
  }
  return { pairs };
}

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    answer = await compare(JSON.parse(line));
  } catch (error) {
    answer = { error: String(error && error.message || error).slice(0, 500) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
