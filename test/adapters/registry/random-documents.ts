// Random but reproducible manifests, indexes, and configs, with keys in another case, duplicate or missing keys, values of
// other types, and damaged bytes. bench/fuzz-archives.ts compares how we and Go read them.
import type { SeededRandom } from '../../packages/fbc/go/fast/mutated-documents.ts'
import { manifestMediaTypes } from '../../../src/adapters/registry/manifest.ts'

export interface RandomRegistryDocument {
  readonly kind: 'manifest' | 'index' | 'config'
  readonly body: Buffer
}

const createFakeDigest = (letter: string) => `sha256:${letter.repeat(64)}`

export function createRandomRegistryDocument(random: SeededRandom): RandomRegistryDocument {
  const kind = random.pick(['manifest', 'index', 'config'] as const)
  const wildness = random.pick([0, 2, 8])
  const text = formatRandomJsonVariant(random, documentGeneratorByKind[kind](random), wildness)
  const body = Buffer.from(random.below(8) === 0 ? random.pick(jsonTextCorruptors)(text) : text)
  for (let left = random.below(10) === 0 ? 1 + random.below(2) : 0; left > 0; left -= 1)
    body[random.below(body.length)] = random.pick([
      0x20,
      0x22,
      0x2c,
      0x30,
      0x5c,
      0x7b,
      0xff,
      random.below(256),
    ])
  return { kind, body }
}

const documentGeneratorByKind: Readonly<
  Record<RandomRegistryDocument['kind'], (random: SeededRandom) => object>
> = {
  manifest: (random) => ({
    schemaVersion: 2,
    ...(random.below(3) > 0 && { mediaType: manifestMediaTypes.ociManifest }),
    config: createRandomDescriptor(random),
    layers: Array.from({ length: random.below(3) }, () => createRandomDescriptor(random)),
    ...(random.below(4) === 0 && { subject: createRandomDescriptor(random), artifactType: 'a/b' }),
    ...(random.below(3) === 0 && { annotations: { a: 'b', A: 'c', size: '1' } }),
  }),
  index: (random) => ({
    schemaVersion: 2,
    ...(random.below(3) > 0 && { mediaType: manifestMediaTypes.ociIndex }),
    manifests: Array.from({ length: random.below(3) }, () => ({
      ...createRandomDescriptor(random),
      ...(random.below(3) > 0 && {
        platform: {
          architecture: 'amd64',
          os: 'linux',
          variant: random.pick(['', 'v2']),
          'os.features': ['x'],
        },
      }),
    })),
  }),
  config: (random) => ({
    architecture: 'amd64',
    os: 'linux',
    ...(random.below(3) === 0 && { variant: 'v8' }),
    config: {
      Labels:
        random.below(5) === 0
          ? null
          : { a: 'b', A: 'c', 'operators.operatorframework.io.bundle.package.v1': 'x' },
      Env: ['PATH=/bin'],
      Cmd: null,
      Volumes: { '/a': {} },
    },
    rootfs: {
      type: 'layers',
      diff_ids: [createFakeDigest('a'), createFakeDigest('b')].slice(random.below(3)),
    },
    history: [{ created_by: 'x', empty_layer: true }],
  }),
}

function createRandomDescriptor(random: SeededRandom): object {
  return {
    mediaType: random.pick(['application/vnd.oci.image.layer.v1.tar+gzip', 'x/y']),
    digest: createFakeDigest(random.pick([...'abcdef0123'])),
    size: random.below(100_000),
    ...(random.below(6) === 0 && { urls: ['https://example.com'], data: 'e30=', annotations: { x: 'y' } }),
  }
}

const jsonTextCorruptors: readonly ((text: string) => string)[] = [
  (text) => `\ufeff${text}`,
  (text) => `${text}${text}`,
  (text) => `${text}\n`,
  (text) => ` \t\r\n${text}\u000b`,
  (text) => `${text}x`,
  (text) => `[${text}]`,
  (text) => text.slice(0, -1),
  () => '',
  () => '[]',
  () => 'null',
  () => '<html></html>',
  (text) => text.replace('{', `{"deep":${'['.repeat(9990)}${']'.repeat(9990)},`),
]

/** Formats `value` as JSON, in some cases with an ambiguous key or value. */
function formatRandomJsonVariant(random: SeededRandom, value: unknown, wildness: number): string {
  if (random.below(100) < wildness / 2) return random.pick(unusualJsonValues)
  if (Array.isArray(value))
    return `[${value.map((item) => formatRandomJsonVariant(random, item, wildness)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).flatMap(([key, item]) => {
    const entry = `${JSON.stringify(key)}:${formatRandomJsonVariant(random, item, wildness)}`
    if (random.below(100) >= wildness) return random.below(100) < wildness / 2 ? [] : [entry]
    const other = `${random.pick(jsonKeyMutators)(key)}:${formatRandomJsonVariant(random, item, 0)}`
    return random.pick([[entry, other], [other, entry], [other]])
  })
  if (random.below(100) < wildness) entries.push(random.pick(unexpectedJsonMembers))
  return `{${entries.join(', ')}}`
}

const jsonKeyMutators: readonly ((key: string) => string)[] = [
  (key) => JSON.stringify(key),
  (key) => JSON.stringify(key.toUpperCase()),
  (key) => JSON.stringify(key.toLowerCase()),
  (key) => JSON.stringify(key.replace(/s/i, '\u017f')),
  (key) => JSON.stringify(key.replace(/k/i, '\u212a')),
  (key) => `"\\u00${key.charCodeAt(0).toString(16)}${JSON.stringify(key).slice(2)}`,
  (key) => JSON.stringify(`${key} `),
  (key) => JSON.stringify(`${key[0]?.toUpperCase() ?? ''}${key.slice(1)}`),
]

const unusualJsonValues = [
  'null',
  '0',
  '-0',
  '-1',
  '1.0',
  '1e2',
  '9007199254740993',
  '9223372036854775808',
  '1e999',
  'true',
  '""',
  '"\\ud800"',
  '"\\ud83d\\ude00"',
  '"md5:d41d8cd98f00b204e9800998ecf8427e"',
  `"${createFakeDigest('A')}"`,
  '[]',
  '[null]',
  '{}',
  '{"a":1,"a":2}',
  '"100"',
]
const unexpectedJsonMembers = [
  '"layers":[]',
  '"Layers":[]',
  '"layer\u017f":[]',
  '"manifests":[]',
  '"manifests":null',
  '"config":null',
  '"fsLayers":[]',
  '"history":null',
  '"x":{"a":1,"A":2}',
  '"x":{"a":1,"a":2}',
  '"__proto__":{"digest":"x"}',
  '"constructor":1',
  '"mediaType":"text/html"',
  '"schemaVersion":1',
  '"schemaVersion":2',
  '"x":"\\ud800"',
]
