import { gzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { detectFormat } from '../../src/bundle/bundle-format.ts'
import type { BundleFiles } from '../../src/bundle/bundle-files.ts'
import { annotationKeys } from '../../src/bundle/bundle-metadata.ts'
import { bundleRules } from '../../src/bundle/rules.ts'
import { validateBundle } from '../../src/bundle/validate-bundle.ts'
import { bundleFiles, crd, type Shape } from './bundle-shapes.ts'

const modes = { installModes: [{ type: 'AllNamespaces', supported: true }] }
const packedSize = (bytes: Uint8Array) => gzipSync(bytes).length

/** A bundle without fault, changed by `shape`. */
function bundle(shape: Shape = {}): BundleFiles {
  return bundleFiles('good', { ...shape, spec: { ...modes, ...shape.spec } })
}
function files(texts: Readonly<Record<string, string>>): BundleFiles {
  return new Map(Object.entries(texts).map(([path, text]) => [path, new TextEncoder().encode(text)]))
}
const woken = (given: BundleFiles) => [
  ...new Set(validateBundle(given, { packedSize }).findings.map(({ rule }) => rule)),
]

/** Text that gzip cannot make smaller. */
function noise(bytes: number): string {
  let state = 1
  return Array.from({ length: bytes }, () => {
    state = (state * 48271) % 2147483647
    return 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'[state % 64]
  }).join('')
}
const configMap = (data: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c' },
  data: { data },
})
const annotations = (change: Readonly<Record<string, string>>) => ({ annotations: change })
const dependency = (type: string, value: unknown): Shape => ({
  files: { 'metadata/dependencies.yaml': { dependencies: [{ type, value }] } },
})
const plain = (manifest: string, mediaType = 'plain+v0') =>
  bundleFiles('plain', {
    annotations: { [annotationKeys.mediaType]: mediaType },
    files: { 'manifests/csv.yaml': manifest },
  })
const chart = 'apiVersion: v2\nname: foo\nversion: 1.0.0\n'
const helm = (text: string, more: Readonly<Record<string, string>> = {}) =>
  files({ 'Chart.yaml': text, 'templates/a.yaml': 'a: {{ .Values.a }}', ...more })

describe('bundles without fault', () => {
  test.each<[string, BundleFiles]>([
    ['registry+v1', bundle()],
    [
      'registry+v1',
      bundle({
        spec: {
          customresourcedefinitions: { owned: [{ name: 'foos.example.com', version: 'v1', kind: 'Foo' }] },
        },
        files: { 'manifests/crd.yaml': crd('foos', 'example.com', 'Foo', ['v1']) },
      }),
    ],
    ['registry+v1', bundle({ metadata: { annotations: { 'alm-examples': '[{"kind":"Foo"}]' } } })],
    ['registry+v1', bundle(dependency('olm.constraint', { failureMessage: 'm', cel: { rule: 'true' } }))],
    ['plain+v0', plain('kind: ConfigMap\napiVersion: v1\n---\nkind: Secret\napiVersion: v1\n')],
    ['plain+v0', plain('kind: Deployment\napiVersion: apps/v1\n', 'plain')],
    ['helm+v3', helm(chart)],
    ['helm+v3', files({ 'foo/Chart.yaml': chart, 'foo/crds/a.yaml': 'a: 1', 'foo/values.yaml': '' })],
    ['helm+v3', helm(`${chart}dependencies: [{name: dep}]`, { 'charts/dep-1.0.0.tgz': '' })],
  ])('%s', (format, given) => {
    expect(validateBundle(given, { packedSize })).toEqual({ format, findings: [] })
    expect(detectFormat(given)).toBe(format)
  })
})

