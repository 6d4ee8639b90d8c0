// Values as facts keep them: whole where they are of a size that people write, cut off where they are not.
import { describe, expect, test } from '@jest/globals'
import { assemble } from '../../../src/catalog/facts/assemble.ts'
import { plainJson } from '../../../src/go/json/plain-json.ts'
import { readFile } from '../../../src/catalog/load/read-file.ts'
import { readTree } from '../../../src/go/read-tree.ts'
import type { Value } from '../../../src/go/tree.ts'
import { validateCatalog } from '../../../src/catalog/model/validate-catalog.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const valueOf = (text: string) => readTree(bytes(text))?.value as Value

describe('a value as data', () => {
  test('is the whole value', () => {
    expect(plainJson(valueOf('a: [1, {b: c}]\nd: ~\n'))).toEqual({ a: [1, { b: 'c' }], d: null })
  })

  test.each([
    ['a list', 'a: [' + '1,'.repeat(150_000) + ']\n', 'a'],
    ['a map', 'a: {' + Array.from({ length: 150_000 }, (_, at) => `k${at}: 1`).join(',') + '}\n', 'a'],
  ])('holds no more of %s than a hundred thousand values', (_, text, key) => {
    const { [key]: kept } = plainJson(valueOf(text)) as Record<string, object>
    expect(Object.keys(kept ?? {}).length).toBeGreaterThan(90_000)
    expect(Object.keys(kept ?? {}).length).toBeLessThanOrEqual(100_000)
  })
})

describe("the identity that opm's verdict rests on", () => {
  test.each([
    ['keys', Array.from({ length: 150_000 }, (_, at) => `    k${at}: v\n`).join('')],
    ['items', `    junk:\n${'    - v\n'.repeat(150_000)}`],
    ['text', `    junk: ${'x'.repeat(5_000_000)}\n`],
  ])('is read behind more %s than facts keep', (_, junk) => {
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
    const catalog = assemble([{ path: 'c.yaml', facts: readFile(bytes(text)) }])
    expect(validateCatalog(catalog, { profile: 'opm' })).toMatchObject({ passed: true })
  })
})
