import { expect, test } from '@jest/globals'
import {
  checkCrdUpgrade,
  compareKubeApiVersions,
} from '../../../../packages/bundle/src/upgrade/check-crd-upgrade.ts'
import type { Json } from '../../../../packages/fbc/src/go/json/json.ts'
import { createBundleFiles } from '../sample-bundles.ts'

interface TestCrdVersion {
  readonly name: string
  readonly served?: boolean
  readonly stored?: boolean
  readonly field?: Json
}

function bundleWith(
  versions: readonly TestCrdVersion[],
  { scope = 'Namespaced', webhooks = [] as Json[] } = {},
) {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'foos.example.com' },
    spec: {
      ...{ group: 'example.com', scope, names: { plural: 'foos', kind: 'Foo' } },
      versions: versions.map(({ name, served = true, stored = false, field = { type: 'string' } }) => ({
        ...{ name, served, storage: stored },
        schema: { openAPIV3Schema: { type: 'object', properties: { f: field } } },
      })),
    },
  }
  return createBundleFiles('foo', {
    spec: { webhookdefinitions: webhooks },
    files: { 'manifests/crd.yaml': versions.length === 0 ? undefined : definition },
  })
}

function findCrdUpgradeProblems(
  before: ReturnType<typeof bundleWith>,
  after: ReturnType<typeof bundleWith>,
): readonly string[] {
  return checkCrdUpgrade(before, after).map(({ data }) => String(data?.['problem']))
}

const createVersion = (field?: Json): readonly TestCrdVersion[] => [
  { name: 'v1', stored: true, ...(field !== undefined && { field }) },
]

test.each<[claim: string, before: Json, after: Json, message: string]>([
  ['a changed type', { type: 'string' }, { type: 'integer' }, 'type: type changed : "string" -> "integer"'],
  ['a narrowed enum', { enum: ['a', 'b'] }, { enum: ['a'] }, 'enum: allowed enum values removed : ["b"]'],
  ['a new required field', {}, { required: ['x'] }, 'required: new required fields: [x]'],
  ['a lower maximum', { maxLength: 5 }, { maxLength: 4 }, 'maxLength: maximum decreased : 5 -> 4'],
  ['another default', { default: 1 }, { default: 2 }, 'default: default value changed : "1" -> "2"'],
  ['an unknown field', {}, { format: 'date' }, 'unhandled: unhandled changes found (format)'],
])('%s breaks an upgrade', (_claim, before, after, message) => {
  expect(findCrdUpgradeProblems(bundleWith(createVersion(before)), bundleWith(createVersion(after)))).toEqual(
    [`v1: ^.f: ${message}`],
  )
  expect(
    findCrdUpgradeProblems(bundleWith(createVersion(before)), bundleWith(createVersion(before))),
  ).toEqual([])
})

test('descriptions may change, and enums may grow', () => {
  const before = bundleWith(createVersion({ type: 'string', enum: ['a'], description: 'x' }))
  expect(
    findCrdUpgradeProblems(
      before,
      bundleWith(createVersion({ type: 'string', enum: ['a', 'b'], description: 'y' })),
    ),
  ).toEqual([])
})

test('a removed CRD, stored version, or served version, and a changed scope break an upgrade', () => {
  const before = bundleWith([...createVersion(), { name: 'v1alpha1' }])
  expect(findCrdUpgradeProblems(before, bundleWith([]))).toHaveLength(1)
  expect(findCrdUpgradeProblems(before, bundleWith(createVersion()))).toEqual([
    'version v1alpha1 is no longer served',
  ])
  expect(findCrdUpgradeProblems(before, bundleWith([{ name: 'v1alpha1', stored: true }]))).toEqual([
    'storedVersionRemoval: stored versions removed : [v1]',
  ])
  expect(
    findCrdUpgradeProblems(bundleWith(createVersion()), bundleWith(createVersion(), { scope: 'Cluster' })),
  ).toEqual(['scope: scope changed : "Namespaced" -> "Cluster"'])
})

test('versions served together must be compatible, unless a webhook of the bundle converts them', () => {
  const next = [...createVersion(), { name: 'v2', field: { type: 'integer' } }]
  expect(findCrdUpgradeProblems(bundleWith(createVersion()), bundleWith(next))).toEqual([
    'v1 -> v2: ^.f: type: type changed : "string" -> "integer"',
  ])
  const webhooks = [
    {
      type: 'ConversionWebhook',
      generateName: 'c',
      deploymentName: 'd',
      conversionCRDs: ['foos.example.com'],
    },
  ]
  expect(findCrdUpgradeProblems(bundleWith(createVersion()), bundleWith(next, { webhooks }))).toEqual([])
  // If they were incompatible before, the upgrade changes nothing.
  expect(findCrdUpgradeProblems(bundleWith(next), bundleWith(next))).toEqual([])
})

test('versions are sorted as in Kubernetes', () => {
  const names = ['foo', 'v1', 'v1alpha1', 'v2', 'v1beta2', 'v1beta1', 'bar', 'v10']
  expect(names.toSorted(compareKubeApiVersions)).toEqual([
    'foo',
    'bar',
    'v1alpha1',
    'v1beta1',
    'v1beta2',
    'v1',
    'v2',
    'v10',
  ])
})
