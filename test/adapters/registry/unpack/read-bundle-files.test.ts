import { createHash } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { optInBundleRuleIds } from '../../../../packages/bundle/src/content-rules.ts'
import {
  bundleReaderVersion,
  findHelmChartDirectories,
  readBundleFiles,
} from '../../../../src/adapters/registry/unpack/read-bundle-files.ts'
import { createBundleFiles, sampleBundles } from '../../../packages/bundle/sample-bundles.ts'

const readBundleFromTextFiles = (files: Readonly<Record<string, string>>) =>
  readBundleFiles(new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)])))

/** The digest of the sample results by version. If it differs, the reader has changed: increase the version, add a line. */
const bundleDigestByReaderVersion: Readonly<Record<number, string>> = {
  1: '0b6243fe4800af42',
  2: 'bd294d22ca550b28',
  3: 'b899a1fd50b057dd',
  4: '69ad6222955ca6f7',
  5: '9b067e2fe83682f0',
  6: '9b067e2fe83682f0',
  7: 'efa828efdeae8e68',
  8: 'efa828efdeae8e68',
  9: 'eb181f7038dd1c24',
  10: '160a37166f236256',
  11: '9934fd96c9387b7f',
  12: '7aedb96993aa7925',
  13: '7c78f3b495b0deee',
  14: '00e69da2c130714b',
  15: '30ab67d79b715b93',
  16: 'c10dc7feaaa1e50d',
  // The wording of rules.
  17: '859b915b6dba2241',
  18: '32879f60e066277c',
  19: '5b3d195657b0ec39',
}

test('a changed result requires a new version, so that no cache returns old results', () => {
  const valid = ['plainest', 'one-crd', 'crd-v1beta1', 'required-crds', 'images-of-deployments'].map((name) =>
    readBundleFiles(createBundleFiles(name, sampleBundles[name])),
  )
  const broken = readBundleFromTextFiles({
    'manifests/csv.yaml': 'kind: ClusterServiceVersion\nmetadata: {name: Foo_}\n---\na: 1\n',
    'manifests/below/a.yaml': 'a: [\n',
    'metadata/other.yaml': 'annotations: {operators.operatorframework.io.bundle.package.v1: foo}\n',
    'metadata/dependencies.yaml': 'dependencies: [{type: olm.package, value: {}}]\n',
  })
  // The compressed size depends on the version of zlib.
  const readings = [...valid, broken].map(({ install: { unpacked: _, ...install }, ...reading }) => ({
    ...reading,
    install,
  }))
  const digest = createHash('sha256').update(JSON.stringify(readings)).digest('hex').slice(0, 16)
  expect({ version: bundleReaderVersion, digest }).toEqual({
    version: bundleReaderVersion,
    digest: bundleDigestByReaderVersion[bundleReaderVersion],
  })
})

describe('the content of a bundle', () => {
  test('does not include the name of its image, because it is compared with the catalog', () => {
    const { content, format } = readBundleFiles(createBundleFiles('foo', { spec: { relatedImages: [] } }))
    expect(format).toBe('registry+v1')
    expect(content).toMatchObject({ name: 'foo.v1.0.0', package: 'foo', relatedImages: [] })
    expect(content?.properties.map(({ type }) => type)).toEqual(['olm.package'])
  })
  test('includes the fields of its ClusterServiceVersion that templates use, unless they are too large', () => {
    const icons = ['a', 'b'].map((base64data) => ({ base64data, mediatype: 'image/png' }))
    const csv = {
      metadata: { annotations: { 'olm.substitutesFor': 'foo.v0', other: 'x' } },
      spec: { description: 'Foo', icon: icons, maturity: 'alpha' },
    }
    expect(readBundleFiles(createBundleFiles('foo', csv)).csv).toEqual({
      metadata: { annotations: { 'olm.substitutesFor': 'foo.v0' } },
      spec: { description: 'Foo', icon: icons.slice(0, 1) },
    })
    const long = readBundleFiles(createBundleFiles('foo', { spec: { description: 'x'.repeat(600_000) } }))
    expect(long.content).toBeDefined()
    expect(long.csv).toBeUndefined()
  })
  test('has a format if it is not a registry+v1 bundle', () => {
    const plain = readBundleFromTextFiles({
      'manifests/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n',
    })
    expect(plain).toMatchObject({ format: 'plain+v0' })
    const chart = readBundleFromTextFiles({
      'Chart.yaml': 'apiVersion: v2\nname: foo\nversion: 1.0.0\n',
      'templates/a.yaml': 'a: 1\n',
    })
    expect(chart).toEqual({ format: 'helm+v3', findings: [], install: chart.install })
    expect(chart.install).toMatchObject({ format: 'helm+v3', unpacked: { bytes: 0 }, invalid: [] })
    const nothing = readBundleFromTextFiles({ 'usr/bin/operator': 'x' })
    expect(nothing).toMatchObject({ findings: [{ rule: 'unreadable-bundle', severity: 'error' }] })
    for (const { content } of [plain, chart, nothing]) expect(content).toBeUndefined()
  })
  test('has a limited number of findings, and long ones are shortened', () => {
    const flood = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`manifests/${'d'.repeat(2000)}${index}/a.yaml`, 'a']),
    )
    const { findings } = readBundleFromTextFiles({
      'manifests/a.yaml': 'kind: ClusterServiceVersion\n',
      ...flood,
    })
    const [optional, usual] = [true, false].map((wanted) =>
      findings.filter(({ rule }) => optInBundleRuleIds.has(rule) === wanted),
    )
    expect(usual).toHaveLength(100)
    expect(optional?.length).toBeLessThanOrEqual(100)
    expect(usual).toContainEqual(expect.objectContaining({ rule: 'unreadable-bundle' }))
    expect(JSON.stringify(findings).length).toBeLessThan(600_000)
  })
  test('is missing, with an error, if it is too large for an evaluation', () => {
    const value = 'x'.repeat(600_000)
    const { content, findings } = readBundleFiles(
      createBundleFiles('foo', {
        files: { 'metadata/properties.yaml': { properties: [{ type: 'a', value }] } },
      }),
    )
    expect(content).toBeUndefined()
    expect(findings).toContainEqual(expect.objectContaining({ rule: 'unreadable-bundle', severity: 'error' }))
  })
})

test('a chart is found in the root directory or one directory below', () => {
  expect(findHelmChartDirectories(['a/b', 'Chart.yaml'])).toEqual([''])
  expect(findHelmChartDirectories(['foo/Chart.yaml', 'foo/charts/bar/Chart.yaml'])).toEqual(['foo'])
  expect(findHelmChartDirectories(['manifests/a.yaml', 'Chart.yaml/x'])).toEqual([])
})
