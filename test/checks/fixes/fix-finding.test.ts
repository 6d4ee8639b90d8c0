// A fix resolves its finding in the style of the file. The fixed file has neither this finding nor new ones.
import { describe, expect, test } from '@jest/globals'
import { parseAllDocuments } from 'yaml'
import { assembleCatalog } from '../../../packages/fbc/src/facts/catalog.ts'
import { parseCatalogFile } from '../../../packages/fbc/src/load/parse-catalog-file.ts'
import { computeFindingFix } from '../../../src/checks/fixes/fix-finding.ts'
import { validateCatalogWithAllRules } from '../../../src/checks/validation/validate-fully.ts'
import { type Finding, formatFixAsDiff, type SuggestedFix } from '../../../packages/findings/src/finding.ts'

const imageDigest = `sha256:${'0123456789abcdef'.repeat(4)}`
const encodeText = (text: string) => new TextEncoder().encode(text)
const findCatalogFindings = (text: string) =>
  validateCatalogWithAllRules(
    assembleCatalog([{ path: 'c.yaml', facts: parseCatalogFile(encodeText(text)) }]),
    {},
  ).findings
const listRuleIds = (text: string) => [...new Set(findCatalogFindings(text).map(({ rule }) => rule))].sort()

function applyFixToText(text: string, { first, last, before, after }: SuggestedFix): string {
  const lines = text.split('\n')
  expect(lines.slice(first - 1, last)).toEqual(before)
  return [...lines.slice(0, first - 1), ...after, ...lines.slice(last)].join('\n')
}

const createBundleYaml = (version: string) => `---
schema: olm.bundle
package: foo
name: foo.v${version}
image: quay.io/example/foo@${imageDigest}
properties:
  - type: olm.package
    value:
      packageName: foo
      version: ${version}
  - type: olm.csv.metadata
    value:
      displayName: Foo
      installModes: [{type: AllNamespaces, supported: true}]
`
const catalogYaml = (entries: string) => `---
schema: olm.package
name: foo
defaultChannel: stable
---
schema: olm.channel
package: foo
name: stable
entries:
${entries}${[...entries.matchAll(/name: foo\.v([\d.]+)/g)].map(([, version = '']) => createBundleYaml(version)).join('')}`

/** The same catalog as JSON, one document after another. */
function convertYamlToJson(yaml: string): string {
  return parseAllDocuments(yaml)
    .map((document) => `${JSON.stringify(document.toJS(), null, 4)}\n`)
    .join('')
}

const replacesChainYaml = `  - name: foo.v1.0.0
  - name: foo.v1.1.0
    replaces: foo.v1.0.0
`
const suggestedFixCases: readonly (readonly [rule: string, why: string, text: string, diff: string])[] = [
  [
    'several-heads',
    'the newest replaces the head that is left over',
    catalogYaml(`${replacesChainYaml}  - name: foo.v1.2.0\n    replaces: foo.v1.0.0\n`),
    '   - name: foo.v1.2.0\n-    replaces: foo.v1.0.0\n+    replaces: foo.v1.1.0',
  ],
  [
    'several-heads',
    'and keeps its quotes and its comment',
    catalogYaml(`${replacesChainYaml}  - name: foo.v1.2.0\n    replaces: 'foo.v1.0.0' # why\n`),
    "   - name: foo.v1.2.0\n-    replaces: 'foo.v1.0.0' # why\n+    replaces: 'foo.v1.1.0' # why",
  ],
  [
    'several-heads',
    'what replaced nothing gets the edge',
    catalogYaml(`${replacesChainYaml}  - name: foo.v1.2.0\n`),
    '   - name: foo.v1.2.0\n+    replaces: foo.v1.1.0',
  ],
  [
    'several-heads',
    'where a replaced edge would strand others, the newest skips instead',
    catalogYaml(
      `  - name: foo.v1.0.0\n  - name: foo.v1.1.0\n  - name: foo.v1.2.0\n    replaces: foo.v1.0.0\n`,
    ),
    '     replaces: foo.v1.0.0\n+    skips:\n+      - foo.v1.1.0',
  ],
  [
    'several-heads',
    'ten is newer than nine',
    catalogYaml(`  - name: foo.v1.9.0\n  - name: foo.v1.10.0\n`),
    '   - name: foo.v1.10.0\n+    replaces: foo.v1.9.0',
  ],
  [
    'misspelt-field',
    'the key alone',
    catalogYaml(`  - name: foo.v1.0.0\n  - name: foo.v1.1.0\n    replace: foo.v1.0.0\n`),
    '-    replace: foo.v1.0.0\n+    replaces: foo.v1.0.0',
  ],
  [
    'misspelt-property-type',
    'the type alone',
    `${catalogYaml('  - name: foo.v1.0.0\n')}  - type: olm.GVK\n    value:\n      group: a.io\n      kind: A\n      version: v1\n`,
    '-  - type: olm.GVK\n+  - type: olm.gvk',
  ],
  [
    'invalid-version',
    'no letter in front',
    catalogYaml('  - name: foo.v1.0.0\n').replace('version: 1.0.0', 'version: v1.0.0'),
    '       packageName: foo\n-      version: v1.0.0\n+      version: 1.0.0',
  ],
  [
    'invalid-version',
    'one that is missing stands in the name',
    catalogYaml('  - name: foo.v1.0.0\n').replace('      version: 1.0.0\n', ''),
    '       packageName: foo\n+      version: 1.0.0',
  ],
  [
    'edge-to-nowhere',
    'a slip in the name',
    catalogYaml(`  - name: foo.v1.0.0\n  - name: foo.v1.1.0\n    replaces: fooo.v1.0.0\n`),
    '   - name: foo.v1.1.0\n-    replaces: fooo.v1.0.0\n+    replaces: foo.v1.0.0',
  ],
]

