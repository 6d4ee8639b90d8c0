import { createHash } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { parsedCatalogFileVersion } from '../../../../packages/fbc/src/facts/catalog.ts'
import { parseCatalogFile } from '../../../../packages/fbc/src/load/parse-catalog-file.ts'
import { renderedYamlDocuments } from '../go/fast/mutated-documents.ts'

/** The digest of the sample facts by version. If it differs, the facts have changed: increase the version, add a line. */
const parsedCatalogFileDigestByVersion: Readonly<Record<number, string>> = {
  1: '8352d6ec006a85a7',
  // Only positions in unusual files changed (huge numbers, lost last lines), which the sample does not contain.
  2: '8352d6ec006a85a7',
  // Only messages about unusual keys and numbers, and the identity of a bundle after a large value, changed.
  3: '8352d6ec006a85a7',
  // The wording of two rules about files that are not part of the catalog.
  4: '756ebe104d5eb800',
  // The wording of the rules about files.
  5: '1e6d43df723831ab',
  // The wording of rules about blobs and files.
  6: '8f292616af8e1cc9',
}

test('changed facts require a new version, so that no cache returns old ones', () => {
  const unusual =
    'nam: foo\nschema: olm.package\nname: foo\ndescription: 4.10\n---\nschema: x\nschema: y\n---\na: [\n'
  const facts = [renderedYamlDocuments.join(''), unusual].map((text) =>
    parseCatalogFile(new TextEncoder().encode(text)),
  )
  const digest = createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 16)
  expect({ version: parsedCatalogFileVersion, digest }).toEqual({
    version: parsedCatalogFileVersion,
    digest: parsedCatalogFileDigestByVersion[parsedCatalogFileVersion],
  })
})
