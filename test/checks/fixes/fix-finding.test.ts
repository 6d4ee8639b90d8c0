// A fix mends what its finding complains of, in the file's own style: applied, the finding is gone, and nothing new comes.
import { describe, expect, test } from '@jest/globals'
import { parseAllDocuments } from 'yaml'
import { assemble } from '../../../src/catalog/facts/assemble.ts'
import { readFile } from '../../../src/catalog/load/read-file.ts'
import { fixOf } from '../../../src/checks/fixes/fix-finding.ts'
import { validateFully } from '../../../src/checks/validation/validate-fully.ts'
import type { Finding } from '../../../src/findings/finding.ts'
import { fixAsDiff, type Fix } from '../../../src/findings/fix.ts'

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`
const bytesOf = (text: string) => new TextEncoder().encode(text)
const findingsOf = (text: string) =>
  validateFully(assemble([{ path: 'c.yaml', facts: readFile(bytesOf(text)) }]), {}).findings
const rulesOf = (text: string) => [...new Set(findingsOf(text).map(({ rule }) => rule))].sort()

function applied(text: string, { first, last, before, after }: Fix): string {
  const lines = text.split('\n')
  expect(lines.slice(first - 1, last)).toEqual(before)
  return [...lines.slice(0, first - 1), ...after, ...lines.slice(last)].join('\n')
}

const bundle = (version: string) => `---
schema: olm.bundle
package: foo
name: foo.v${version}
image: quay.io/example/foo@${digest}
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
const catalog = (entries: string, ...versions: string[]) => `---
schema: olm.package
name: foo
defaultChannel: stable
---
schema: olm.channel
package: foo
name: stable
entries:
${entries}${versions.map((version) => bundle(version)).join('')}`

/** The same catalog as JSON, a document behind the other. */
function asJson(yaml: string): string {
  return parseAllDocuments(yaml)
    .map((document) => `${JSON.stringify(document.toJS(), null, 4)}\n`)
    .join('')
}

const chain = `  - name: foo.v1.0.0
  - name: foo.v1.1.0
    replaces: foo.v1.0.0
`
const cases: readonly (readonly [rule: string, why: string, text: string, diff: string])[] = [
  [
    'several-heads',
    'the newest replaces the head that is left over',
    catalog(`${chain}  - name: foo.v1.2.0\n    replaces: foo.v1.0.0\n`, '1.0.0', '1.1.0', '1.2.0'),
    '   - name: foo.v1.2.0\n-    replaces: foo.v1.0.0\n+    replaces: foo.v1.1.0',
  ],
  [
    'several-heads',
    'and keeps its quotes and its comment',
    catalog(`${chain}  - name: foo.v1.2.0\n    replaces: 'foo.v1.0.0' # why\n`, '1.0.0', '1.1.0', '1.2.0'),
    "   - name: foo.v1.2.0\n-    replaces: 'foo.v1.0.0' # why\n+    replaces: 'foo.v1.1.0' # why",
  ],
  [
    'several-heads',
    'what replaced nothing gets the edge',
    catalog(`${chain}  - name: foo.v1.2.0\n`, '1.0.0', '1.1.0', '1.2.0'),
    '   - name: foo.v1.2.0\n+    replaces: foo.v1.1.0',
  ],
  [
    'several-heads',
    'where a replaced edge would strand others, the newest skips instead',
    catalog(
      `  - name: foo.v1.0.0\n  - name: foo.v1.1.0\n  - name: foo.v1.2.0\n    replaces: foo.v1.0.0\n`,
      '1.0.0',
      '1.1.0',
      '1.2.0',
    ),
    '     replaces: foo.v1.0.0\n+    skips:\n+      - foo.v1.1.0',
  ],
  [
    'several-heads',
    'ten is newer than nine',
    catalog(`  - name: foo.v1.9.0\n  - name: foo.v1.10.0\n`, '1.9.0', '1.10.0'),
    '   - name: foo.v1.10.0\n+    replaces: foo.v1.9.0',
  ],
  [
    'misspelt-field',
    'the key alone',
    catalog(`  - name: foo.v1.0.0\n  - name: foo.v1.1.0\n    replace: foo.v1.0.0\n`, '1.0.0', '1.1.0'),
    '-    replace: foo.v1.0.0\n+    replaces: foo.v1.0.0',
  ],
  [
    'misspelt-property-type',
    'the type alone',
    `${catalog('  - name: foo.v1.0.0\n', '1.0.0')}  - type: olm.GVK\n    value:\n      group: a.io\n      kind: A\n      version: v1\n`,
    '-  - type: olm.GVK\n+  - type: olm.gvk',
  ],
  [
    'invalid-version',
    'no letter in front',
    catalog('  - name: foo.v1.0.0\n', '1.0.0').replace('version: 1.0.0', 'version: v1.0.0'),
    '       packageName: foo\n-      version: v1.0.0\n+      version: 1.0.0',
  ],
  [
    'invalid-version',
    'one that is missing stands in the name',
    catalog('  - name: foo.v1.0.0\n', '1.0.0').replace('      version: 1.0.0\n', ''),
    '       packageName: foo\n+      version: 1.0.0',
  ],
  [
    'edge-to-nowhere',
    'a slip in the name',
    catalog(`  - name: foo.v1.0.0\n  - name: foo.v1.1.0\n    replaces: fooo.v1.0.0\n`, '1.0.0', '1.1.0'),
    '   - name: foo.v1.1.0\n-    replaces: fooo.v1.0.0\n+    replaces: foo.v1.0.0',
  ],
]

