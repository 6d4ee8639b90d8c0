import { describe, expect, test } from '@jest/globals'
import { assembleCatalog } from '../../../../packages/fbc/src/facts/catalog.ts'
import { createFieldPathLocator } from '../../../../packages/fbc/src/positions/locate-path.ts'
import { parseCatalogFile } from '../../../../packages/fbc/src/load/parse-catalog-file.ts'

const encodeText = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('the location of a path in a document', () => {
  const text = 'schema: a\n---\nschema: b\nname: "ü"\nlist:\n- x: 1\n- X: {w: z}\n'
  const bytes = encodeText(text)
  const [, second] = parseCatalogFile(bytes).others
  const at = (...path: (string | number)[]): object =>
    createFieldPathLocator(bytes, second?.place.start ?? 0, second?.place.end ?? 0)(path)

  test('spans the name and the value of a field', () => {
    expect(at('name')).toEqual({ line: 4, column: 1, endLine: 4, endColumn: 10 })
    expect(at('list', 1, 'x', 'w')).toEqual({ line: 7, column: 7, endLine: 7, endColumn: 11 })
  })

  test('is that of the closest existing ancestor if the path does not exist', () => {
    expect(at('list', 0, 'nothing')).toEqual(at('list', 0))
    expect(at('list', 5)).toEqual(at('list'))
  })

  test('is found in a JSON document that starts in the middle of a line', () => {
    const json = encodeText('{"schema":"ü"} {"schema":"b","name":"c"}')
    const location = parseCatalogFile(json).others[1]?.place
    expect(createFieldPathLocator(json, location?.start ?? 0, location?.end ?? 0)(['name'])).toMatchObject({
      line: 1,
      column: 30,
    })
  })

  test('is the first line if the document is invalid', () => {
    expect(createFieldPathLocator(encodeText('a: ['), 0, 4)(['a'])).toEqual({ line: 1, column: 1 })
  })
})

test('an assembled catalog is in walk order and lists its files', () => {
  const facts = parseCatalogFile(encodeText('schema: olm.package\nname: a\n'))
  const broken = parseCatalogFile(encodeText('- a\n'))
  const catalog = assembleCatalog([
    { path: 'b.yaml', facts: broken },
    { path: 'a/c.yaml', facts },
    { path: 'a.yaml', facts },
  ])
  expect(catalog.packages.map((blob) => blob.place.file)).toEqual(['a/c.yaml', 'a.yaml'])
  expect(catalog.loadErrors.map((error) => error.file)).toEqual(['b.yaml'])
  expect(catalog.findings[0]?.at).toMatchObject({ file: 'b.yaml', line: 1 })
  expect(catalog.files).toEqual([
    { path: 'a/c.yaml', bytes: 28 },
    { path: 'a.yaml', bytes: 28 },
    { path: 'b.yaml', bytes: 4 },
  ])
})
