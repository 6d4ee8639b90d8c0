// Catalogs are assembled from the facts of their files.
import { expect, test } from '@jest/globals'
import { assembleCatalog } from '../../../../packages/fbc/src/facts/catalog.ts'
import { parseCatalogFile } from '../../../../packages/fbc/src/load/parse-catalog-file.ts'

const parse = (name: string) =>
  parseCatalogFile(new TextEncoder().encode(`schema: olm.package\nname: ${name}\n`))

test('two catalogs share the blobs of a file at the same path, and only those', () => {
  const same = parse('same')
  const [base, result, moved] = [
    assembleCatalog([
      { path: 'a.yaml', facts: parse('old') },
      { path: 'b.yaml', facts: same },
    ]),
    assembleCatalog([
      { path: 'a.yaml', facts: parse('new') },
      { path: 'b.yaml', facts: same },
    ]),
    assembleCatalog([
      { path: 'b.yaml', facts: same },
      { path: 'c.yaml', facts: same },
    ]),
  ]
  expect(result.packages.map(({ name }) => name)).toEqual(['new', 'same'])
  expect(result.packages[1]).toBe(base.packages[1])
  expect(moved.packages.map(({ place }) => place.file)).toEqual(['b.yaml', 'c.yaml'])
  expect(base.packages.map(({ place }) => place.file)).toEqual(['a.yaml', 'b.yaml'])
})
