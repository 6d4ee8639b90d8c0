// One file's bytes to facts: where documents begin and end, what opm says of the first mistake, and what we say of all.
import { describe, expect, test } from '@jest/globals'
import { parseCatalogFile } from '../../../../packages/fbc/src/load/parse-catalog-file.ts'
import type { FileFacts } from '../../../../packages/fbc/src/facts/catalog.ts'

function readText(text: string): FileFacts {
  return parseCatalogFile(new TextEncoder().encode(text))
}

function listBlobs(facts: FileFacts): string[] {
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
  const facts = readText(catalogYaml)

  test.each([
    [
      'read fast',
      catalogYaml.replace('skips: [foo.v1.0.1, ]', 'skips: []').replace(/value: \{(.*)\}/g, 'value:\n    $1'),
    ],
    ['read exactly', catalogYaml],
    ['of JSON', '{"schema":"olm.package","name":"foo","description":"d\\u0041"}\n{"schema":"olm.package"}'],
    [
      'with mistakes',
      catalogYaml.replace('name: stable', 'name: [stable]').replace('schema: custom', 'name: {'),
    ],
  ])('gives facts that need its bytes no longer: %s', (_, text) => {
    for (const forVerdict of [false, true]) {
      const bytes = new TextEncoder().encode(text)
      const before = parseCatalogFile(bytes, { forVerdict })
      const copy = JSON.stringify(before)
      bytes.fill(0)
      expect(JSON.stringify(before)).toBe(copy)
      expect(copy).toBe(JSON.stringify(parseCatalogFile(new TextEncoder().encode(text), { forVerdict })))
    }
  })

  test('gives its blobs with the places where they stand', () => {
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

  test('says which bytes a document has', () => {
    const { start, end } = facts.channels[0]?.place ?? { start: 0, end: 0 }
    const bytes = new TextEncoder().encode(catalogYaml)
    expect(new TextDecoder().decode(bytes.subarray(start, end))).toMatch(
      /^schema: olm.channel[^]*foo.v1.0.1, \]\n$/,
    )
  })

  test('keeps the reason why a property cannot be decoded, for opm complains of it only later', () => {
    const error = 'json: cannot unmarshal number into Go struct field GVK.group of type string'
    expect(facts.bundles[0]?.properties).toMatchObject([{ type: 'olm.package' }, { type: 'olm.gvk', error }])
  })

  test('survives a trip through JSON, as the cache needs', () => {
    expect(JSON.parse(JSON.stringify(facts))).toEqual(facts)
  })

  test('may end its lines in CR LF, or not at all, and begin with a byte order mark', () => {
    for (const text of [
      catalogYaml.replaceAll('\n', '\r\n'),
      catalogYaml.trimEnd(),
      `\ufeff${catalogYaml.slice(4)}`,
    ]) {
      expect(readText(text).loadError).toBeUndefined()
    }
    expect(readText(catalogYaml.replaceAll('\n', '\r\n')).channels[0]?.entries).toEqual(
      facts.channels[0]?.entries,
    )
  })
})

