// Parses the bytes of one file into facts: where documents begin and end, opm's message for the first error, and
// catalog-bot's findings for all errors.
import { describe, expect, test } from '@jest/globals'
import { parseCatalogFile } from '../../../../packages/fbc/src/load/parse-catalog-file.ts'
import type { ParsedCatalogFile } from '../../../../packages/fbc/src/facts/catalog.ts'

function parseCatalogText(text: string): ParsedCatalogFile {
  return parseCatalogFile(new TextEncoder().encode(text))
}

function formatCatalogFileFindings(facts: ParsedCatalogFile): string[] {
  return facts.findings.map(({ rule, at }) => `${rule} ${at?.line}:${at?.column}`)
}

const catalogYaml = `---
schema: olm.package
name: foo
defaultChannel: stable
---
schema: olm.channel
package: foo
name: stable
entries:
- name: foo.v1.0.0
- name: foo.v1.1.0
  replaces: foo.v1.0.0
  skips: [foo.v1.0.1, ]
---
schema: olm.bundle
package: foo
name: foo.v1.0.0
image: quay.io/foo/foo:v1.0.0
properties:
- type: olm.package
  value: {packageName: foo, version: 1.0.0}
- type: olm.gvk
  value: {group: 5}
relatedImages:
- name: x
  image: quay.io/foo/x:1
---
schema: custom
name: other
`

describe('a catalog file', () => {
  const facts = parseCatalogText(catalogYaml)

  test.each([
    [
      'on the fast path',
      catalogYaml.replace('skips: [foo.v1.0.1, ]', 'skips: []').replace(/value: \{(.*)\}/g, 'value:\n    $1'),
    ],
    ['on the exact path', catalogYaml],
    ['in JSON', '{"schema":"olm.package","name":"foo","description":"d\\u0041"}\n{"schema":"olm.package"}'],
    [
      'with errors',
      catalogYaml.replace('name: stable', 'name: [stable]').replace('schema: custom', 'name: {'),
    ],
  ])('produces facts that do not change with its bytes: %s', (_, text) => {
    for (const forVerdict of [false, true]) {
      const bytes = new TextEncoder().encode(text)
      const before = parseCatalogFile(bytes, { forVerdict })
      const copy = JSON.stringify(before)
      bytes.fill(0)
      expect(JSON.stringify(before)).toBe(copy)
      expect(copy).toBe(JSON.stringify(parseCatalogFile(new TextEncoder().encode(text), { forVerdict })))
    }
  })

  test('produces its blobs with their positions', () => {
    expect(facts.loadError).toBeUndefined()
    expect(facts.packages).toMatchObject([
      { name: 'foo', place: { file: '', document: 0, line: 2, column: 1 } },
    ])
    expect(facts.channels[0]?.entries).toEqual([
      { mark: { line: 10, column: 3 }, name: 'foo.v1.0.0', replaces: '', skips: [], skipRange: '' },
      {
        mark: { line: 11, column: 3 },
        name: 'foo.v1.1.0',
        replaces: 'foo.v1.0.0',
        skips: ['foo.v1.0.1'],
        skipRange: '',
      },
    ])
    expect(facts.bundles[0]).toMatchObject({
      imageMark: { line: 18, column: 8 },
      place: { document: 2, line: 15 },
    })
    expect(facts.bundles[0]?.relatedImages[0]?.mark).toEqual({ line: 25, column: 3 })
    expect(facts.others).toMatchObject([{ schema: 'custom', name: 'other' }])
  })

  test('reports the byte range of a document', () => {
    const { start, end } = facts.channels[0]?.place ?? { start: 0, end: 0 }
    const bytes = new TextEncoder().encode(catalogYaml)
    expect(new TextDecoder().decode(bytes.subarray(start, end))).toMatch(
      /^schema: olm.channel[^]*foo.v1.0.1, \]\n$/,
    )
  })

  test('keeps the error of a property that cannot be decoded, because opm reports it only later', () => {
    const error = 'json: cannot unmarshal number into Go struct field GVK.group of type string'
    expect(facts.bundles[0]?.properties).toMatchObject([{ type: 'olm.package' }, { type: 'olm.gvk', error }])
  })

  test('survives a round trip through JSON, which the cache requires', () => {
    expect(JSON.parse(JSON.stringify(facts))).toEqual(facts)
  })

  test('can have CRLF line endings, lack a final newline, and start with a byte order mark', () => {
    for (const text of [
      catalogYaml.replaceAll('\n', '\r\n'),
      catalogYaml.trimEnd(),
      `\ufeff${catalogYaml.slice(4)}`,
    ]) {
      expect(parseCatalogText(text).loadError).toBeUndefined()
    }
    expect(parseCatalogText(catalogYaml.replaceAll('\n', '\r\n')).channels[0]?.entries).toEqual(
      facts.channels[0]?.entries,
    )
  })
})

