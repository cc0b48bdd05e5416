// Compares files with references by Dolos: a request a line on standard input, an answer a line on standard output.
// Request: {files: [path], references: [path], ignored: path | null, least, most, share}. Answer: {pairs, parts} or
// {error}. Parts are files that consist of a reference by that share of their fingerprints.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(process.argv[2] + "/"));
const lib = await import(pathToFileURL(require.resolve("@dodona/dolos-lib")).href);
const { Dolos } = lib;
const core = await import(
  pathToFileURL(createRequire(require.resolve("@dodona/dolos-lib")).resolve("@dodona/dolos-core")).href);

const BATCH = 50; // files of each side at once: bounds the memory
const FRAGMENTS = 5;

function file(path) {
  return new core.File(path, readFileSync(path, "utf8"));
}

// The same share with each fingerprint counted once: long lists repeat a few, and resemble each other for nothing.
function common(left, right) {
  let both = 0;
  for (const fingerprint of left) both += right.has(fingerprint);
  return both;
}

function region(selection) {
  return [selection.startRow + 1, selection.endRow + 1];
}

function* batches(list, size) {
  for (let start = 0; start < list.length; start += size) yield [start, list.slice(start, start + size)];
}

async function compare(request) {
  const pairs = [], parts = [];
  for (const [ownStart, ownBatch] of batches(request.files, BATCH)) {
    for (const [start, batch] of batches(request.references, BATCH)) {
      pairs.push(...await compareBatch(ownBatch.map(file), batch.map(file), ownStart, start, request, parts));
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
      await freed();
    }
  }
  return { pairs, parts };
}

// Syntax trees lie outside of the heap, so that Node does not see how many there are, and lets them grow.
async function freed() {
  await new Promise(setImmediate);
  gc();
}

async function compareBatch(files, references, ownStart, start, request, parts) {
  const dolos = new Dolos({ language: "python", kgramData: false });
  const ignored = request.ignored ? file(request.ignored) : undefined;
  const report = await dolos.analyze([...files, ...references], undefined, ignored);
  const own = report.files.slice(0, files.length);
  const theirs = report.files.slice(files.length);
  const pairs = [];
  own.forEach((left, i) => theirs.forEach((right, j) => {
    const pair = report.getPair(left, right);
    const sizes = [pair.leftEntry.shared.size, pair.rightEntry.shared.size];
    const both = common(pair.leftEntry.shared, pair.rightEntry.shared);
    if (both > 0 && both >= request.share * sizes[0]) parts.push([ownStart + i, start + j, both, ...sizes]);
    const enough = Math.min(...sizes) >= request.least;
    const similarity = Math.min(pair.similarity, both ? 2 * both / (sizes[0] + sizes[1]) : 0);
    if (!enough || similarity <= 0) return;
    pairs.push({ own: ownStart + i, reference: start + j, similarity, dolos: pair.similarity, longest: pair.longest,
      overlap: pair.overlap, own_total: pair.leftTotal, reference_total: pair.rightTotal, pair });
  }));
  return pairs;
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
