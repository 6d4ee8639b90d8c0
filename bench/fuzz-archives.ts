// Compares catalog-bot's readers of archives and registry documents with Go's, on random input. catalog-bot must
// reject each input or read it exactly like Go. Usage: node bench/fuzz-archives.ts [--seconds N | --rounds N] [--seed
// S]. On a difference, prints the seed and the case and exits with 1. Exits with 2 if Go is not installed.
import { parseArgs } from 'node:util'
import { SeededRandom } from '../test/packages/fbc/go/fast/mutated-documents.ts'
import { findGoCommand, startGoImageReaders } from '../test/go-readers/go-readers.ts'
import {
  compareRegistryDocumentReaders,
  compareImageReaders,
  type GoReaderComparison,
} from '../test/adapters/registry/compare-with-go.ts'
import { createRandomImage, type RandomLayer } from '../test/adapters/registry/random-archives.ts'
import { createRandomRegistryDocument } from '../test/adapters/registry/random-documents.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    rounds: { type: 'string' },
    seed: { type: 'string' },
  },
})
const goCommandPath = findGoCommand()
if (goCommandPath === undefined) {
  console.error('go is not on the PATH or in /usr/local/go')
  process.exit(2)
}
const randomSeed = Number(values.seed ?? Date.now() % 2 ** 32)
console.log(`seed ${randomSeed}`)
const goArchiveReaders = startGoImageReaders(goCommandPath)
if (!goArchiveReaders.readsZstd)
  console.log('SKIPPED: layers in zstd, because the Go module that reads them is not available')
const seededRandom = new SeededRandom(randomSeed)
const readerComparisonCountsByFormat = {
  archives: createReaderComparisonCounts(),
  'archives in zstd': createReaderComparisonCounts(),
  'archives in gzip': createReaderComparisonCounts(),
  documents: createReaderComparisonCounts(),
}
const fuzzingDeadlineMs = performance.now() + Number(values.seconds) * 1000
const isFuzzingFinished = (round: number) =>
  values.rounds === undefined ? performance.now() >= fuzzingDeadlineMs : round >= Number(values.rounds)
// Go and catalog-bot read in parallel.
const maxConcurrentFuzzRounds = 16

for (let round = 0; !isFuzzingFinished(round); round += 1) {
  const images = Array.from({ length: maxConcurrentFuzzRounds }, () => createRandomContainerImage())
  const documents = Array.from({ length: maxConcurrentFuzzRounds * 2 }, () =>
    createRandomRegistryDocument(seededRandom),
  )
  const [compared, read] = await Promise.all([
    Promise.all(images.map((image) => compareImageReaders(goArchiveReaders, image))),
    Promise.all(documents.map((document) => compareRegistryDocumentReaders(goArchiveReaders, document))),
  ])
  for (const [index, comparison] of compared.entries()) {
    const image = images[index]
    const packings = new Set(image?.map(({ packing }) => packing))
    recordReaderComparison(readerComparisonCountsByFormat.archives, comparison)
    if (packings.has('zstd'))
      recordReaderComparison(readerComparisonCountsByFormat['archives in zstd'], comparison)
    if (packings.has('gzip'))
      recordReaderComparison(readerComparisonCountsByFormat['archives in gzip'], comparison)
    if (comparison.difference !== undefined && image) await shrinkFailingImageAndExit(round, image)
  }
  for (const [index, comparison] of read.entries()) {
    recordReaderComparison(readerComparisonCountsByFormat.documents, comparison)
    if (comparison.difference === undefined) continue
    reportReaderMismatchAndExit(round, comparison.difference, documents[index])
  }
}
for (const [what, { compared, refused, agreed }] of Object.entries(readerComparisonCountsByFormat))
  console.log(`${what}: ${compared} compared, ${refused} rejected by catalog-bot, ${agreed} read like Go`)
await goArchiveReaders.close()
if (
  readerComparisonCountsByFormat.archives.agreed === 0 ||
  readerComparisonCountsByFormat.documents.agreed === 0
) {
  console.error('no input was read by both, so the comparison proves nothing')
  process.exitCode = 1
}

function createRandomContainerImage(): readonly RandomLayer[] {
  for (;;) {
    const image = createRandomImage(seededRandom)
    if (goArchiveReaders.readsZstd || image.every(({ packing }) => packing !== 'zstd')) return image
  }
}

function createReaderComparisonCounts() {
  return { compared: 0, refused: 0, agreed: 0 }
}

function recordReaderComparison(
  into: ReturnType<typeof createReaderComparisonCounts>,
  { refused }: GoReaderComparison,
): void {
  into.compared += 1
  if (refused) into.refused += 1
  else into.agreed += 1
}

/** Removes layers, entries, and damage while the difference remains. */
async function shrinkFailingImageAndExit(round: number, image: readonly RandomLayer[]): Promise<never> {
  let smallest = image
  for (let shrinks = true; shrinks;) {
    shrinks = false
    for (const candidate of generateSmallerContainerImages(smallest)) {
      if ((await compareImageReaders(goArchiveReaders, candidate)).difference === undefined) continue
      smallest = candidate
      shrinks = true
      break
    }
  }
  return reportReaderMismatchAndExit(
    round,
    (await compareImageReaders(goArchiveReaders, smallest)).difference ?? '',
    smallest,
  )
}

function* generateSmallerContainerImages(image: readonly RandomLayer[]): Generator<readonly RandomLayer[]> {
  for (const [at, layer] of image.entries()) {
    const withLayer = (other: RandomLayer) => image.map((one, index) => (index === at ? other : one))
    if (image.length > 1) yield image.filter((_, index) => index !== at)
    for (const index of layer.parts.keys())
      yield withLayer({ ...layer, parts: layer.parts.filter((_, other) => other !== index) })
    for (const index of layer.damage.keys())
      yield withLayer({ ...layer, damage: layer.damage.filter((_, other) => other !== index) })
    for (const index of layer.frames.keys())
      if (layer.frames.length > 1)
        yield withLayer({ ...layer, frames: layer.frames.filter((_, other) => other !== index) })
    if (layer.packedDamage.length > 0) yield withLayer({ ...layer, packedDamage: [] })
    if (layer.cut > 0) yield withLayer({ ...layer, cut: 0 })
    if (layer.rest.length > 0) yield withLayer({ ...layer, rest: Buffer.alloc(0) })
  }
}

function reportReaderMismatchAndExit(round: number, difference: string, what: unknown): never {
  console.error(`seed ${randomSeed}, round ${round}: ${difference}`)
  console.error(JSON.stringify(what, replaceBuffersWithText, 1))
  process.exit(1)
}

/** Bytes as text with escapes. */
function replaceBuffersWithText(_key: string, value: unknown): unknown {
  const { type, data } = (value ?? {}) as { type?: unknown; data?: unknown }
  return type === 'Buffer' && Array.isArray(data) ? Buffer.from(data as number[]).toString('latin1') : value
}
