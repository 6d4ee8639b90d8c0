// A manifest has the same content and positions, regardless of which reader reads it.
import { describe, expect, test } from '@jest/globals'
import {
  formatUntypedObjectAsGoJson,
  readManifest,
  tryParseYamlManifestFast,
  createBundleFieldLocator,
} from '../../../packages/bundle/src/manifest-document.ts'
import { validateBundle } from '../../../packages/bundle/src/validate-bundle.ts'
import { ruleSuiteNames } from '../../../packages/findings/src/rule.ts'
import { SeededRandom, createMutatedDocuments } from '../fbc/go/fast/mutated-documents.ts'

/** An arbitrary seed, so that the documents are the same in every run. */
const fixedRandomSeed = 16

const textEncoder = new TextEncoder()

/** The same document followed by an empty one, which only the exact reader accepts. */
const addTrailingYamlSeparator = (bytes: Uint8Array): Uint8Array =>
  Buffer.concat([bytes, textEncoder.encode('---\n')])

function summarizeManifest(bytes: Uint8Array) {
  const document = readManifest(bytes)
  if (document.kind !== 'value') return { unreadable: true }
  const locations = createBundleFieldLocator(new Map([['a', bytes]]))
  const at = [['metadata', 'name'], ['spec'], ['spec', 'list', 1], ['schema'], ['entries', 0]]
  return {
    text: formatUntypedObjectAsGoJson(document.value),
    documents: document.documents,
    at: at.map((path) => locations('a', path)),
  }
}

/** Repeated blocks are parsed once, and again only on request. */
const createCrdSchemaYaml = (name: string) => `  ${name}:
    openAPIV3Schema:
      type: object
      description: "é <b>"
    items:
    - type: a
    - b: 1
      c: 10
      d: "2"
`
const manifestYamlWithRepeatedSchemas = `apiVersion: v1
kind: ConfigMap
metadata:
  name: x
spec:
${createCrdSchemaYaml('one')}${createCrdSchemaYaml('two')}  list:
  - 1
  - "é"
`

describe('a manifest', () => {
  test('with a repeated block is read as by the exact reader', () => {
    const bytes = textEncoder.encode(manifestYamlWithRepeatedSchemas)
    expect(tryParseYamlManifestFast(bytes)).toBeDefined()
    expect(summarizeManifest(bytes)).toEqual(summarizeManifest(addTrailingYamlSeparator(bytes)))
  })

  test('with random mutations is read as by the exact reader', () => {
    const random = new SeededRandom(fixedRandomSeed)
    let fast = 0
    for (let round = 0; round < 300; round++) {
      const bytes = createMutatedDocuments(random)
      const [first] = new TextDecoder('latin1').decode(bytes).split('\n---')
      const one = Buffer.from(`${first}\n`, 'latin1')
      if (tryParseYamlManifestFast(one)) fast++
      expect(summarizeManifest(one)).toEqual(summarizeManifest(addTrailingYamlSeparator(one)))
    }
    // Documents that only the exact reader accepts prove nothing.
    expect(fast).toBeGreaterThan(100)
  })

  test.each([
    ['after a non-ASCII space', '\u00a0{a: b}'],
    ['after whitespace', '  {"a": "b"}'],
    ['immediately', '{"a": "b"}'],
  ])('that starts with a brace is JSON: %s', (_, text) => {
    expect(tryParseYamlManifestFast(textEncoder.encode(text))).toBeUndefined()
  })

  test('with several documents is left to the exact reader', () => {
    const bytes = textEncoder.encode('a: b\n---\nc: d\n')
    expect(tryParseYamlManifestFast(bytes)).toBeUndefined()
    expect(readManifest(bytes)).toMatchObject({ documents: 2 })
  })
})

test('a bundle with repeated blocks gets the same findings from both readers', () => {
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
      ['manifests/crd.yaml', textEncoder.encode(crd + end)],
      ['metadata/annotations.yaml', textEncoder.encode(annotations + end)],
      [
        'metadata/dependencies.yaml',
        textEncoder.encode(
          `dependencies:\n${'- type: olm.package\n  value:\n    packageName: bar\n    version: ">1"\n'.repeat(3)}${end}`,
        ),
      ],
    ])
  const findings = (end: string) => validateBundle(files(end), { suites: ruleSuiteNames }).findings
  expect(findings('')).toEqual(findings('---\n'))
  expect(findings('').length).toBeGreaterThan(0)
})
