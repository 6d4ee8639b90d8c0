import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import fc from '../../../seeded.ts'
import type { Json } from '../../../../packages/fbc/src/go/json/json.ts'
import { parseWritableCatalog } from '../../../../packages/fbc/src/write/writable-catalog.ts'
import { formatCatalogJson } from '../../../../packages/fbc/src/write/format-json.ts'
import { formatCatalogYaml } from '../../../../packages/fbc/src/write/format-yaml.ts'
import { runOpm } from '../../../run-opm.ts'
import { findSharedPath } from '../../../shared-data.ts'

const textEncoder = new TextEncoder()
const renderCatalog = (text: string, write: typeof formatCatalogJson) => {
  const read = parseWritableCatalog([textEncoder.encode(text)])
  return read.ok ? write(read.value) : `error: ${read.error}`
}

/** What opm writes for a catalog of this text; undefined if opm is not installed. */
function renderCatalogWithOpm(text: string, format: 'json' | 'yaml'): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'write-'))
  writeFileSync(join(folder, 'c.json'), text)
  const run = runOpm(['render', folder, '-o', format])
  rmSync(folder, { recursive: true })
  return run && (run.code === 0 ? run.out : `error: ${run.err}`)
}

const yamlStringSamples = [
  '',
  ' ',
  'a',
  'y',
  'No',
  'null',
  '~',
  '1',
  '1.0',
  '0x1f',
  '0o7',
  '1_000',
  '.5',
  '1e3',
  '-',
  '- a',
  '?',
  '? a',
  ':',
  ': a',
  'a: b',
  'a:b',
  'a :b',
  'a #b',
  'a#b',
  '#a',
  '<<',
  '=',
  '2020-01-01',
  '2020-01-01T00:00:00Z',
  '2020-1-1',
  '12:30',
  '1:30:00',
  '12:30:45.5',
  '---',
  '--- a',
  '...',
  '..a',
  '%a',
  '@a',
  '`a',
  '&a',
  '*a',
  '!a',
  '|',
  '>',
  "'",
  '"',
  "it's",
  'say "x"',
  '[a',
  'a]',
  '{a',
  'a, b',
  ' lead',
  'trail ',
  'tab\there',
  'line\n',
  'line\nline',
  '\nlead',
  ' lead\nx',
  'a \nb',
  'a\n b',
  'two\n\n',
  '\n',
  '\n\n',
  'x\n\n\ny\n',
  'back\\slash',
  'bell\u0007',
  'nul\u0000',
  'é',
  '日本',
  '😀',
  '\u2028',
  'a\u2028b',
  'a\u00a0b',
  '\ufeff',
  'cr\rx',
  'cr\r\nx',
  '$x',
  'a\u00ffb',
  'true',
  'TRUE',
  'tRue',
  'on',
  '.inf',
  '.nan',
  '+1',
  '0b1',
  '0123',
  '089',
  'word '.repeat(40),
  `it's ${'word '.repeat(40)}end`,
  `"x" ${'word '.repeat(40)}end: `,
  `${'x'.repeat(90)} y ${'z'.repeat(90)}  two  blanks ${'w'.repeat(80)} end`,
  `é ${'ñandú '.repeat(30)}x`,
  `#${' word'.repeat(30)}`,
  `tab\t${'word '.repeat(30)}  x`,
]
const nonStringJsonSamples: Json[] = [
  [],
  {},
  [[]],
  [{}],
  [[1, [2, [3]]]],
  [{ a: 1, b: [1, { c: 2 }] }, [{ d: {} }]],
  0,
  -0,
  1,
  -1,
  1.5,
  1e21,
  1e20,
  123456789012345680000,
  1e-7,
  0.000001,
  0.0001,
  9007199254740991,
  18446744073709552000,
  1e300,
  true,
  null,
]
const jsonObjectKeySamples = [
  'a1',
  'a10',
  'a9',
  'A',
  'b',
  '10',
  '9',
  '1',
  '01',
  'a',
  'a-',
  'a_',
  'a.b',
  'é',
  '-',
  'x'.repeat(130),
  'y',
  '1.0',
  'a b',
  '',
  ' ',
  'k: v',
  'v1.10',
  'v1.9',
  'olm.skipRange',
  '__proto__',
  'n\nl',
  '日',
]

/** A custom blob can contain any value, so it covers everything that the writers support. */
const createCustomBlobJson = (value: Json) => JSON.stringify({ schema: 'custom', package: 'p', value })

