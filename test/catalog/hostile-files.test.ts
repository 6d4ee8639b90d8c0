// Files made to hurt: each must come back with a verdict, without a crash and in time that grows with its size only.
import { expect, test } from '@jest/globals'
import { readFile } from '../../src/catalog/read-file.ts'

const letters = 'abcdefghij'
const bomb = [...letters]
  .map(
    (name, at) =>
      `${name}: &${name} [${Array(9)
        .fill(at === 0 ? 'x' : `*${letters[at - 1]}`)
        .join(', ')}]`,
  )
  .join('\n')
const listOfMegabytes = `schema: olm.bundle
x: &a "${'y'.repeat(1_000_000)}"
properties:
- {type: t, value: [${Array(50_000).fill('*a').join(',')}]}
- {type: u, value: [${Array(50_000).fill('z').join(',')}]}`

const tooDeep = 'exceeded max depth'

test.each<[string, string, string | undefined]>([
  ['a bomb of aliases', `${bomb}\nschema: a`, 'document contains excessive aliasing'],
  ['a megabyte behind fifty thousand aliases', listOfMegabytes, undefined],
  ['two hundred thousand brackets', `#\na: ${'['.repeat(200_000)}`, tooDeep],
  ['brackets and braces in turn', `#\na: ${'[a: '.repeat(100_000)}`, tooDeep],
  ['brackets of JSON', `{"schema":"a","b":${'['.repeat(200_000)}`, tooDeep],
  ['dashes that nest', `#\n${'- '.repeat(50_000)}`, tooDeep],
  ['as deep as may be', `#\nschema: a\nb: ${'['.repeat(9_990)}${']'.repeat(9_990)}`, undefined],
  [
    'a deep property',
    `schema: olm.bundle\nproperties: [{type: x, value: ${'['.repeat(9_000)}${']'.repeat(9_000)}}]`,
    undefined,
  ],
  [
    'depth that aliases add up to',
    `schema: a\nx: &a ${'['.repeat(6_000)}${']'.repeat(6_000)}\ny: ${'['.repeat(6_000)}*a${']'.repeat(6_000)}`,
    tooDeep,
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
])('%s', (_what, text, message) => {
  const facts = readFile(new TextEncoder().encode(text))
  if (message === undefined) expect(facts.loadError).toBeUndefined()
  else expect(facts.loadError).toContain(message)
  expect(() => JSON.stringify(facts)).not.toThrow()
})

test('bytes that are no UTF-8 at all', () => {
  const facts = readFile(new Uint8Array(5_000_000).fill(0x80))
  expect(facts.loadError).toBe('error converting YAML to JSON: yaml: invalid leading UTF-8 octet')
})
