// What opm serves for a catalog with unusual content, and the catalogs that it loads but does not serve.
// test/packages/fbc-server/compare-with-opm.test.ts compares the results with those of opm.
import { describe, expect, test } from '@jest/globals'
import * as queries from '../../../../packages/fbc/src/api/registry-queries.ts'
import {
  buildServedCatalog,
  type ServedCatalog,
  parseServedCatalogFile,
} from '../../../../packages/fbc/src/api/served-catalog.ts'
import { unusualCatalog } from '../../fbc-server/unusual-catalog.ts'

const readServedCatalog = (files: Readonly<Record<string, string>>) =>
  buildServedCatalog(
    Object.entries(files).map(([path, text]) => ({ path, file: parseServedCatalogFile(Buffer.from(text)) })),
  )

function readServedCatalogOrThrow(files: Readonly<Record<string, string>>): ServedCatalog {
  const found = readServedCatalog(files)
  if (!found.ok) throw new Error(found.error)
  return found.value
}
const unusualServedCatalog = readServedCatalogOrThrow(unusualCatalog)
const findServedBundle = (packageName: string, channel: string, name: string) =>
  unusualServedCatalog.bundle({ package: packageName, channel, name })

describe('a bundle', () => {
  test('takes its edges from the requested channel, and its other fields from its blob', () => {
    expect(findServedBundle('metadata', 'stable', 'metadata.v1.1.0')).toMatchObject({
      csvName: 'metadata.v1.1.0',
      channelName: 'stable',
      bundlePath: 'quay.io/example/metadata:v1.1.0',
      version: '1.1.0-rc.1+build.5',
      replaces: 'metadata.v1.0.0',
      skips: ['metadata.v1.0.0', 'metadata.v0.9.0', 'metadata.v0.9.0'],
      skipRange: '>=0.1.0 <1.1.0',
    })
    expect(findServedBundle('metadata', 'Fast_2', 'metadata.v1.1.0')).toMatchObject({
      replaces: 'gone.v0.1.0',
      skips: [],
      skipRange: '',
    })
    expect(findServedBundle('metadata', 'Fast_2', 'metadata.v1.0.0')).toBeUndefined()
  })
  test('has JSON properties with sorted keys, dependencies in older form, and no olm.csv.metadata', () => {
    const { properties, dependencies, providedApis, requiredApis } =
      findServedBundle('metadata', 'stable', 'metadata.v1.0.0') ?? {}
    expect(dependencies).toEqual([
      { type: 'olm.gvk', value: '{"group":"<example>.com","kind":"Needed","version":"v1"}' },
      { type: 'olm.package', value: '{"packageName":"manifests","version":">=1.0.0 <2.0.0"}' },
    ])
    expect(properties?.map(({ type }) => type)).not.toContain('olm.csv.metadata')
    expect(properties?.at(-1)).toEqual({
      type: 'custom.numbers',
      value: '[1,1,1e+21,1e-7,12345678901234567000,-0,true,null,"<&>",{"10":"a","9":"b","a":{}}]',
    })
    expect(providedApis).toEqual([
      { group: 'example.com', version: 'v1', kind: 'Thing' },
      { group: 'example.com', version: 'v1', kind: 'Other' },
    ])
    expect(requiredApis).toEqual([{ group: '<example>.com', version: 'v1', kind: 'Needed' }])
  })
  test("without a CSV gets one from its metadata, in Go's order, with HTML escaped and maps sorted", () => {
    const { csvJson, object } = findServedBundle('metadata', 'stable', 'metadata.v1.0.0') ?? {}
    expect(object).toEqual([csvJson])
    expect(csvJson).toContain(
      '"annotations":{"10":"ten","9":"nine","b":"\\u003chtml\\u003e \\u0026 \\u2028 \\u0007","empty":"","nothing":""}',
    )
    expect(csvJson).toContain('"description":"The package\'s \\u003cown\\u003e words \\u0026 more \\u2028"')
    expect(csvJson).toContain('"icon":[{"base64data":"PHN2Zy8+","mediatype":"image/svg+xml"}]')
    expect(JSON.parse(csvJson ?? '')).toMatchObject({
      metadata: { name: 'metadata.v1.0.0' },
      spec: { install: { strategy: 'deployment', spec: { deployments: null } }, version: '1.0.0' },
      status: { cleanup: {} },
    })
  })
  test('keeps its manifests, including the CSV, with YAML converted to JSON', () => {
    const { csvJson, object } = findServedBundle('manifests', 'beta', 'manifests.v1.0.0') ?? {}
    expect(object).toHaveLength(5)
    expect(object?.[0]).toBe(
      '{"kind":"Service","metadata":{"name":"\\u003cs\\u003e"},"spec":{"ports":[8080,1.5,31]}}',
    )
    // A manifest without data repeats the previous one; a manifest with empty data is null.
    expect(object?.[2]).toBe(object?.[1])
    expect(object?.[4]).toBe('null')
    expect(csvJson).toBe(object?.[1])
    expect(findServedBundle('emptied', 'only', 'emptied.v1.0.0')?.csvJson).toBe(
      '{kind: ClusterServiceVersion, metadata: {name: flow}}',
    )
  })
})

