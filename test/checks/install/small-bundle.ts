// The smallest valid bundle.
import type { BundleFiles } from '../../../packages/bundle/src/bundle-files.ts'
import type { Json } from '../../../packages/fbc/src/go/json/json.ts'

/** A small registry+v1 bundle. */
export function createSmallBundle(
  csvName: string,
  packageName: string,
  spec: Readonly<Record<string, Json>> = {},
): BundleFiles {
  const labels = { app: 'foo' }
  const version = csvName.replace(/^.*\.v/, '')
  const csv = {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: { name: csvName },
    spec: {
      displayName: 'Foo',
      version,
      installModes: [{ type: 'AllNamespaces', supported: true }],
      install: {
        strategy: 'deployment',
        spec: {
          deployments: [
            {
              name: 'foo',
              spec: {
                selector: { matchLabels: labels },
                template: {
                  metadata: { labels },
                  spec: {
                    containers: [{ name: 'foo', image: `registry.example/${packageName}:${version}` }],
                  },
                },
              },
            },
          ],
        },
      },
      ...spec,
    },
  }
  const key = (name: string) => `operators.operatorframework.io.bundle.${name}.v1`
  const annotations = {
    [key('mediatype')]: 'registry+v1',
    [key('manifests')]: 'manifests/',
    [key('metadata')]: 'metadata/',
    [key('package')]: packageName,
    [key('channels')]: 'stable',
  }
  const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
  return new Map([
    ['manifests/csv.yaml', encode(csv)],
    ['metadata/annotations.yaml', encode({ annotations })],
  ])
}
