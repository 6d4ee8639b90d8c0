// A manifest says the same, and at the same places, whichever reader reads it.
import { describe, expect, test } from '@jest/globals'
import { createBundleLocator } from '../../../packages/bundle/src/bundle-locator.ts'
import { formatUntypedGoJson, readManifest } from '../../../packages/bundle/src/manifest-document.ts'
import { parseRegularManifest } from '../../../packages/bundle/src/regular-manifest.ts'
import { validateBundle } from '../../../packages/bundle/src/validate-bundle.ts'
import { suiteNames } from '../../../packages/findings/src/suites.ts'
import { SeededRandom, createMutatedDocuments } from '../fbc/go/fast/mutated-documents.ts'

/** Any: the documents are the same in every run. */
const fixedSeed = 16

const encoder = new TextEncoder()

/** The same document with an empty one behind it: only the exact reader takes that. */
const withTrailingSeparator = (bytes: Uint8Array): Uint8Array =>
  Buffer.concat([bytes, encoder.encode('---\n')])

function readFacts(bytes: Uint8Array) {
  const document = readManifest(bytes)
  if (document.kind !== 'value') return { unreadable: true }
  const locations = createBundleLocator(new Map([['a', bytes]]))
  const at = [['metadata', 'name'], ['spec'], ['spec', 'list', 1], ['schema'], ['entries', 0]]
  return {
    text: formatUntypedGoJson(document.value),
    documents: document.documents,
    at: at.map((path) => locations('a', path)),
  }
}

/** Blocks that are written twice are read once, and again only where somebody asks. */
const schemaBlock = (name: string) => `  ${name}:
    openAPIV3Schema:
      type: object
      description: "é <b>"
    items:
    - type: a
    - b: 1
      c: 10
      d: "2"
`
const repeatedBlocks = `apiVersion: v1
kind: ConfigMap
metadata:
  name: x
spec:
${schemaBlock('one')}${schemaBlock('two')}  list:
  - 1
  - "é"
`

describe('a manifest', () => {
  test('with the same block twice is what the exact reader reads', () => {
    const bytes = encoder.encode(repeatedBlocks)
    expect(parseRegularManifest(bytes)).toBeDefined()
    expect(readFacts(bytes)).toEqual(readFacts(withTrailingSeparator(bytes)))
  })

  test('is what the exact reader reads, whatever it looks like', () => {
    const random = new SeededRandom(fixedSeed)
    let fast = 0
    for (let round = 0; round < 300; round++) {
      const bytes = createMutatedDocuments(random)
      const [first] = new TextDecoder('latin1').decode(bytes).split('\n---')
      const one = Buffer.from(`${first}\n`, 'latin1')
      if (parseRegularManifest(one)) fast++
      expect(readFacts(one)).toEqual(readFacts(withTrailingSeparator(one)))
    }
    // Where only the exact reader is asked nothing is shown.
    expect(fast).toBeGreaterThan(100)
  })

  test.each([
    ['behind a space that is none of ASCII', '\u00a0{a: b}'],
    ['behind blanks', '  {"a": "b"}'],
    ['at once', '{"a": "b"}'],
  ])('that begins with a brace is JSON: %s', (_, text) => {
    expect(parseRegularManifest(encoder.encode(text))).toBeUndefined()
  })

  test('of several documents is the first one', () => {
    const bytes = encoder.encode('a: b\n---\nc: d\n')
    expect(parseRegularManifest(bytes)).toBeUndefined()
    expect(readManifest(bytes)).toMatchObject({ documents: 2 })
  })
})

test('a bundle that repeats itself is judged as one that does not', () => {
  const annotations = `annotations:
  operators.operatorframework.io.bundle.mediatype.v1: registry+v1
  operators.operatorframework.io.bundle.manifests.v1: manifests/
  operators.operatorframework.io.bundle.metadata.v1: metadata/
  operators.operatorframework.io.bundle.package.v1: foo
  operators.operatorframework.io.bundle.channels.v1: stable
`
  const version = (name: string) => `  - name: ${name}
    served: true
    storage: ${name === 'v1'}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-preserve-unknown-fields: true
`
  const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foos.example.com
spec:
  group: example.com
  names:
    kind: Foo
    plural: foos
  scope: Namespaced
  versions:
${version('v1')}${version('v2')}${version('v3')}`
  const files = (end: string) =>
    new Map([
      ['manifests/crd.yaml', encoder.encode(crd + end)],
      ['metadata/annotations.yaml', encoder.encode(annotations + end)],
      [
        'metadata/dependencies.yaml',
        encoder.encode(
          `dependencies:\n${'- type: olm.package\n  value:\n    packageName: bar\n    version: ">1"\n'.repeat(3)}${end}`,
        ),
      ],
    ])
  const findings = (end: string) => validateBundle(files(end), { suites: suiteNames }).findings
  expect(findings('')).toEqual(findings('---\n'))
  expect(findings('').length).toBeGreaterThan(0)
})
