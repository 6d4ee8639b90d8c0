// Compares the fast YAML and JSON readers with the exact ones, on damaged documents and on every available real
// catalog. Usage: npm run fuzz:reader -- [--seconds N | --rounds N] [--seed S] [DIR...]. On a difference, prints the
// seed and the document and exits with 1.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compareJsonReaders, compareYamlReaders } from '../test/packages/fbc/go/fast/compare-readers.ts'
import {
  SeededRandom,
  createMutatedDocuments,
  createMutatedJsonObjects,
  renderedYamlDocuments,
} from '../test/packages/fbc/go/fast/mutated-documents.ts'

const { values, positionals } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    rounds: { type: 'string' },
    seed: { type: 'string' },
  },
  allowPositionals: true,
})
const randomSeed = Number(values.seed ?? Date.now() % 2 ** 32)
const fuzzingDeadlineMs = performance.now() + Number(values.seconds) * 1000
console.log(`seed ${randomSeed}`)

const fuzzCorpusDocuments: string[] = [...renderedYamlDocuments]
let documentCount = 0
let fastPathDocumentCount = 0
for (const directory of positionals) {
  for (const path of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(ya?ml|json)$/.test(path)) continue
    const bytes = readFileSync(join(directory, path))
    const comparison = path.endsWith('.json') ? compareJsonReaders(bytes) : compareYamlReaders(bytes)
    if (comparison.difference !== undefined) reportReaderMismatchAndExit(path, comparison.difference)
    documentCount += comparison.documents
    fastPathDocumentCount += comparison.fast
    if (path.endsWith('.json')) continue
    // Real documents to damage, small enough for short rounds.
    const [first] = bytes
      .toString('utf8')
      .split(/^---$/m)
      .filter((text) => text.length > 200 && text.length < 20_000)
    if (first !== undefined && fuzzCorpusDocuments.length < 200) fuzzCorpusDocuments.push(`---${first}`)
  }
  console.log(`${directory}: equal; ${fastPathDocumentCount} of ${documentCount} documents were read fast`)
}

const seededRandom = new SeededRandom(randomSeed)
let fuzzRoundCount = 0
fastPathDocumentCount = 0
const isFuzzingFinished = () =>
  values.rounds === undefined
    ? performance.now() >= fuzzingDeadlineMs
    : fuzzRoundCount >= Number(values.rounds)
for (; !isFuzzingFinished(); fuzzRoundCount++) {
  const isJson = fuzzRoundCount % 3 === 2
  const bytes = isJson
    ? createMutatedJsonObjects(seededRandom)
    : createMutatedDocuments(seededRandom, fuzzCorpusDocuments)
  const comparison = (isJson ? compareJsonReaders : compareYamlReaders)(bytes)
  if (comparison.difference !== undefined) {
    reportReaderMismatchAndExit(
      `seed ${randomSeed}, round ${fuzzRoundCount}`,
      `${comparison.difference}\n${Buffer.from(bytes).toString('utf8')}`,
    )
  }
  fastPathDocumentCount += comparison.fast
}
console.log(`${fuzzRoundCount} damaged files: equal; ${fastPathDocumentCount} documents were read fast`)

function reportReaderMismatchAndExit(where: string, difference: string): never {
  console.error(`${where}: ${difference}`)
  process.exit(1)
}
