// Finds the commits on the base branch that introduced errors which a pull request did not cause. Runs only for such
// errors, and validates the catalog before a few commits that changed the file.
import type { CommitSha } from '../pull-request/ids.ts'
import { toFindingSubjectKey, type Finding } from '@catalog-bot/findings/finding'
import type { BaseBranchBreakage } from '../report/evaluation-report.ts'
import { LruMap } from '../adapters/lru-map.ts'
import { findCatalogErrors, type CatalogErrorContext } from '../catalogs/catalog-loader.ts'

const maxFilesSearchedForBreakage = 3
/** First parents that are searched for a change of the file. */
const maxCommitsSearchedForBreakage = 100
/** Catalogs that are validated for one file. */
const maxCatalogsValidatedPerFile = 4

/** By base commit and errors, because many pull requests wait for the same fix. */
const breakingCommitCache = new LruMap<string, { readonly commit: CommitSha | undefined }>(500, () => 1)

/** Rejects with a GitError. */
export async function findBaseBreakingCommits(
  findings: readonly Finding[],
  base: CommitSha,
  tools: CatalogErrorContext,
): Promise<readonly BaseBranchBreakage[]> {
  // Only findings about a catalog name it; an install that fails because of them does not.
  const byFile = Map.groupBy(
    findings.filter(({ isOnBase, at, data }) => isOnBase === true && at && data?.['catalog'] !== undefined),
    ({ at }) => at?.file ?? '',
  )
  const breaks: BaseBranchBreakage[] = []
  for (const [file, same] of [...byFile].slice(0, maxFilesSearchedForBreakage)) {
    const catalog = same[0]?.data?.['catalog']
    const root = typeof catalog === 'string' ? catalog : ''
    const keys = new Set(same.map(toFindingSubjectKey))
    const cacheKey = JSON.stringify([base, root, file, [...keys]])
    const cached = breakingCommitCache.get(cacheKey)
    const { commit } = cached ?? { commit: await findBreakingCommit(base, root, file, keys, tools) }
    if (cached === undefined) breakingCommitCache.set(cacheKey, { commit })
    breaks.push({ file, errors: same.length, ...(commit !== undefined && { commit }) })
  }
  return breaks
}

/** The first commit whose catalog has one of the errors. Undefined if it is older than the search reaches. */
async function findBreakingCommit(
  base: CommitSha,
  root: string,
  file: string,
  keys: ReadonlySet<string>,
  tools: CatalogErrorContext,
): Promise<CommitSha | undefined> {
  const { repository } = tools
  const blobAt = async (commit: CommitSha) =>
    (await repository.entry(await repository.treeOf(commit), file))?.oid
  let validations = 0
  let commit = base
  let blob = await blobAt(commit)
  for (let searched = 0; searched < maxCommitsSearchedForBreakage; searched++) {
    const [parent] = await repository.parentsOf(commit)
    if (parent === undefined) return commit
    const before = await blobAt(parent)
    if (before !== blob) {
      const errors = await findCatalogErrors(await repository.treeOf(parent), root, tools)
      if (!errors.some((found) => keys.has(toFindingSubjectKey(found)))) return commit
      if (++validations === maxCatalogsValidatedPerFile) return undefined
    }
    commit = parent
    blob = before
  }
  return undefined
}