describe('output is the same as from opm for', () => {
  test('strings and values of every kind, in both formats', () => {
    const lists = JSON.stringify({
      schema: 'custom',
      package: 'p',
      list: yamlStringSamples,
      map: Object.fromEntries(yamlStringSamples.map((text, at) => [`k${at}`, text])),
      others: nonStringJsonSamples,
    })
    for (const [format, write] of [
      ['yaml', formatCatalogYaml],
      ['json', formatCatalogJson],
    ] as const) {
      const expected = renderCatalogWithOpm(lists, format)
      if (expected !== undefined) expect(renderCatalog(lists, write)).toBe(expected)
    }
  })
  test('keys of every kind, in both formats', () => {
    const text = `{"schema": "custom", "package": "p", "map": {${jsonObjectKeySamples.map((key, at) => `${JSON.stringify(key)}: ${at % 2 ? '[1, {"a": {}}]' : '"x"'}`).join(', ')}}}`
    for (const [format, write] of [
      ['yaml', formatCatalogYaml],
      ['json', formatCatalogJson],
    ] as const) {
      const expected = renderCatalogWithOpm(text, format)
      if (expected !== undefined) expect(renderCatalog(text, write)).toBe(expected)
    }
  })
  test('blobs in any order, with empty and unknown fields', () => {
    const text = `
{"schema":"zzz","package":"foo","b":1,"a":[]}
{"schema":"nobody","b":1}
{"schema":"olm.deprecations","package":"foo","entries":[{"reference":{"schema":"olm.package"},"message":"m"},{"reference":{"schema":"olm.channel","name":"c"},"message":""}]}
{"schema":"olm.bundle","package":"foo","name":"foo.v2","image":"x","relatedImages":[{"image":"y"}],"properties":[{"type":"t","value":{"b":1.0,"a":1e3}},{"type":"u","value":null}],"dropped":1}
{"schema":"olm.bundle","package":"foo","name":"foo.v1"}
{"schema":"olm.bundle","name":"lost","image":"x"}
{"schema":"olm.channel","package":"foo","name":"b","entries":[{"name":"foo.v2","skips":[],"replaces":"","skipRange":"<1"}]}
{"schema":"olm.channel","package":"foo","name":"a"}
{"Schema":"aaa","Package":"foo"}
{"schema":"olm.package","name":"foo","icon":{"base64data":"YWJj","mediatype":"image/png"}}
{"schema":"olm.package","name":"bar","defaultChannel":"x","description":"a\\nb","icon":{}}`
    for (const [format, write] of [
      ['yaml', formatCatalogYaml],
      ['json', formatCatalogJson],
    ] as const) {
      const expected = renderCatalogWithOpm(text, format)
      if (expected !== undefined) expect(renderCatalog(text, write)).toBe(expected)
    }
    expect(renderCatalog(text, formatCatalogJson)).toContain('"entries": null')
  })
  test('random strings and values', () => {
    const alphabet = fc.constantFrom(...' \n\t:#-?"\'\\[]{}abyn01.é\u2028😀&*!|>%@`,~=<_'.split(/(?:)/u))
    const text = fc.oneof(
      fc.string({ unit: alphabet, maxLength: 120 }),
      fc.string({ unit: fc.constantFrom('ab ', 'c', ' ', "'"), maxLength: 80 }),
    )
    const value = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(text, tie('value'), { maxKeys: 4 }),
      ),
    })).value
    // One run of opm for many samples: each is a separate blob.
    const samples = fc.sample(value, { numRuns: 300, seed: 20 }).map(createCustomBlobJson).join('\n')
    for (const [format, write] of [
      ['yaml', formatCatalogYaml],
      ['json', formatCatalogJson],
    ] as const) {
      const expected = renderCatalogWithOpm(samples, format)
      if (expected !== undefined)
        expect(renderCatalog(samples, write).split('---\n')).toEqual(expected.split('---\n'))
    }
  })
  test('real packages', () => {
    const root = findSharedPath('community-operators', 'catalogs', 'v4.22')
    if (root === undefined) return
    for (const name of readdirSync(root).slice(0, 8)) {
      const folder = join(root, name)
      const expected = runOpm(['render', folder, '-o', 'yaml'])
      if (!expected) return
      const read = parseWritableCatalog(
        readdirSync(folder).map((file) => new Uint8Array(readFileSync(join(folder, file)))),
      )
      expect(read.ok && formatCatalogYaml(read.value) === expected.out).toBe(true)
    }
  })
})

test('a file that opm cannot load is rejected with the message of opm', () => {
  expect(renderCatalog('{"schema":"olm.package","name":1}', formatCatalogJson)).toMatch(
    /^error: expected value for key "name" to be a string/,
  )
  expect(renderCatalog('{"schema":"olm.channel","entries":1}', formatCatalogJson)).toMatch(
    /^error: parse channel: json: cannot unmarshal/,
  )
  expect(renderCatalog('{"name":"x"}', formatCatalogJson)).toMatch(/missing root schema field/)
})

test('aliases cannot produce endless output', () => {
  const bomb = `schema: x\na: &a [1,1,1,1,1,1,1,1,1,1]\n${[...'bcdefgh'].map((name, at) => `${name}: &${name} [${Array(10).fill(`*${'abcdefgh'[at]}`).join()}]`).join('\n')}`
  expect(renderCatalog(bomb, formatCatalogJson)).toMatch(/^error: /)
})
