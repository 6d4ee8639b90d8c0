// Holds the fast readers, of YAML and of JSON, against the exact ones on damaged documents for a while, and on every real catalog at hand.
// usage: npm run fuzz:reader -- [--seconds N | --rounds N] [--seed S] [DIR...]; exit 1 with seed and document at a difference.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compareJsonReaders, compareReaders } from '../test/go/fast/compare-readers.ts'
import { Random, mutatedDocuments, mutatedObjects, rendered } from '../test/go/fast/mutated-documents.ts'

const { values, positionals } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    rounds: { type: 'string' },
    seed: { type: 'string' },
  },
  allowPositionals: true,
})
const seed = Number(values.seed ?? Date.now() % 2 ** 32)
const until = performance.now() + Number(values.seconds) * 1000
console.log(`seed ${seed}`)

const sources: string[] = [...rendered]
let documents = 0
let fast = 0
for (const directory of positionals) {
  for (const path of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(ya?ml|json)$/.test(path)) continue
    const bytes = readFileSync(join(directory, path))
    const comparison = path.endsWith('.json') ? compareJsonReaders(bytes) : compareReaders(bytes)
    if (comparison.difference !== undefined) fail(path, comparison.difference)
    documents += comparison.documents
    fast += comparison.fast
    if (path.endsWith('.json')) continue
    // Real documents to damage, small enough that a round stays short.
    const [first] = bytes
      .toString('utf8')
      .split(/^---$/m)
      .filter((text) => text.length > 200 && text.length < 20_000)
    if (first !== undefined && sources.length < 200) sources.push(`---${first}`)
  }
  console.log(`${directory}: equal; ${fast} of ${documents} documents were read fast`)
}

const random = new Random(seed)
let rounds = 0
fast = 0
const isOver = () =>
  values.rounds === undefined ? performance.now() >= until : rounds >= Number(values.rounds)
for (; !isOver(); rounds++) {
  const isJson = rounds % 3 === 2
  const bytes = isJson ? mutatedObjects(random) : mutatedDocuments(random, sources)
  const comparison = (isJson ? compareJsonReaders : compareReaders)(bytes)
  if (comparison.difference !== undefined) {
    fail(`seed ${seed}, round ${rounds}`, `${comparison.difference}\n${Buffer.from(bytes).toString('utf8')}`)
  }
  fast += comparison.fast
}
console.log(`${rounds} damaged files: equal; ${fast} documents were read fast`)

function fail(where: string, difference: string): never {
  console.error(`${where}: ${difference}`)
  process.exit(1)
}
