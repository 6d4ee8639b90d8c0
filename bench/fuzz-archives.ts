// Holds our reading of archives and of registries' documents against Go's own, at random for a while: each is refused by us,
// or read exactly as Go reads it. usage: node bench/fuzz-archives.ts [--seconds N | --rounds N] [--seed S]; exit 1 with seed
// and case at a difference, 2 where there is no go.
import { parseArgs } from 'node:util'
import { Random } from '../test/go/fast/mutated-documents.ts'
import { goCommand, openGoReaders } from '../test/go-readers/go-readers.ts'
import { compareDocument, compareImage, type Comparison } from '../test/registry/compare-with-go.ts'
import { randomImage, type RandomLayer } from '../test/registry/random-archives.ts'
import { randomDocument } from '../test/registry/random-documents.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    rounds: { type: 'string' },
    seed: { type: 'string' },
  },
})
const go = goCommand()
if (go === undefined) {
  console.error('there is no go on the PATH nor in /usr/local/go')
  process.exit(2)
}
const seed = Number(values.seed ?? Date.now() % 2 ** 32)
console.log(`seed ${seed}`)
const readers = openGoReaders(go)
if (!readers.readsZstd) console.log('LEFT OUT: layers in zstd. What reads them in Go cannot be had here.')
const random = new Random(seed)
const counts = {
  archives: newCount(),
  'archives in zstd': newCount(),
  'archives in gzip': newCount(),
  documents: newCount(),
}
const until = performance.now() + Number(values.seconds) * 1000
const isOver = (round: number) =>
  values.rounds === undefined ? performance.now() >= until : round >= Number(values.rounds)
// Go reads some while we read others.
const atOnce = 16

for (let round = 0; !isOver(round); round += 1) {
  const images = Array.from({ length: atOnce }, () => imageToCompare())
  const documents = Array.from({ length: atOnce * 2 }, () => randomDocument(random))
  const [compared, read] = await Promise.all([
    Promise.all(images.map((image) => compareImage(readers, image))),
    Promise.all(documents.map((document) => compareDocument(readers, document))),
  ])
  for (const [index, comparison] of compared.entries()) {
    const image = images[index]
    const packings = new Set(image?.map(({ packing }) => packing))
    count(counts.archives, comparison)
    if (packings.has('zstd')) count(counts['archives in zstd'], comparison)
    if (packings.has('gzip')) count(counts['archives in gzip'], comparison)
    if (comparison.difference !== undefined && image) await failWithImage(round, image)
  }
  for (const [index, comparison] of read.entries()) {
    count(counts.documents, comparison)
    if (comparison.difference === undefined) continue
    fail(round, comparison.difference, documents[index])
  }
}
for (const [what, { compared, refused, agreed }] of Object.entries(counts))
  console.log(`${what}: ${compared} compared, ${refused} refused by us, ${agreed} read as Go reads them`)
await readers.close()
if (counts.archives.agreed === 0 || counts.documents.agreed === 0) {
  console.error('nothing was read by both: the comparison says nothing')
  process.exitCode = 1
}

function imageToCompare(): readonly RandomLayer[] {
  for (;;) {
    const image = randomImage(random)
    if (readers.readsZstd || image.every(({ packing }) => packing !== 'zstd')) return image
  }
}

function newCount() {
  return { compared: 0, refused: 0, agreed: 0 }
}

function count(into: ReturnType<typeof newCount>, { refused }: Comparison): void {
  into.compared += 1
  if (refused) into.refused += 1
  else into.agreed += 1
}

/** Takes away layers, entries and damage as long as the difference stays. */
async function failWithImage(round: number, image: readonly RandomLayer[]): Promise<never> {
  let smallest = image
  for (let shrinks = true; shrinks;) {
    shrinks = false
    for (const candidate of smaller(smallest)) {
      if ((await compareImage(readers, candidate)).difference === undefined) continue
      smallest = candidate
      shrinks = true
      break
    }
  }
  return fail(round, (await compareImage(readers, smallest)).difference ?? '', smallest)
}

function* smaller(image: readonly RandomLayer[]): Generator<readonly RandomLayer[]> {
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

function fail(round: number, difference: string, what: unknown): never {
  console.error(`seed ${seed}, round ${round}: ${difference}`)
  console.error(JSON.stringify(what, shown, 1))
  process.exit(1)
}

/** Bytes as text with escapes. */
function shown(_key: string, value: unknown): unknown {
  const { type, data } = (value ?? {}) as { type?: unknown; data?: unknown }
  return type === 'Buffer' && Array.isArray(data) ? Buffer.from(data as number[]).toString('latin1') : value
}
