// A problem as tests write it, as our resolver takes it.
import { assemble } from '../../../src/catalog/facts/assemble.ts'
import type { Catalog } from '../../../src/catalog/facts/catalog.ts'
import { readFile } from '../../../src/catalog/load/read-file.ts'
import { catalogEntries } from '../../../src/checks/install/resolve/catalog-entries.ts'
import { installedEntry } from '../../../src/checks/install/resolve/operator-facts.ts'
import { resolve, type Namespace, type Resolution } from '../../../src/checks/install/resolve/resolve.ts'
import type { Json } from '../../../src/go/json/json.ts'
import type { RandomProblem } from './random-problems.ts'

export function catalogOf(blobs: readonly Json[]): Catalog {
  const bytes = new TextEncoder().encode(blobs.map((blob) => JSON.stringify(blob)).join('\n'))
  return assemble([{ path: 'catalog.json', facts: readFile(bytes) }])
}

export function resolveProblem({ catalogs, installed, subscriptions }: RandomProblem): Resolution {
  const namespace: Namespace = {
    catalogs: catalogs.map(({ name, priority, blobs }) => ({
      entries: catalogEntries(catalogOf(blobs), name),
      priority,
    })),
    installed: installed.map((one) => ({
      entry: installedEntry(one),
      isSubscribed: one.subscription !== '',
    })),
    subscriptions,
  }
  return resolve(namespace)
}