describe('a file with many errors', () => {
  const facts = parseCatalogText(`schema: olm.package
name: 1.10
---
- a
---
a: [
---
schema: olm.channel
name: x
entries: [{name: 5, skips: a}]
--- b
# nothing
---
schema: x
`)

  test('has the message of opm for the first error as its load error', () => {
    expect(facts.loadError).toBe(
      'error unmarshaling JSON: while decoding JSON: expected value for key "name" to be a string, got %!t(float64=1.1): 1.1',
    )
  })

  test('gets a finding for every error, with its position', () => {
    expect(formatCatalogFileFindings(facts)).toEqual([
      'field-not-text 2:7',
      'not-an-object 4:1',
      'yaml-syntax 7:1',
      'document-separator 11:1',
      'wrong-field-type 10:18',
      'wrong-field-type 10:28',
      'missing-schema 12:1',
    ])
  })

  test('still produces the blobs that can be read', () => {
    expect(facts.others).toHaveLength(1)
    expect(facts.channels).toHaveLength(1)
  })
})

describe('JSON', () => {
  test('can be a stream of objects', () => {
    expect(
      parseCatalogText('{"schema":"a"} {"schema":"b"}\n{"schema":"c"}').others.map((blob) => blob.schema),
    ).toEqual(['a', 'b', 'c'])
  })

  test('that is invalid is read as YAML, but only in the first two objects', () => {
    expect(parseCatalogText("{'schema': 'a',} ").loadError).toBeUndefined()
    expect(parseCatalogText('{"schema":"a"}\n{"schema":"b",}\n').loadError).toBeUndefined()
    expect(parseCatalogText('{"schema":"a"}{"schema":"b"}{"schema":"c",}').loadError).toBe(
      "invalid character '}' looking for beginning of object key string",
    )
  })

  test.each([
    ['{schema}', "json: offset 2: invalid character 's' looking for beginning of object key string"],
    ['{"schema":"a"}---', "json: offset 16: invalid character '-' in numeric literal"],
    ['{"schema":"a"}\n---', "object '' is missing root schema field"],
    ['{"schema":"a"', 'unexpected EOF'],
    ['{"schema":"a"}{"schema":"b"} null', "object 'null\n' is missing root schema field"],
  ])('%s', (text, message) => {
    expect(parseCatalogText(text).loadError).toBe(message)
  })

  test('reports where a number is too large', () => {
    expect(parseCatalogText('{"schema":"a"}{"schema":"b"}{"schema":"c","a":1e999,"b":[]}').loadError).toBe(
      `json: cannot unmarshal number 1e999 into Go value of type float64 at offset 24 (indicated by <==)
{
    "schema": "c",
    "a": 1e999, <== 
    "b": []
}`,
    )
  })
})

test('a file with 150 errors lists the first hundred and counts the rest', () => {
  const facts = parseCatalogText('- a\n---\n'.repeat(150))
  expect(facts.findings).toHaveLength(101)
  expect(facts.findings.at(-1)).toMatchObject({ rule: 'more-problems', data: { count: 50 } })
})

