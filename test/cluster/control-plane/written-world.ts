// The catalogs and bundles of the trials on a real control plane: foo, which needs red's API and gets a new version; broken,
// whose image nobody has; lonely, which needs what nobody gives.
import { createHash } from 'node:crypto'
import type { BundleFiles } from '../../../src/bundle/bundle-files.ts'
import type { Json } from '../../../src/go/json/json.ts'
import { smallBundle } from '../../checks/install/small-bundle.ts'
import { writtenBlobs } from '../../checks/install/written-catalog.ts'

interface WorldBundle {
  readonly image: string
  readonly files: BundleFiles
}

export interface WrittenWorld {
  readonly catalogs: ReadonlyMap<'base' | 'head', string>
  readonly bundles: ReadonlyMap<string, WorldBundle>
}

export function writtenWorld(): WrittenWorld {
  const needs = {
    customresourcedefinitions: {
      required: [
        { name: 'reds.example.com', version: 'v1', kind: 'Red', displayName: 'Red', description: 'Red' },
      ],
    },
  }
  const owns = {
    customresourcedefinitions: {
      owned: [
        { name: 'reds.example.com', version: 'v1', kind: 'Red', displayName: 'Red', description: 'Red' },
      ],
    },
  }
  const bundles = new Map(
    [
      bundle('foo.v1.0.0', 'foo', needs),
      bundle('foo.v1.1.0', 'foo', { ...needs, replaces: 'foo.v1.0.0' }),
      bundle('red.v1.0.0', 'red', owns, [redCrd]),
      bundle('broken.v1.0.0', 'broken-missing', {}),
      bundle('lonely.v1.0.0', 'lonely', {}),
    ].map((one) => [one.name, one]),
  )
  const base = [
    'foo/stable 1.0.0',
    'foo 1.0.0 needs Red',
    'red/stable 1.0.0',
    'red 1.0.0 gives Red',
    'broken/stable 1.0.0',
    'lonely/stable 1.0.0',
    'lonely 1.0.0 needs Blue',
  ]
  const head = [...base, 'foo/stable 1.1.0 replaces 1.0.0', 'foo 1.1.0 needs Red']
  const text = (lines: readonly string[]) =>
    writtenBlobs(lines)
      .map((blob) => JSON.stringify(withImage(blob as Readonly<Record<string, Json>>)))
      .join('\n')
  return {
    catalogs: new Map([
      ['base', text(base)],
      ['head', text(head)],
    ]),
    bundles,
  }

  function withImage(blob: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> {
    const { schema, name } = blob
    const found = schema === 'olm.bundle' && typeof name === 'string' ? bundles.get(name) : undefined
    return found ? { ...blob, image: found.image } : blob
  }
}

function bundle(
  name: string,
  image: string,
  spec: Readonly<Record<string, Json>>,
  others: readonly Json[] = [],
): WorldBundle & { readonly name: string } {
  const packageName = name.slice(0, name.indexOf('.v'))
  const files = new Map(smallBundle(name, packageName, spec))
  const [csvFile = ''] = files.keys()
  const csv = new TextDecoder().decode(files.get(csvFile))
  // Operators of one namespace need pods and Deployments of their own; `missing` is what nobody can pull.
  const own = csv
    .replaceAll('"app":"foo"', `"app":"${packageName}"`)
    .replace('"name":"foo","spec":{"selector"', `"name":"${packageName}","spec":{"replicas":1,"selector"`)
    .replace(`registry.example/${packageName}:`, `registry.example/${image}:`)
  files.set(csvFile, new TextEncoder().encode(own))
  for (const [index, object] of others.entries())
    files.set(`manifests/object-${index}.yaml`, new TextEncoder().encode(JSON.stringify(object)))
  const digest = createHash('sha256').update(name).digest('hex')
  return { name, image: `registry.example/${packageName}-bundle@sha256:${digest}`, files }
}

const redCrd: Json = {
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
