// Hostile files: each must get a verdict without a crash, in time that depends only on its size.
import { expect, test } from '@jest/globals'
import { parseCatalogFile } from '../../../../packages/fbc/src/load/parse-catalog-file.ts'

const yamlAliasNames = 'abcdefghij'
const yamlAliasBomb = [...yamlAliasNames]
  .map(
    (name, at) =>
      `${name}: &${name} [${Array(9)
        .fill(at === 0 ? 'x' : `*${yamlAliasNames[at - 1]}`)
        .join(', ')}]`,
  )
  .join('\n')
const yamlWithAliasedMegabyteString = `schema: olm.bundle
x: &a "${'y'.repeat(1_000_000)}"
properties:
- {type: t, value: [${Array(50_000).fill('*a').join(',')}]}
- {type: u, value: [${Array(50_000).fill('z').join(',')}]}`

const maxDepthErrorMessage = 'exceeded max depth'

test.each<[string, string, string | undefined]>([
  ['an alias bomb', `${yamlAliasBomb}\nschema: a`, 'document contains excessive aliasing'],
  ['fifty thousand aliases of a megabyte', yamlWithAliasedMegabyteString, undefined],
  ['two hundred thousand brackets', `#\na: ${'['.repeat(200_000)}`, maxDepthErrorMessage],
  ['alternating brackets and braces', `#\na: ${'[a: '.repeat(100_000)}`, maxDepthErrorMessage],
  ['two hundred thousand brackets in JSON', `{"schema":"a","b":${'['.repeat(200_000)}`, maxDepthErrorMessage],
  ['nested dashes', `#\n${'- '.repeat(50_000)}`, maxDepthErrorMessage],
  ['almost the maximum depth', `#\nschema: a\nb: ${'['.repeat(9_990)}${']'.repeat(9_990)}`, undefined],
  [
    'a deeply nested property',
    `schema: olm.bundle\nproperties: [{type: x, value: ${'['.repeat(9_000)}${']'.repeat(9_000)}}]`,
    undefined,
  ],
  [
    'depth that adds up through aliases',
    `schema: a\nx: &a ${'['.repeat(6_000)}${']'.repeat(6_000)}\ny: ${'['.repeat(6_000)}*a${']'.repeat(6_000)}`,
    maxDepthErrorMessage,
  ],
  ['ten million characters in one scalar', `schema: a\nb: ${'x'.repeat(10_000_000)}`, undefined],
  ['ten million digits', `schema: a\nb: .5${'_5'.repeat(5_000_000)}`, undefined],
  [
    'two hundred thousand keys',
    `schema: a\n${Array.from({ length: 200_000 }, (_, at) => `k${at}: v`).join('\n')}`,
    undefined,
  ],
  ['one key two hundred thousand times', `schema: a\n${'k: v\n'.repeat(200_000)}`, undefined],
  [
    'open brackets, then many items',
    `#\n${'[\n'.repeat(9_999)}${'a,\n'.repeat(100_000)}`,
    'did not find expected node content',
  ],
  ['two hundred thousand separators', '---\n'.repeat(200_000), 'missing root schema field'],
  ['only NUL characters', '\0'.repeat(1_000_000), 'control characters are not allowed'],
])('%s', (_description, text, message) => {
  const facts = parseCatalogFile(new TextEncoder().encode(text))
  if (message === undefined) expect(facts.loadError).toBeUndefined()
  else expect(facts.loadError).toContain(message)
  expect(() => JSON.stringify(facts)).not.toThrow()
})

const yamlItemCount = 200_000
const yamlListItems = Array.from({ length: yamlItemCount }, (_, at) => `v${at}`).join()
const yamlMapEntriesText = Array.from({ length: yamlItemCount }, (_, at) => `v${at}: x`).join()

// A call accepts about a hundred thousand arguments, so code must not spread a list of any length into a call.
test.each([
  ['a list as a name', `schema: x\nname: [${yamlListItems}]\n`, 'to be a string, got [%!t(string=v0) '],
  [
    'a mapping as a name',
    `schema: x\nname: {${yamlMapEntriesText}}\n`,
    'to be a string, got map[%!t(string=v0):',
  ],
  [
    'a list as a name in JSON',
    `{"schema":"x","name":[${'1,'.repeat(yamlItemCount)}1]}`,
    'to be a string, got [',
  ],
  [
    'a list as a key',
    `schema: x\n? [${yamlListItems}]\n: b\n`,
    'invalid map key: []interface {}{"v0", "v1", ',
  ],
  [
    'a mapping as a key',
    `schema: x\n? {${yamlMapEntriesText}}\n: b\n`,
    'invalid map key: map[interface {}]interface',
  ],
  ['a list as the value of an empty key', `schema: x\n?\n: [${yamlListItems}]\n`, 'unsupported map key'],
  ['a list as a document', `[${yamlListItems}]\n`, 'cannot unmarshal array'],
  ['a mapping without a schema', `a: {${yamlMapEntriesText}}\n`, `object '{"a":{"v0":"x","v1":"x",`],
])('%s, with two hundred thousand elements', (_description, text, message) => {
  expect(parseCatalogFile(new TextEncoder().encode(text)).loadError).toContain(message)
})

test('a field with ten thousand spellings gets one finding', () => {
  const spellVariant = (at: number) =>
    [...'defaultchannel'].map((letter, bit) => ((at >> bit) & 1 ? letter.toUpperCase() : letter)).join('')
  const text = `schema: x\n${Array.from({ length: 10_000 }, (_, at) => `${spellVariant(at)}: 1\n`).join('')}`
  const { findings } = parseCatalogFile(new TextEncoder().encode(text))
  expect(findings.map(({ what }) => what.slice(0, 40))).toEqual(['the same field is spelled in 10000 diffe'])
})

test.each([
  ['properties', 'schema: olm.bundle\nproperties:\n', '- type: 1\n', 100_000],
  ['entries', 'schema: olm.channel\nentries:\n', '- name: 1\n', 100_000],
  ['properties after an anchor', 'schema: &a olm.bundle\nproperties:\n', '- type: 1\n', 100_000],
  ['bundle objects', 'schema: olm.bundle\nproperties:\n', '- {type: olm.bundle.object, value: 1}\n', 20_000],
])(
  'the first hundred of many wrong %s are reported, and the others are counted',
  (_description, before, wrong, count) => {
    const { findings } = parseCatalogFile(new TextEncoder().encode(before + wrong.repeat(count)))
    expect(findings).toHaveLength(101)
    expect(findings.slice(0, 100).map(({ at }) => at?.line)).toEqual(
      Array.from({ length: 100 }, (_, at) => at + 3),
    )
    expect(findings[100]).toMatchObject({ rule: 'more-problems', data: { count: count - 100 } })
  },
)

test('bytes that are not UTF-8', () => {
  const facts = parseCatalogFile(new Uint8Array(5_000_000).fill(0x80))
  expect(facts.loadError).toBe('error converting YAML to JSON: yaml: invalid leading UTF-8 octet')
})

test('nested lists on one line take about as much processor time as on separate lines', () => {
  const measure = (lineBreak: string) => {
    const text = `---\nschema: x\nlist: ${`[${lineBreak}`.repeat(9_990)}${']'.repeat(9_990)}\n`.repeat(10)
    const started = process.cpuUsage()
    expect(parseCatalogFile(new TextEncoder().encode(text)).loadError).toBeUndefined()
    return process.cpuUsage(started).user
  }
  expect(measure('')).toBeLessThan(3.5 * measure('\n'))
})