describe('of many mistakes', () => {
  const facts = readText(`schema: olm.package
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

  test('opm names the first', () => {
    expect(facts.loadError).toBe(
      'error unmarshaling JSON: while decoding JSON: expected value for key "name" to be a string, got %!t(float64=1.1): 1.1',
    )
  })

  test('we name all, each at its place', () => {
    expect(listBlobs(facts)).toEqual([
      'field-not-text 2:7',
      'not-an-object 4:1',
      'yaml-syntax 7:1',
      'document-separator 11:1',
      'wrong-field-type 10:18',
      'wrong-field-type 10:28',
      'missing-schema 12:1',
    ])
  })

  test('what can be read is read', () => {
    expect(facts.others).toHaveLength(1)
    expect(facts.channels).toHaveLength(1)
  })
})

describe('JSON', () => {
  test('may be a stream of objects', () => {
    expect(
      readText('{"schema":"a"} {"schema":"b"}\n{"schema":"c"}').others.map((blob) => blob.schema),
    ).toEqual(['a', 'b', 'c'])
  })

  test('that is none is read as YAML, but only in the first two objects', () => {
    expect(readText("{'schema': 'a',} ").loadError).toBeUndefined()
    expect(readText('{"schema":"a"}\n{"schema":"b",}\n').loadError).toBeUndefined()
    expect(readText('{"schema":"a"}{"schema":"b"}{"schema":"c",}').loadError).toBe(
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
    expect(readText(text).loadError).toBe(message)
  })

  test('shows where a number is too large', () => {
    expect(readText('{"schema":"a"}{"schema":"b"}{"schema":"c","a":1e999,"b":[]}').loadError).toBe(
      `json: cannot unmarshal number 1e999 into Go value of type float64 at offset 24 (indicated by <==)
{
    "schema": "c",
    "a": 1e999, <== 
    "b": []
}`,
    )
  })
})

test('a file of nothing but mistakes lists a hundred and counts the rest', () => {
  const facts = readText('- a\n---\n'.repeat(150))
  expect(facts.findings).toHaveLength(101)
  expect(facts.findings.at(-1)).toMatchObject({ rule: 'more-problems', data: { count: 50 } })
})

describe('what only a real opm taught', () => {
  const line = (bytes: number) => `#${'x'.repeat(bytes - 1)}`

  test.each([
    ['a file of one line that fills the line reader just so says nothing', line(4096), undefined],
    ['and one of twice that length', line(8192), undefined],
    ['one byte less is read', line(4095), "object '' is missing root schema field"],
    ['one byte more, too', line(4097), "object '' is missing root schema field"],
    ['and one that ends', `${line(4096)}\n`, "object '' is missing root schema field"],
    [
      'a carriage return waits for the next piece',
      `${line(4095)}\r`,
      "object '' is missing root schema field",
    ],
    ['so that the pieces shift', `${line(4095)}\r${'x'.repeat(4095)}`, undefined],
    [
      'a separator is seen all the same',
      `schema: x\n--- ${'x'.repeat(4092)}`,
      `invalid Yaml document separator: ${'x'.repeat(4092)}`,
    ],
    [
      'the decoder does not look behind the last three bytes for YAML',
      '{"schema": "x"}  #',
      "json: offset 18: invalid character '#' looking for beginning of value",
    ],
    [
      'nor where blanks lead there',
      '{"schema": "x"}    # c',
      "json: offset 20: invalid character '#' looking for beginning of value",
    ],
    ['but with a byte more', '{"schema": "x"}    # cd\nschema: z', undefined],
    [
      'nor behind what is no character',
      '{"schema": "x"}\ufffdschema: z\n',
      "json: offset 16: invalid character 'ï' looking for beginning of value",
    ],
  ])('%s', (_, text, loadError) => {
    expect(readText(text).loadError).toBe(loadError)
  })

  test('a lost last line is kept as dropped text', () => {
    const facts = readText(`schema: x\n${line(4096)}`)
    expect(facts.loadError).toBeUndefined()
    expect(facts.oddities).toMatchObject([{ kind: 'dropped-text', mark: { line: 2, column: 1 } }])
  })

  test('a number beyond all bounds is marked where opm finds the place again', () => {
    const huge = (object: string) => readText(`{"schema":"x"}{"schema":"x"}${object}`).loadError
    const detail = 'json: cannot unmarshal number 1e999 into Go value of type float64'
    expect(huge('{"schema":"x","a":1e999}')).toContain('"a": 1e999\n} <==')
    expect(huge('{"schema":"x","a":1e999\n}')).toContain('"a": 1e999\n <== }')
    // It looks for the tab, which its own layout does not have.
    expect(huge('{"schema":"x",\t"a":1e999,"b":1}')).toBe(detail)
  })

  test('and counted in bytes of the file, whether they are UTF-8 or not', () => {
    const text = '{"schema":"x"}{"schema":"x"}{"schema":"x","é":"?","a":1e999}'
    const bytes = new TextEncoder().encode(text)
    bytes[bytes.indexOf('?'.charCodeAt(0))] = 0x80
    expect(parseCatalogFile(bytes).loadError).toContain('at offset 33 (indicated')
  })
})