describe('a query', () => {
  test('for one bundle omits its edges, and one for all bundles omits manifests if there is an image', () => {
    const key = { package: 'metadata', channel: 'stable', name: 'metadata.v1.1.0' }
    expect(queries.getBundle(unusualServedCatalog, key)).toMatchObject({ value: { replaces: '', skips: [] } })
    const all = [...queries.listBundles(unusualServedCatalog)]
    expect(all.map(({ channelName, csvName }) => `${channelName} ${csvName}`)).toEqual([
      'Fast_2 metadata.v1.1.0',
      'beta manifests.v1.0.0',
      'only emptied.v1.0.0',
      'only iconless.v1.0.0',
      'stable metadata.v1.0.0',
      'stable metadata.v1.1.0',
    ])
    expect(all.filter(({ csvJson }) => csvJson !== '').map(({ csvName }) => csvName)).toEqual([
      'manifests.v1.0.0',
    ])
  })
  test('for an API returns the head of the first package by name whose default channel provides it', () => {
    const api = { group: 'example.com', version: 'v1', kind: 'Thing' }
    expect(queries.getDefaultBundleThatProvides(unusualServedCatalog, api)).toMatchObject({
      value: { csvName: 'manifests.v1.0.0' },
    })
    expect(queries.getDefaultBundleThatProvides(unusualServedCatalog, { ...api, kind: 'Other' })).toEqual({
      ok: false,
      error: 'no channel entries found that provide group:"example.com" version:"v1" kind:"Other"',
    })
  })
})

describe('opm does not serve a catalog', () => {
  const bundle = (properties: string) => `---
schema: olm.package
name: p
defaultChannel: c
---
{schema: olm.channel, package: p, name: c, entries: [{name: p.v1.0.0}]}
---
{schema: olm.bundle, package: p, name: p.v1.0.0, image: quay.io/o/p:v1, properties: [
{type: olm.package, value: {packageName: p, version: 1.0.0}}, ${properties}]}
`
  const cases: readonly (readonly [what: string, text: string, error: string])[] = [
    [
      'with two olm.csv.metadata in a bundle',
      bundle('{type: olm.csv.metadata, value: {}}, {type: olm.csv.metadata, value: {}}'),
      'build package index: process package "p": parse properties: expected at most 1 property of type "olm.csv.metadata", found 2',
    ],
    [
      'with a manifest that no protocol buffer can hold',
      bundle(
        `{type: olm.bundle.object, value: {data: ${Buffer.from('{"a":"\xff"}', 'latin1').toString('base64')}}}`,
      ),
      'build package index: process package "p": store bundle "p.v1.0.0": string field contains invalid UTF-8',
    ],
    [
      'with a custom blob whose schema is no plain name',
      `${bundle('')}---\nschema: a/b\npackage: p\n`,
      'invalid custom schema meta: invalid schema "a/b": must match ^[a-zA-Z0-9][a-zA-Z0-9._-]*$',
    ],
    [
      'that it does not find valid, and says in which package',
      bundle('').replace('defaultChannel: c', 'defaultChannel: d'),
      'build package index: process package "p": invalid index:',
    ],
    ['that it cannot load', 'schema: olm.package\nname: [', 'error converting YAML to JSON'],
  ]
  test.each(cases)('%s', (_, text, error) => {
    const found = readServedCatalog({ 'catalog.yaml': text })
    expect(found.ok ? '' : found.error).toContain(error)
  })
})
