import { expect, test } from '@jest/globals'
import { parseCatalogFile } from '../../../../../packages/fbc/src/load/parse-catalog-file.ts'

const textEncoder = new TextEncoder()
const yamlDocumentPrefix = '---\nname: foo\nschema: olm.package\ndescription: '

/** Two million bytes of each, which must not take longer than two million bytes of a real catalog. */
const documentSizeBytes = 2_000_000

test.each([
  ['a plain scalar', `${yamlDocumentPrefix}${'a'.repeat(documentSizeBytes)}\n`],
  ['a plain scalar of many lines', `${yamlDocumentPrefix}a\n${'  b\n'.repeat(documentSizeBytes / 4)}`],
  ['a plain scalar of words', `${yamlDocumentPrefix}${'a '.repeat(documentSizeBytes / 2)}a\n`],
  ['a double-quoted scalar of escapes', `${yamlDocumentPrefix}"${'\\n'.repeat(documentSizeBytes / 2)}"\n`],
  ['a double-quoted scalar of lines', `${yamlDocumentPrefix}"${'a\n  '.repeat(documentSizeBytes / 4)}"\n`],
  ['a double-quoted scalar of spaces', `${yamlDocumentPrefix}"${' '.repeat(documentSizeBytes)}"\n`],
  ['a single-quoted scalar of quotes', `${yamlDocumentPrefix}'${"''".repeat(documentSizeBytes / 2)}'\n`],
  ['a literal scalar of spaces', `${yamlDocumentPrefix}|\n  a\n${'    \n'.repeat(documentSizeBytes / 5)}`],
  ['a literal scalar of lines', `${yamlDocumentPrefix}|\n${'  a\n'.repeat(documentSizeBytes / 4)}`],
  ['separators', '---\na: b\n'.repeat(documentSizeBytes / 80)],
  ['documents for the exact reader', '---\na: &x b\n'.repeat(documentSizeBytes / 200)],
  ['blank lines after the last document', `---\nschema: x\n...\n${'\n'.repeat(documentSizeBytes)}`],
  ['comments', `${yamlDocumentPrefix}a\n${'# a\n'.repeat(documentSizeBytes / 4)}`],
  [
    'manifests of brackets only',
    `---\nschema: olm.bundle\nproperties:\n- type: olm.bundle.object\n  value:\n    data: ${btoa(`{"a":${'['.repeat(documentSizeBytes / 2)}`)}\n`,
  ],
])('a document that attacks the fast reader is read in linear time: %s', (_name, text) => {
  const bytes = textEncoder.encode(text)
  const seconds = (exact: boolean): number => {
    const started = process.threadCpuUsage()
    const facts = parseCatalogFile(bytes, { exact })
    const { user } = process.threadCpuUsage(started)
    expect(facts.bytes).toBe(bytes.length)
    return user / 1e6
  }
  // Quadratic behavior takes minutes; a slow machine takes a second.
  expect(seconds(false)).toBeLessThan(6)
  expect(seconds(true)).toBeLessThan(6)
})
