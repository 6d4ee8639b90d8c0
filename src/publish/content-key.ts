// Computes a key of an image's inputs (an equal key needs no new image), and the difference between two of them.
import { createHash } from 'node:crypto'
import { readChangedFileTexts } from './read-changed-texts.ts'
import { describeChange } from '../pull-request/describe-change.ts'
import type { CommitSha, TreeSha } from '../pull-request/ids.ts'
import { isPathBelow } from '../pull-request/layout/layout.ts'
import { resolveLinkedFile } from '../catalogs/linked-file.ts'
import { isGitError } from '../adapters/git/git-error.ts'
import { formatChangeAsMarkdown, describeChangeLines } from '../report/describe-change.ts'
import type { TreeReader } from '../ports/repository.ts'
import type { JobContext } from '../jobs/job-context.ts'
import type { Publication } from './plan-publications.ts'

/** Covers the catalog's files, with links resolved, and the build settings, but not the commit. */
export async function computeCatalogContentKey(
  { catalog: { root }, settings, tags, entry }: Publication,
  tree: TreeSha,
  repository: TreeReader,
): Promise<string> {
  const files: string[] = []
  for (const { path, mode, oid } of await repository.list(tree, root)) {
    files.push(`${mode} ${oid} ${path}`)
    if (mode === '120000')
      files.push((await resolveLinkedFile(repository, tree, root, path, oid)).file ?? 'nothing')
  }
  const made = JSON.stringify([root, files, settings, tags, entry.retention.keep > 0])
  return createHash('sha256').update(made).digest('hex')
}

const maxCatalogChangeLines = 40

/** Returns Markdown lines, or none if the change cannot be described. */
export async function describeCatalogChange(
  { catalog }: Publication,
  from: CommitSha,
  to: TreeSha,
  { app, repository }: JobContext,
): Promise<readonly string[]> {
  const { root } = catalog
  try {
    const before = await repository.treeOf(from)
    const paths = (await repository.diff(before, to)).filter(({ path }) => isPathBelow(path, root))
    if (paths.length === 0) return []
    const [base, result] = await Promise.all([
      app.loader.load(repository, before, root),
      app.loader.load(repository, to, root),
    ])
    const change = describeChange({
      paths,
      layout: { catalogs: [catalog] },
      catalogs: [{ ...catalog, ...(base && { base }), ...(result && { result }) }],
      treeFiles: await readChangedFileTexts(paths, repository),
    })
    return formatChangeAsMarkdown(describeChangeLines(change)).slice(0, maxCatalogChangeLines)
  } catch (error) {
    // A forced push may have removed the old commit, or a file may be too large.
    if (isGitError(error) && !error.retryable) return []
    throw error
  }
}
