// Bundles and catalogs for the command line: from a directory on disk, or from registries with this user's credentials.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../evaluate/system-clock.ts'
import type { BundleFiles } from '../bundle/bundle-files.ts'
import { quote } from '../go/text.ts'
import { openRegistry } from '../registry/open-registry.ts'
import type { RegistryClient } from '../registry/registry-client.ts'
import { pullBundleOrCatalog, type PulledBundle } from '../registry/pull-bundle.ts'
import { readRegistryAccess } from '../registry/registry-access.ts'

/** Each bundle is unpacked in a process of its own. */
const maxConcurrentPulls = 4

/** Gives `use` a registry client, closed afterwards. `insecure`: hosts to ask by plain http. */
export async function withRegistry<Result>(
  insecure: readonly string[] | undefined,
  use: (registry: RegistryClient) => Promise<Result>,
): Promise<Result> {
  const registry = openRegistry({
    clock: systemClock,
    ...(await readRegistryAccess(process.env, insecure)),
  })
  try {
    return await use(registry)
  } finally {
    await registry.close()
  }
}

/** What became of each reference: the bundle's or catalog's files, or why there are none. Never rejects. */
export async function pullImages(
  registry: RegistryClient,
  references: Iterable<string>,
): Promise<ReadonlyMap<string, PulledBundle | Error>> {
  const pulled = new Map<string, PulledBundle | Error>()
  const waiting = [...new Set(references)]
  const pullNext = async () => {
    for (let reference = waiting.shift(); reference !== undefined; reference = waiting.shift())
      try {
        pulled.set(reference, await pullBundleOrCatalog(registry, reference))
      } catch (error) {
        pulled.set(reference, error instanceof Error ? error : new Error(String(error)))
      }
  }
  await Promise.all(Array.from({ length: maxConcurrentPulls }, pullNext))
  return pulled
}

/** The files of a bundle directory by their path below it. */
export function readBundleDirectory(directory: string): BundleFiles {
  return new Map(
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(join(directory, '/').length), readFileSync(path)]),
  )
}

/** opm refuses shorter references, which Docker would look for on its own registry. */
const registryReferencePattern = /^(?:localhost|[a-z0-9[][^/]*[.:][^/]*)\//i

/** Throws where a name that is no file or directory is no image either: most often a path that is not there. */
export function requireRegistry(name: string): void {
  if (!registryReferencePattern.test(name))
    throw new Error(
      `${quote(name)} is neither a file, nor a directory, nor an image: an image is HOST/REPOSITORY:TAG`,
    )
}
