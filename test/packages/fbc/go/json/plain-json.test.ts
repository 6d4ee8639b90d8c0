// Values in facts: complete at a usual size, and truncated at a limit.
import { describe, expect, test } from '@jest/globals'
import { assembleCatalog } from '../../../../../packages/fbc/src/facts/catalog.ts'
import { toPlainJson } from '../../../../../packages/fbc/src/go/json/json.ts'
import { parseCatalogFile } from '../../../../../packages/fbc/src/load/parse-catalog-file.ts'
import { parseYamlDocumentTree } from '../../../../../packages/fbc/src/go/yaml/read-yaml.ts'
import type { ParsedValue } from '../../../../../packages/fbc/src/go/tree.ts'
import { validateCatalog } from '../../../../../packages/fbc/src/model/validate-catalog.ts'

const encodeText = (text: string) => new TextEncoder().encode(text)
const parseJsonValue = (text: string) => parseYamlDocumentTree(encodeText(text))?.value as ParsedValue

describe('a value in facts', () => {
  test('is complete', () => {
    expect(toPlainJson(parseJsonValue('a: [1, {b: c}]\nd: ~\n'))).toEqual({ a: [1, { b: 'c' }], d: null })
  })

  test.each([
    ['a list', 'a: [' + '1,'.repeat(150_000) + ']\n', 'a'],
    ['a map', 'a: {' + Array.from({ length: 150_000 }, (_, at) => `k${at}: 1`).join(',') + '}\n', 'a'],
  ])('has at most a hundred thousand values of %s', (_, text, key) => {
    const { [key]: shortened } = toPlainJson(parseJsonValue(text)) as Record<string, object>
    expect(Object.keys(shortened ?? {}).length).toBeGreaterThan(90_000)
    expect(Object.keys(shortened ?? {}).length).toBeLessThanOrEqual(100_000)
  })
})

describe('the identity of a bundle', () => {
  test.each([
    ['keys', Array.from({ length: 150_000 }, (_, at) => `    k${at}: v\n`).join('')],
    ['items', `    junk:\n${'    - v\n'.repeat(150_000)}`],
    ['text', `    junk: ${'x'.repeat(5_000_000)}\n`],
  ])('is read after more %s than facts can contain', (_, junk) => {
    const text = `schema: olm.package
name: a
defaultChannel: s
---
schema: olm.channel
package: a
name: s
entries:
- name: a.v1.0.0
---
schema: olm.bundle
package: a
name: a.v1.0.0
image: q.io/a/b:1
properties:
- type: olm.package
  value:
${junk}    packageName: a
    version: 1.0.0
`
    const catalog = assembleCatalog([{ path: 'c.yaml', facts: parseCatalogFile(encodeText(text)) }])
    expect(validateCatalog(catalog, { profile: 'opm' })).toMatchObject({ passed: true })
  })
})
