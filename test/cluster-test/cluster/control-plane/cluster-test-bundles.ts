// The catalogs and bundles of the install tests on a real control plane. foo requires the API of red and gets a new
// version. broken has a missing Operator image. lonely requires an API that no bundle provides. solo requires nothing
// and gets a new version, as do flat (plain manifests) and charted (a chart). shaky is like broken, with plain
// manifests.
import type { BundleFiles } from '../../../../packages/bundle/src/bundle-files.ts'
import type { Json } from '../../../../packages/fbc/src/go/json/json.ts'
import { createSmallBundle } from '../../../checks/install/small-bundle.ts'
import { parseCatalogBlobsFromLines } from '../../../checks/install/parse-catalog-lines.ts'

export interface ClusterTestBundle {
  readonly name: string
  /** Also the name of its repository. */
  readonly package: string
  readonly labels: Readonly<Record<string, string>>
  readonly files: BundleFiles
}

export function createClusterTestBundles(): readonly ClusterTestBundle[] {
  const red = { name: 'reds.example.com', version: 'v1', kind: 'Red', displayName: 'Red', description: 'Red' }
  const needs = { customresourcedefinitions: { required: [red] } }
  const owns = { customresourcedefinitions: { owned: [red] } }
  return [
    createClusterTestBundle('foo.v1.0.0', needs),
    createClusterTestBundle('foo.v1.1.0', { ...needs, replaces: 'foo.v1.0.0' }),
    createClusterTestBundle('red.v1.0.0', owns, [exampleRedsCrd]),
    createClusterTestBundle('broken.v1.0.0', {}),
    createClusterTestBundle('lonely.v1.0.0', {}),
    createClusterTestBundle('solo.v1.0.0', {}),
    createClusterTestBundle('solo.v1.1.0', { replaces: 'solo.v1.0.0' }),
    createPlainBundle('flat.v1.0.0'),
    createPlainBundle('flat.v1.1.0'),
    createPlainBundle('shaky.v1.0.0'),
    createHelmChartBundle('charted.v1.0.0'),
    createHelmChartBundle('charted.v1.1.0'),
  ]
}

/** @param images the image of each bundle, by bundle name */
export function renderClusterTestCatalog(side: 'base' | 'head', images: ReadonlyMap<string, string>): string {
  const base = [
    'foo/stable 1.0.0',
    'foo 1.0.0 needs Red',
    'red/stable 1.0.0',
    'red 1.0.0 gives Red',
    'broken/stable 1.0.0',
    'lonely/stable 1.0.0',
    'lonely 1.0.0 needs Blue',
    'solo/stable 1.0.0',
    'flat/stable 1.0.0',
    'shaky/stable 1.0.0',
    'charted/stable 1.0.0',
  ]
  const more = [
    'foo 1.1.0 needs Red',
    ...['foo', 'solo', 'flat', 'charted'].map(createUpgradeCatalogJsonLine),
  ]
  return parseCatalogBlobsFromLines(side === 'base' ? base : [...base, ...more])
    .map((blob) => {
      const { schema, name } = blob as Readonly<Record<string, Json>>
      const image = schema === 'olm.bundle' ? images.get(typeof name === 'string' ? name : '') : undefined
      return JSON.stringify(image === undefined ? blob : { ...(blob as object), image })
    })
    .join('\n')
}

const createUpgradeCatalogJsonLine = (name: string): string => `${name}/stable 1.1.0 replaces 1.0.0`
const parsePackageNameFromCsvName = (name: string): string => name.slice(0, name.indexOf('.v'))
const encodeJson = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))

/** The repository `missing` does not exist. */
function getImageRepositoryName(packageName: string): string {
  return ['broken', 'shaky'].includes(packageName) ? 'missing' : packageName
}

function createClusterTestBundle(
  name: string,
  spec: Readonly<Record<string, Json>>,
  others: readonly Json[] = [],
): ClusterTestBundle {
  const packageName = parsePackageNameFromCsvName(name)
  const files = new Map(createSmallBundle(name, packageName, spec))
  const [csvFile = ''] = files.keys()
  const csv = new TextDecoder().decode(files.get(csvFile))
  // Operators in one namespace must not share pods and Deployments.
  const own = csv
    .replaceAll('"app":"foo"', `"app":"${packageName}"`)
    .replace('"name":"foo","spec":{"selector"', `"name":"${packageName}","spec":{"replicas":1,"selector"`)
    .replace(`registry.example/${packageName}:`, `registry.example/${getImageRepositoryName(packageName)}:`)
  files.set(csvFile, new TextEncoder().encode(own))
  for (const [index, object] of others.entries())
    files.set(`manifests/object-${index}.yaml`, encodeJson(object))
  const { annotations } = JSON.parse(new TextDecoder().decode(files.get('metadata/annotations.yaml'))) as {
    annotations: Record<string, string>
  }
  return { name, package: packageName, labels: annotations, files }
}

function createPlainBundle(name: string): ClusterTestBundle {
  const packageName = parsePackageNameFromCsvName(name)
  const namespace = `${packageName}-system`
  const files = new Map([
    [
      'manifests/namespace.yaml',
      encodeJson({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }),
    ],
    ['manifests/operator.yaml', encodeJson(createDeployment(name, packageName, { namespace }))],
  ])
  return { name, package: packageName, labels: {}, files }
}

/** Objects of a chart without a namespace are created in the namespace of the release. */
function createHelmChartBundle(name: string): ClusterTestBundle {
  const packageName = parsePackageNameFromCsvName(name)
  const version = name.slice(name.indexOf('.v') + 2)
  const files = new Map([
    ['Chart.yaml', encodeJson({ apiVersion: 'v2', name: packageName, version })],
    ['values.yaml', encodeJson({ greeting: 'hello' })],
    [
      'templates/operator.yaml',
      encodeJson(
        createDeployment(name, packageName, { annotations: { greeting: '{{ .Values.greeting }}' } }),
      ),
    ],
  ])
  return { name, package: packageName, labels: {}, files }
}

function createDeployment(name: string, packageName: string, metadata: object): object {
  const labels = { app: packageName }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: packageName, ...metadata },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            { name: 'operator', image: `registry.example/${getImageRepositoryName(packageName)}:${name}` },
          ],
        },
      },
    },
  }
}

const exampleRedsCrd: Json = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'reds.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Red', listKind: 'RedList', plural: 'reds', singular: 'red' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}