const bad: readonly (readonly [rule: string, BundleFiles])[] = [
  ['unreadable-bundle', files({})],
  ['unreadable-bundle', bundle({ files: { 'metadata/annotations.yaml': undefined } })],
  [
    'unreadable-bundle',
    bundle({
      spec: {
        customresourcedefinitions: { owned: [{ name: 'foos.example.com', version: 'v1', kind: 'Foo' }] },
      },
    }),
  ],
  ['undecodable-manifest', bundle({ files: { 'manifests/broken.yaml': 'rules: [' } })],
  ['undecodable-manifest', bundle({ files: { 'manifests/README.yaml': 'hello: there' } })],
  [
    'several-csvs',
    bundle({
      files: {
        'manifests/other.yaml': {
          apiVersion: 'operators.coreos.com/v1alpha1',
          kind: 'ClusterServiceVersion',
          metadata: { name: 'b' },
        },
      },
    }),
  ],
  [
    'several-documents-in-manifest',
    bundle({ files: { 'manifests/two.yaml': 'kind: ConfigMap\n---\nkind: Secret\n' } }),
  ],
  ['nested-bundle-directory', bundle({ files: { 'manifests/crds/a.yaml': 'kind: ConfigMap' } })],
  ['missing-bundle-annotation', bundle({ annotations: { [annotationKeys.channels]: '' } })],
  ['missing-bundle-annotation', bundle({ annotations: { [annotationKeys.defaultChannel]: ' ' } })],
  ['wrong-bundle-format', bundle({ annotations: { [annotationKeys.mediaType]: 'plain+v0' } })],
  ['wrong-bundle-format', plain('kind: ConfigMap', 'helm+v3')],
  ['moved-bundle-directory', bundle({ annotations: { [annotationKeys.manifests]: 'deploy/' } })],
  [
    'misnamed-annotations-file',
    bundle({
      files: {
        'metadata/annotations.yaml': undefined,
        'metadata/bundle.yaml': annotations({
          [annotationKeys.mediaType]: 'registry+v1',
          [annotationKeys.manifests]: 'manifests/',
          [annotationKeys.metadata]: 'metadata/',
          [annotationKeys.package]: 'good',
          [annotationKeys.channels]: 'stable',
        }),
      },
    }),
  ],
  [
    'kind-not-bundled',
    bundle({
      files: { 'manifests/d.yaml': { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' } } },
    }),
  ],
  [
    'kind-not-bundled',
    bundle({
      files: {
        'manifests/d.yaml': {
          apiVersion: 'monitoring.coreos.com/v1',
          kind: 'PodMonitor',
          metadata: { name: 'd' },
        },
      },
    }),
  ],
  ['oversized-bundle-content', bundle({ files: { 'manifests/big.yaml': configMap(noise(1_100_000)) } })],
  ['large-bundle-content', bundle({ files: { 'manifests/big.yaml': configMap(noise(920_000)) } })],
  ['unowned-crd', bundle({ files: { 'manifests/crd.yaml': crd('extras', 'example.com', 'Extra', ['v1']) } })],
  ['malformed-dependency', bundle(dependency('olm.package', { packageName: 'p' }))],
  ['malformed-dependency', bundle(dependency('olm.gvk', { group: 'g', kind: 'K' }))],
  ['malformed-dependency', bundle(dependency('olm.label', {}))],
  ['malformed-dependency', bundle(dependency('olm.constraint', { cel: {} }))],
  ['malformed-dependency', bundle(dependency('olm.constraint', { all: {}, any: {} }))],
  ['malformed-dependency', bundle(dependency('olm.crd', { name: 'x' }))],
  [
    'service-account-bundled',
    bundle({
      spec: {
        install: { strategy: 'deployment', spec: { permissions: [{ serviceAccountName: 'sa', rules: [] }] } },
      },
      files: { 'manifests/sa.yaml': { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa' } } },
    }),
  ],
  ['unusable-install-modes', bundle({ spec: { installModes: [] } })],
  [
    'unusable-install-modes',
    bundle({ spec: { installModes: [{ type: 'AllNamespaces', supported: false }] } }),
  ],
  [
    'unusable-install-modes',
    bundle({ spec: { installModes: [...modes.installModes, ...modes.installModes] } }),
  ],
  ['broken-examples', bundle({ metadata: { annotations: { 'alm-examples': '[{' } } })],
  ['broken-examples', bundle({ metadata: { annotations: { 'alm-examples': '{}' } } })],
  ['invalid-csv-name', bundle({ csv: { metadata: { name: 'Foo_Operator' } } })],
  ['invalid-csv-name', bundle({ csv: { metadata: { name: 'f'.repeat(64) } } })],
  ['braces-in-plain-bundle', plain('kind: ConfigMap\ndata: {greeting: "{{ name }}"}')],
  ['broken-chart', helm('apiVersion: v3\nname: foo\nversion: 1.0.0')],
  ['broken-chart', helm('apiVersion: v2\nname: foo\nversion: one')],
  ['broken-chart', helm(`${chart}type: library`)],
  ['broken-chart', helm(`${chart}dependencies: [{name: dep}]`)],
  ['broken-chart', helm(chart, { 'values.yaml': 'a: [' })],
  ['broken-chart', helm('[')],
  ['broken-chart', files({ 'Chart.yaml': chart })],
]

describe('each fault wakes its own rule and no other', () => {
  test.each(bad)('%s', (rule, given) => {
    expect(woken(given)).toEqual([rule])
  })
  test('every rule has a bad case', () => {
    expect([...new Set(bad.map(([rule]) => rule))].sort()).toEqual(bundleRules.map(({ id }) => id))
  })
})