describe.each([
  ['YAML', (text: string) => text],
  ['JSON', convertYamlToJson],
])('in %s', (format, written) => {
  test.each(suggestedFixCases)('%s: %s', (rule, _why, yaml, diff) => {
    const text = written(yaml)
    const found = findCatalogFindings(text).find((finding) => finding.rule === rule)
    const fix = found && computeFindingFix(found, encodeText(text))
    if (fix === undefined) throw new Error(`no fix of ${JSON.stringify(found)}`)
    if (format === 'YAML') expect(formatFixAsDiff(fix).join('\n')).toBe(diff)
    const fixedText = applyFixToText(text, fix)
    expect(listRuleIds(fixedText)).not.toContain(rule)
    expect(listRuleIds(fixedText).filter((each) => !listRuleIds(text).includes(each))).toEqual([])
  })
})

describe('a tag', () => {
  const text = catalogYaml('  - name: foo.v1.0.0\n').replace(`foo@${imageDigest}`, 'foo:v1 # latest')
  const line = text.split('\n').findIndex((each) => each.startsWith('image:')) + 1
  const tagged = (data: object, more: Partial<Finding> = {}): Finding => ({
    ...{ rule: 'image-by-tag', severity: 'warning', what: '', why: '', fix: '' },
    at: { file: 'c.yaml', line, column: 8 },
    data: { reference: 'quay.io/example/foo:v1', ...data },
    ...more,
  })
  test('is replaced by the digest that it refers to', () => {
    const fix = computeFindingFix(tagged({ digest: imageDigest }), encodeText(text))
    expect(fix?.after).toEqual([`image: quay.io/example/foo@${imageDigest} # latest`])
  })
  test('of a registry with a port keeps the port', () => {
    const ported = text.replace('quay.io/example/foo:v1', 'localhost:5000/foo')
    const fix = computeFindingFix(
      tagged({ digest: imageDigest, reference: 'localhost:5000/foo' }),
      encodeText(ported),
    )
    expect(fix?.after).toEqual([`image: localhost:5000/foo@${imageDigest} # latest`])
  })
  test('has no fix if its digest is unknown, or if the line contains something else', () => {
    expect(computeFindingFix(tagged({}), encodeText(text))).toBeUndefined()
    expect(
      computeFindingFix(tagged({ digest: imageDigest, reference: 'quay.io/other:v1' }), encodeText(text)),
    ).toBeUndefined()
    expect(
      computeFindingFix(
        tagged({ digest: imageDigest }, { at: { file: 'c.yaml', line: 2, column: 1 } }),
        encodeText(text),
      ),
    ).toBeUndefined()
  })
})

describe('there is no fix', () => {
  const fork = catalogYaml(`${replacesChainYaml}  - name: foo.v1.2.0\n    replaces: foo.v1.0.0\n`)
  const heads = findCatalogFindings(fork).find(({ rule }) => rule === 'several-heads') as Finding
  test.each([
    ['other line endings', fork.replaceAll('\n', '\r\n')],
    ['a byte order mark', `\ufeff${fork}`],
    ['another version by now', fork.replaceAll('foo.v1.2.0', 'foo.v1.3.0')],
    [
      'an edge that is an alias',
      fork
        .replace('replaces: foo.v1.0.0\n---', 'replaces: *old\n---')
        .replace('name: foo.v1.0.0', 'name: &old foo.v1.0.0'),
    ],
    ['no content', ''],
  ])('for a file with %s', (_what, text) => {
    expect(computeFindingFix(heads, encodeText(text))).toBeUndefined()
  })
  test('for a list on one line', () => {
    const flow = catalogYaml('  [{name: foo.v1.0.0}, {name: foo.v1.1.0}]\n')
    const found = findCatalogFindings(flow).find(({ rule }) => rule === 'several-heads') as Finding
    expect(computeFindingFix(found, encodeText(flow))).toBeUndefined()
  })
})
