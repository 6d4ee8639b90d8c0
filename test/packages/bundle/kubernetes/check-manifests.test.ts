import { describe, expect, test } from '@jest/globals'
import {
  toCanonicalQuantity,
  isQuantity,
} from '../../../../packages/bundle/src/kubernetes/coerce-to-schema.ts'
import { checkManifests, checkCsvExamples } from '../../../../packages/bundle/src/check-install.ts'
import { createBundleFiles, createCrd } from '../sample-bundles.ts'

function findProblems(files: Record<string, unknown>, spec: Record<string, unknown> = {}): readonly string[] {
  const shape = { files, spec: { install: { strategy: 'deployment', spec: { deployments: [] } }, ...spec } }
  return checkManifests(createBundleFiles('foo', shape)).map(
    ({ rule, at, data }) => `${rule} ${at?.file}:${at?.line} ${String(data?.['field'])}`,
  )
}

describe('manifests against Kubernetes’ schemas', () => {
  test('reports an unknown field, a wrong type, and a missing field with their lines', () => {
    const role = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: a
  label: {}
rules:
  - verbs: get
  - apiGroups: ['']
`
    expect(findProblems({ 'manifests/role.yaml': role })).toEqual([
      'unknown-manifest-field manifests/role.yaml:5 metadata.label',
      'mistyped-manifest-field manifests/role.yaml:7 rules[0].verbs',
      'missing-manifest-field manifests/role.yaml:8 rules[1].verbs',
    ])
  })

  test('checks later documents and list items, each at its line', () => {
    const two = `apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: ConfigMap
    metadata: {name: b}
    dada: {}
`
    expect(findProblems({ 'manifests/two.yaml': two })).toEqual([
      'unknown-manifest-field manifests/two.yaml:11 dada',
    ])
  })

  const createSpecWithContainer = (container: object) => {
    const spec = { selector: {}, template: { spec: { containers: [container] } } }
    return { install: { strategy: 'deployment', spec: { deployments: [{ name: 'a', spec }] } } }
  }

  test('checks the deployments of a ClusterServiceVersion within it', () => {
    const spec = createSpecWithContainer({ name: 'c', imagePolicy: 1 })
    expect(findProblems({}, spec).map((text) => text.split(' ').at(-1))).toEqual([
      'spec.install.spec.deployments[0].spec.template.spec.containers[0].imagePolicy',
    ])
  })

  test('does not repeat what opm rejects, and ignores kinds of other APIs', () => {
    const ofOtherApi = { 'manifests/a.yaml': { apiVersion: 'x.io/v1', kind: 'Thing', metadata: 1 } }
    expect(findProblems(ofOtherApi, createSpecWithContainer({ name: 'c', image: 1 }))).toEqual([])
  })

  test.each([
    ['1000m', '1'],
    ['1024Mi', '1Gi'],
    ['0.5', '500m'],
    ['1.5Gi', '1536Mi'],
    ['1e3', '1e3'],
    ['0.0000000001', '1n'],
    ['-2', '-2'],
    ['0', '0'],
  ])('the quantity %s has the canonical form %s', (text, canonical) => {
    expect(toCanonicalQuantity(text)).toBe(canonical)
  })

  test.each(['', 'a', '1 Gi', '1gi', '1e', '--1', '.', '1e99999'])('%j is not a quantity', (text) => {
    expect(isQuantity(text)).toBe(false)
  })
})

test('checks examples against the schema of their version, and those of other APIs against none', () => {
  const definition = createCrd('foos', 'example.com', 'Foo', ['v1'])
  const schema = { type: 'object', properties: { spec: { type: 'object', required: ['a'], properties: {} } } }
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }]
  const example = (apiVersion: string) => ({ apiVersion, kind: 'Foo', metadata: { name: 'x' }, spec: {} })
  const files = createBundleFiles('foo', {
    metadata: {
      annotations: { 'alm-examples': JSON.stringify([example('example.com/v1'), example('other.com/v1')]) },
    },
    files: { 'manifests/crd.yaml': { ...definition, spec: { ...definition.spec, versions } } },
  })
  expect(checkCsvExamples(files).map(({ data }) => data)).toEqual([
    { example: 'Foo x', problem: 'spec does not set "a", which the schema requires' },
  ])
})
