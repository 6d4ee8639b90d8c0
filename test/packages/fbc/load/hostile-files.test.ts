// Files made to hurt: each must come back with a verdict, without a crash and in time that grows with its size only.
import { expect, test } from '@jest/globals'
import { parseCatalogFile } from '../../../../packages/fbc/src/load/parse-catalog-file.ts'

const aliasNames = 'abcdefghij'
const aliasBomb = [...aliasNames]
  .map(
    (name, at) =>
      `${name}: &${name} [${Array(9)
        .fill(at === 0 ? 'x' : `*${aliasNames[at - 1]}`)
        .join(', ')}]`,
  )
  .join('\n')
const aliasedMegabyteList = `schema: olm.bundle
x: &a "${'y'.repeat(1_000_000)}"
properties:
- {type: t, value: [${Array(50_000).fill('*a').join(',')}]}
- {type: u, value: [${Array(50_000).fill('z').join(',')}]}`

const maxDepthError = 'exceeded max depth'

test.each<[string, string, string | undefined]>([
  ['a bomb of aliases', `${aliasBomb}\nschema: a`, 'document contains excessive aliasing'],
  ['a megabyte behind fifty thousand aliases', aliasedMegabyteList, undefined],
  ['two hundred thousand brackets', `#\na: ${'['.repeat(200_000)}`, maxDepthError],
  ['brackets and braces in turn', `#\na: ${'[a: '.repeat(100_000)}`, maxDepthError],
  ['brackets of JSON', `{"schema":"a","b":${'['.repeat(200_000)}`, maxDepthError],
  ['dashes that nest', `#\n${'- '.repeat(50_000)}`, maxDepthError],
  ['as deep as may be', `#\nschema: a\nb: ${'['.repeat(9_990)}${']'.repeat(9_990)}`, undefined],
  [
    'a deep property',
    `schema: olm.bundle\nproperties: [{type: x, value: ${'['.repeat(9_000)}${']'.repeat(9_000)}}]`,
    undefined,
  ],
  [
    'depth that aliases add up to',
    `schema: a\nx: &a ${'['.repeat(6_000)}${']'.repeat(6_000)}\ny: ${'['.repeat(6_000)}*a${']'.repeat(6_000)}`,
    maxDepthError,
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
  ['nothing but NUL', '\0'.repeat(1_000_000), 'control characters are not allowed'],
])('%s', (_description, text, message) => {
  const facts = parseCatalogFile(new TextEncoder().encode(text))
  if (message === undefined) expect(facts.loadError).toBeUndefined()
  else expect(facts.loadError).toContain(message)
  expect(() => JSON.stringify(facts)).not.toThrow()
})

const itemCount = 200_000
const listItems = Array.from({ length: itemCount }, (_, at) => `v${at}`).join()
const mapEntries = Array.from({ length: itemCount }, (_, at) => `v${at}: x`).join()

// A call takes some hundred thousand arguments: whoever spreads a list into one must know how long the list is.
test.each([
  ['a list for a name', `schema: x\nname: [${listItems}]\n`, 'to be a string, got [%!t(string=v0) '],
  ['a mapping for a name', `schema: x\nname: {${mapEntries}}\n`, 'to be a string, got map[%!t(string=v0):'],
  [
    'a list for a name in JSON',
    `{"schema":"x","name":[${'1,'.repeat(itemCount)}1]}`,
    'to be a string, got [',
  ],
  ['a list for a key', `schema: x\n? [${listItems}]\n: b\n`, 'invalid map key: []interface {}{"v0", "v1", '],
  [
    'a mapping for a key',
    `schema: x\n? {${mapEntries}}\n: b\n`,
    'invalid map key: map[interface {}]interface',
  ],
  ['a list behind no key', `schema: x\n?\n: [${listItems}]\n`, 'unsupported map key'],
  ['a list for a document', `[${listItems}]\n`, 'cannot unmarshal array'],
  ['a mapping without a schema', `a: {${mapEntries}}\n`, `object '{"a":{"v0":"x","v1":"x",`],
])('%s, two hundred thousand parts wide', (_description, text, message) => {
  expect(parseCatalogFile(new TextEncoder().encode(text)).loadError).toContain(message)
})

test('a field that is spelt in many ways', () => {
  const spellVariant = (at: number) =>
    [...'defaultchannel'].map((letter, bit) => ((at >> bit) & 1 ? letter.toUpperCase() : letter)).join('')
  const text = `schema: x\n${Array.from({ length: 10_000 }, (_, at) => `${spellVariant(at)}: 1\n`).join('')}`
  const { findings } = parseCatalogFile(new TextEncoder().encode(text))
  expect(findings.map(({ what }) => what.slice(0, 40))).toEqual(['the same field is spelled in 10000 ways:'])
})

test.each([
  ['properties', 'schema: olm.bundle\nproperties:\n', '- type: 1\n', 100_000],
  ['entries', 'schema: olm.channel\nentries:\n', '- name: 1\n', 100_000],
  ['properties with odd text', 'schema: &a olm.bundle\nproperties:\n', '- type: 1\n', 100_000],
  ['bundle objects', 'schema: olm.bundle\nproperties:\n', '- {type: olm.bundle.object, value: 1}\n', 20_000],
])('of many wrong %s a hundred are told and the others counted', (_description, before, wrong, count) => {
  const { findings } = parseCatalogFile(new TextEncoder().encode(before + wrong.repeat(count)))
  expect(findings).toHaveLength(101)
  expect(findings.slice(0, 100).map(({ at }) => at?.line)).toEqual(
    Array.from({ length: 100 }, (_, at) => at + 3),
  )
  expect(findings[100]).toMatchObject({ rule: 'more-problems', data: { count: count - 100 } })
})

test('bytes that are no UTF-8 at all', () => {
  const facts = parseCatalogFile(new Uint8Array(5_000_000).fill(0x80))
  expect(facts.loadError).toBe('error converting YAML to JSON: yaml: invalid leading UTF-8 octet')
})
