// Serves a change's catalogs with the administrator's own `opm`. Files go to a folder of this evaluation, under names that lead
// nowhere else; opm reads them and runs none of them.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { toRepositoryPath } from '../pull-request/compare-blobs.ts'
import type { CatalogChange } from '../pull-request/change.ts'
import type { TreeSha } from '../pull-request/ids.ts'
import type { CatalogServerResponse } from '@catalog-bot/fbc/api/catalog-server-response'
import type { TreeReader } from '../ports/repository.ts'

export interface OpmQueryOptions {
  readonly opm: string
  /** Milliseconds that are left for opm in this evaluation, and bytes that may be written for it. */
  readonly left: { milliseconds: number; bytes: number }
}

/** One answer for each package, in the given order. Rejects with a GitError. */
export async function queryOpmForChange(
  { root, result }: CatalogChange,
  packageNames: readonly string[],
  { look, tree }: { readonly look: TreeReader; readonly tree: TreeSha },
  { opm, left }: OpmQueryOptions,
): Promise<readonly CatalogServerResponse[]> {
  const unknown = (reason: string): readonly CatalogServerResponse[] =>
    packageNames.map(() => ({ server: 'opm', kind: 'unknown', reason }))
  if (left.milliseconds <= 0) return unknown('this evaluation ran out of time for opm')
  const scratch = await mkdtemp(join(tmpdir(), 'catalog-bot-opm-'))
  try {
    for (const { path } of result?.files ?? []) {
      const entry = await look.entry(tree, toRepositoryPath(root, path))
      if (entry?.mode.startsWith('100') !== true) return unknown(`${path} is a link`)
      const bytes = await look.read(entry.oid)
      left.bytes -= bytes.length
      if (left.bytes < 0) return unknown('the catalog is too large to pass to opm')
      const parts = path.split('/')
      if (parts.some((part) => part === '' || part === '.' || part === '..'))
        return unknown(`${path} points outside the catalog`)
      await mkdir(dirname(join(scratch, path)), { recursive: true })
      await writeFile(join(scratch, path), bytes)
    }
    // Loaded lazily, because few installations configure opm, and loading gRPC takes a third of an evaluation's start time.
    const { queryOpm: askOpm } = await import('@catalog-bot/fbc-server/opm-server')
    const started = performance.now()
    const results = await askOpm(opm, scratch, packageNames, left.milliseconds)
    left.milliseconds -= performance.now() - started
    return results
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}
