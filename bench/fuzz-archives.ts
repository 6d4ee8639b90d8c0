// Holds our reading of archives and of registries' documents against Go's own, at random for a while: each is refused by us,
// or read exactly as Go reads it. usage: node bench/fuzz-archives.ts [--seconds N | --rounds N] [--seed S]; exit 1 with seed
// and case at a difference, 2 where there is no go.
import { parseArgs } from 'node:util'
import { SeededRandom } from '../test/go/fast/mutated-documents.ts'
import { findGoCommand, openGoReaders } from '../test/go-readers/go-readers.ts'
import { compareDocument, compareImage, type GoComparison } from '../test/registry/compare-with-go.ts'
import { createRandomImage, type RandomLayer } from '../test/registry/random-archives.ts'
import { createRandomDocument } from '../test/registry/random-documents.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    rounds: { type: 'string' },
    seed: { type: 'string' },
  },
})
const goPath = findGoCommand()
if (goPath === undefined) {
  console.error('there is no go on the PATH nor in /usr/local/go')
  process.exit(2)
}
const seed = Number(values.seed ?? Date.now() % 2 ** 32)
console.log(`seed ${seed}`)
const goReaders = openGoReaders(goPath)
if (!goReaders.readsZstd) console.log('LEFT OUT: layers in zstd. What reads them in Go cannot be had here.')
const randomSource = new SeededRandom(seed)
const comparisonCounts = {
  archives: createComparisonCount(),
  'archives in zstd': createComparisonCount(),
  'archives in gzip': createComparisonCount(),
  documents: createComparisonCount(),
}
const deadline = performance.now() + Number(values.seconds) * 1000
const isFinished = (round: number) =>
  values.rounds === undefined ? performance.now() >= deadline : round >= Number(values.rounds)
// Go reads some while we read others.
const maxConcurrentRounds = 16

for (let round = 0; !isFinished(round); round += 1) {
  const images = Array.from({ length: maxConcurrentRounds }, () => createComparedImage())
  const documents = Array.from({ length: maxConcurrentRounds * 2 }, () => createRandomDocument(randomSource))
  const [compared, read] = await Promise.all([
    Promise.all(images.map((image) => compareImage(goReaders, image))),
    Promise.all(documents.map((document) => compareDocument(goReaders, document))),
  ])
  for (const [index, comparison] of compared.entries()) {
    const image = images[index]
    const packings = new Set(image?.map(({ packing }) => packing))
    countComparison(comparisonCounts.archives, comparison)
    if (packings.has('zstd')) countComparison(comparisonCounts['archives in zstd'], comparison)
    if (packings.has('gzip')) countComparison(comparisonCounts['archives in gzip'], comparison)
    if (comparison.difference !== undefined && image) await shrinkAndFail(round, image)
  }
  for (const [index, comparison] of read.entries()) {
    countComparison(comparisonCounts.documents, comparison)
    if (comparison.difference === undefined) continue
    failWithDifference(round, comparison.difference, documents[index])
  }
}
for (const [what, { compared, refused, agreed }] of Object.entries(comparisonCounts))
  console.log(`${what}: ${compared} compared, ${refused} refused by us, ${agreed} read as Go reads them`)
await goReaders.close()
if (comparisonCounts.archives.agreed === 0 || comparisonCounts.documents.agreed === 0) {
  console.error('nothing was read by both: the comparison says nothing')
  process.exitCode = 1
}

function createComparedImage(): readonly RandomLayer[] {
  for (;;) {
    const image = createRandomImage(randomSource)
    if (goReaders.readsZstd || image.every(({ packing }) => packing !== 'zstd')) return image
  }
}

function createComparisonCount() {
  return { compared: 0, refused: 0, agreed: 0 }
}

function countComparison(into: ReturnType<typeof createComparisonCount>, { refused }: GoComparison): void {
  into.compared += 1
  if (refused) into.refused += 1
  else into.agreed += 1
}

/** Takes away layers, entries and damage as long as the difference stays. */
async function shrinkAndFail(round: number, image: readonly RandomLayer[]): Promise<never> {
  let smallest = image
  for (let shrinks = true; shrinks;) {
    shrinks = false
    for (const candidate of generateSmallerImages(smallest)) {
      if ((await compareImage(goReaders, candidate)).difference === undefined) continue
      smallest = candidate
      shrinks = true
      break
    }
  }
  return failWithDifference(round, (await compareImage(goReaders, smallest)).difference ?? '', smallest)
}

function* generateSmallerImages(image: readonly RandomLayer[]): Generator<readonly RandomLayer[]> {
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

function failWithDifference(round: number, difference: string, what: unknown): never {
  console.error(`seed ${seed}, round ${round}: ${difference}`)
  console.error(JSON.stringify(what, bytesReplacer, 1))
  process.exit(1)
}

/** Bytes as text with escapes. */
function bytesReplacer(_key: string, value: unknown): unknown {
  const { type, data } = (value ?? {}) as { type?: unknown; data?: unknown }
  return type === 'Buffer' && Array.isArray(data) ? Buffer.from(data as number[]).toString('latin1') : value
}