describe('behavior that was learned from a real opm', () => {
  const line = (bytes: number) => `#${'x'.repeat(bytes - 1)}`

  test.each([
    ['a line that fills the line buffer exactly is read as nothing', line(4096), undefined],
    ['a line that fills the line buffer exactly twice is read as nothing', line(8192), undefined],
    [
      'a line that is one byte shorter than the buffer is read',
      line(4095),
      "object '' is missing root schema field",
    ],
    [
      'a line that is one byte longer than the buffer is read',
      line(4097),
      "object '' is missing root schema field",
    ],
    [
      'a line that fills the buffer and ends with a newline is read',
      `${line(4096)}\n`,
      "object '' is missing root schema field",
    ],
    [
      'a carriage return at the end of the buffer moves to the next chunk',
      `${line(4095)}\r`,
      "object '' is missing root schema field",
    ],
    [
      'a moved carriage return makes a later line fill the buffer exactly',
      `${line(4095)}\r${'x'.repeat(4095)}`,
      undefined,
    ],
    [
      'a separator in a line that fills the buffer is still found',
      `schema: x\n--- ${'x'.repeat(4092)}`,
      `invalid Yaml document separator: ${'x'.repeat(4092)}`,
    ],
    [
      'three bytes after an object are not read as YAML',
      '{"schema": "x"}  #',
      "json: offset 18: invalid character '#' looking for beginning of value",
    ],
    [
      'three bytes after an object and whitespace are not read as YAML',
      '{"schema": "x"}    # c',
      "json: offset 20: invalid character '#' looking for beginning of value",
    ],
    [
      'four bytes after an object and whitespace are read as YAML',
      '{"schema": "x"}    # cd\nschema: z',
      undefined,
    ],
    [
      'text after an object and a replacement character is not read as YAML',
      '{"schema": "x"}\ufffdschema: z\n',
      "json: offset 16: invalid character 'ï' looking for beginning of value",
    ],
  ])('%s', (_, text, loadError) => {
    expect(parseCatalogText(text).loadError).toBe(loadError)
  })

  test('a last line that opm loses is recorded as dropped text', () => {
    const facts = parseCatalogText(`schema: x\n${line(4096)}`)
    expect(facts.loadError).toBeUndefined()
    expect(facts.oddities).toMatchObject([{ kind: 'dropped-text', mark: { line: 2, column: 1 } }])
  })

  test('a number that is out of range is marked at the position that opm finds for it', () => {
    const huge = (object: string) => parseCatalogText(`{"schema":"x"}{"schema":"x"}${object}`).loadError
    const detail = 'json: cannot unmarshal number 1e999 into Go value of type float64'
    expect(huge('{"schema":"x","a":1e999}')).toContain('"a": 1e999\n} <==')
    expect(huge('{"schema":"x","a":1e999\n}')).toContain('"a": 1e999\n <== }')
    // opm searches for the tab, which its formatted JSON does not contain.
    expect(huge('{"schema":"x",\t"a":1e999,"b":1}')).toBe(detail)
  })

  test('the offset of a number out of range counts bytes of the file, even if they are not UTF-8', () => {
    const text = '{"schema":"x"}{"schema":"x"}{"schema":"x","é":"?","a":1e999}'
    const bytes = new TextEncoder().encode(text)
    bytes[bytes.indexOf('?'.charCodeAt(0))] = 0x80
    expect(parseCatalogFile(bytes).loadError).toContain('at offset 33 (indicated')
  })
})

test("a null in a manifest's list of bytes keeps the byte of the manifest before, as in opm", () => {
  const loadErrorOf = (...data: unknown[]) =>
    parseCatalogText(
      JSON.stringify({
        schema: 'olm.bundle',
        properties: data.map((bytes) => ({ type: 'olm.bundle.object', value: { data: bytes } })),
      }),
    ).loadError
  const startOfJson = Buffer.from('{"kind":1}').toString('base64')
  expect(loadErrorOf(startOfJson, [null])).toBeUndefined()
  expect(loadErrorOf([null])).toContain('control characters are not allowed')
  expect(loadErrorOf(startOfJson, [0])).toContain('control characters are not allowed')
})