describe.each([
  ['YAML', (text: string) => text],
  ['JSON', asJson],
])('in %s', (format, written) => {
  test.each(cases)('%s: %s', (rule, _why, yaml, diff) => {
    const text = written(yaml)
    const found = findingsOf(text).find((finding) => finding.rule === rule)
    const fix = found && fixOf(found, bytesOf(text))
    if (fix === undefined) throw new Error(`no fix of ${JSON.stringify(found)}`)
    if (format === 'YAML') expect(fixAsDiff(fix).join('\n')).toBe(diff)
    const mended = applied(text, fix)
    expect(rulesOf(mended)).not.toContain(rule)
    expect(rulesOf(mended).filter((each) => !rulesOf(text).includes(each))).toEqual([])
  })
})

describe('a tag', () => {
  const text = catalog('  - name: foo.v1.0.0\n', '1.0.0').replace(`foo@${digest}`, 'foo:v1 # latest')
  const line = text.split('\n').findIndex((each) => each.startsWith('image:')) + 1
  const tagged = (data: object, more: Partial<Finding> = {}): Finding => ({
    ...{ rule: 'image-by-tag', severity: 'warning', what: '', why: '', fix: '' },
    at: { file: 'c.yaml', line, column: 8 },
    data: { reference: 'quay.io/example/foo:v1', ...data },
    ...more,
  })
  test('becomes the digest that it stands for', () => {
    const fix = fixOf(tagged({ digest }), bytesOf(text))
    expect(fix?.after).toEqual([`image: quay.io/example/foo@${digest} # latest`])
  })
  test('of a registry with a port stays with that', () => {
    const ported = text.replace('quay.io/example/foo:v1', 'localhost:5000/foo')
    const fix = fixOf(tagged({ digest, reference: 'localhost:5000/foo' }), bytesOf(ported))
    expect(fix?.after).toEqual([`image: localhost:5000/foo@${digest} # latest`])
  })
  test('has no fix where its digest is not known, or something else stands there', () => {
    expect(fixOf(tagged({}), bytesOf(text))).toBeUndefined()
    expect(fixOf(tagged({ digest, reference: 'quay.io/other:v1' }), bytesOf(text))).toBeUndefined()
    expect(
      fixOf(tagged({ digest }, { at: { file: 'c.yaml', line: 2, column: 1 } }), bytesOf(text)),
    ).toBeUndefined()
  })
})

describe('nothing is guessed', () => {
  const fork = catalog(`${chain}  - name: foo.v1.2.0\n    replaces: foo.v1.0.0\n`, '1.0.0', '1.1.0', '1.2.0')
  const heads = findingsOf(fork).find(({ rule }) => rule === 'several-heads') as Finding
  test.each([
    ['other line ends', fork.replaceAll('\n', '\r\n')],
    ['a byte order mark', `\ufeff${fork}`],
    ['a file that is another by now', fork.replaceAll('foo.v1.2.0', 'foo.v1.3.0')],
    [
      'an edge by alias',
      fork
        .replace('replaces: foo.v1.0.0\n---', 'replaces: *old\n---')
        .replace('name: foo.v1.0.0', 'name: &old foo.v1.0.0'),
    ],
    ['nothing', ''],
  ])('of a file with %s', (_what, text) => {
    expect(fixOf(heads, bytesOf(text))).toBeUndefined()
  })
  test('of a list in one line, which gets no lines between', () => {
    const flow = catalog('  [{name: foo.v1.0.0}, {name: foo.v1.1.0}]\n', '1.0.0', '1.1.0')
    const found = findingsOf(flow).find(({ rule }) => rule === 'several-heads') as Finding
    expect(fixOf(found, bytesOf(flow))).toBeUndefined()
  })
})
