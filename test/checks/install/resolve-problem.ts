// Converts a problem from the notation of tests to the input of our resolver.
import { type Catalog, assembleCatalog } from '../../../packages/fbc/src/facts/catalog.ts'
import { parseCatalogFile } from '../../../packages/fbc/src/load/parse-catalog-file.ts'
import { createCatalogOperatorEntries } from '../../../src/checks/install/resolve/catalog-entries.ts'
import {
  parseOperatorProperties,
  toInstalledOperatorEntry,
} from '../../../src/checks/install/resolve/operator-properties.ts'
import { parseVersion } from '../../../packages/fbc/src/versions/version.ts'
import {
  resolveNamespace,
  type ResolverNamespace,
  type NamespaceResolution,
} from '../../../src/checks/install/resolve/resolve-namespace.ts'
import type { Json } from '../../../packages/fbc/src/go/json/json.ts'
import type { ResolutionProblem } from './random-problem.ts'

export function assembleCatalogFromBlobs(blobs: readonly Json[]): Catalog {
  const bytes = new TextEncoder().encode(blobs.map((blob) => JSON.stringify(blob)).join('\n'))
  return assembleCatalog([{ path: 'catalog.json', facts: parseCatalogFile(bytes) }])
}

export function solveResolutionProblem({
  catalogs,
  installed,
  subscriptions,
}: ResolutionProblem): NamespaceResolution {
  const namespace: ResolverNamespace = {
    catalogs: catalogs.map(({ name, priority, blobs }) => ({
      entries: createCatalogOperatorEntries(assembleCatalogFromBlobs(blobs), name),
      priority,
    })),
    installed: installed.map(({ version, properties, subscription, ...operator }) => {
      const parsed = parseVersion(version)
      const facts = parseOperatorProperties(operator.name, properties)
      return {
        entry: toInstalledOperatorEntry({
          ...operator,
          version: parsed.ok ? parsed.value : undefined,
          facts,
        }),
        isSubscribed: subscription !== '',
      }
    }),
    subscriptions,
  }
  return resolveNamespace(namespace)
}
