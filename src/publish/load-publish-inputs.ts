// Reads what a repository publishes from the default branch's configuration alone, so that pushing another branch
// cannot select an image or target, and computes the key of a catalog's content.
import { minimatch } from 'minimatch'
import { createHash } from 'node:crypto'
import type { CommitSha, TreeSha } from '../pull-request/ids.ts'
import { type RepositoryLayout, isPathUnderDirectory } from '../pull-request/layout/layout.ts'
import { readRepositoryLayout } from '../catalogs/find-layout.ts'
import { readConfig } from '../catalogs/read-config.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { planPublications, type PublicationPlan, type CatalogPublication } from './plan-publications.ts'
import { describePullRequestChange } from '../pull-request/describe-change.ts'
import { resolveSymlinkedFile } from '../catalogs/linked-file.ts'
import { isGitError } from '../adapters/git/git-error.ts'
import {
  formatDescriptionLinesAsMarkdown,
  describePullRequestChangeAsLines,
} from '../report/describe-change.ts'
import type { TreeReader, GitRepository } from '../ports/repository.ts'
import type { TreeFileReader } from '../pull-request/compare-blobs.ts'
import type { PathChange, TreeEntry } from '../pull-request/change.ts'

/** Limit for all files together. */
const maxTotalChangedFileBytes = 256 * 1024 * 1024
const maxChangeSummaryLines = 40

export interface BranchTip {
  readonly commit: CommitSha
  readonly tree: TreeSha
}

export interface PublishInputs {
  readonly plan: PublicationPlan
  readonly tips: ReadonlyMap<string, BranchTip>
}

/** Returns undefined if the configuration is unreadable. */
export async function loadPublishInputs(ctx: JobContext): Promise<PublishInputs | undefined> {
  const { forge, repository, app } = ctx
  const main = await forge.defaultBranch()
  const tip = await readBranchTip(main, repository)
  if (tip === undefined) return undefined
  const { config, findings } = await readConfig(repository, tip.tree)
  if (findings.length > 0) {
    app.log.warn({ repository: forge.repository }, 'the configuration is invalid, so nothing is published')
    return undefined
  }
  if (config.publish.length === 0) return { plan: { publications: [], problems: [] }, tips: new Map() }
  const tips = new Map([[main, tip]])
  for (const { branch } of config.publish)
    if (
      branch !== undefined &&
      !tips.has(branch) &&
      config.branches.some((glob) => minimatch(branch, glob))
    ) {
      const branchTip = await readBranchTip(branch, repository)
      if (branchTip !== undefined) tips.set(branch, branchTip)
    }
  const layouts = new Map<string, RepositoryLayout>()
  for (const [branch, { tree }] of tips)
    layouts.set(branch, await readRepositoryLayout(repository, await repository.list(tree), config.catalogs))
  return { plan: planPublications(config.publish, main, layouts), tips }
}

export async function readBranchTip(
  branch: string,
  repository: JobContext['repository'],
): Promise<BranchTip | undefined> {
  await repository.fetch(branch)
  const commit = await repository.tip(branch)
  return commit === undefined ? undefined : { commit, tree: await repository.treeOf(commit) }
}

/**
 * Computes a key of an image's inputs (an equal key needs no new image), and the difference between two of them.
 * Covers the catalog's files, with links resolved, and the build settings, but not the commit.
 */
export async function computeCatalogContentKey(
  { catalog: { root }, settings, tags, entry }: CatalogPublication,
  tree: TreeSha,
  repository: TreeReader,
): Promise<string> {
  const files: string[] = []
  for (const { path, mode, oid } of await repository.list(tree, root)) {
    files.push(`${mode} ${oid} ${path}`)
    if (mode === '120000')
      files.push((await resolveSymlinkedFile(repository, tree, root, path, oid)).file ?? 'nothing')
  }
  const made = JSON.stringify([root, files, settings, tags, entry.retention.keep > 0])
  return createHash('sha256').update(made).digest('hex')
}

/** Returns Markdown lines, or none if the change cannot be described. */
export async function describeCatalogChange(
  { catalog }: CatalogPublication,
  from: CommitSha,
  to: TreeSha,
  { app, repository }: JobContext,
): Promise<readonly string[]> {
  const { root } = catalog
  try {
    const before = await repository.treeOf(from)
    const paths = (await repository.diff(before, to)).filter(({ path }) => isPathUnderDirectory(path, root))
    if (paths.length === 0) return []
    const [base, result] = await Promise.all([
      app.loader.load(repository, before, root),
      app.loader.load(repository, to, root),
    ])
    const change = describePullRequestChange({
      paths,
      layout: { catalogs: [catalog] },
      catalogs: [{ ...catalog, ...(base && { base }), ...(result && { result }) }],
      treeFiles: await readChangedFileContents(paths, repository),
    })
    return formatDescriptionLinesAsMarkdown(describePullRequestChangeAsLines(change)).slice(
      0,
      maxChangeSummaryLines,
    )
  } catch (error) {
    // A forced push may have removed the old commit, or a file may be too large.
    if (isGitError(error) && !error.retryable) return []
    throw error
  }
}

/** Reads files that differ between two trees, to describe the change. Files that are too large count as different. */
async function readChangedFileContents(
  paths: readonly PathChange[],
  { read }: Pick<GitRepository, 'read'>,
): Promise<TreeFileReader> {
  const contentsBySide = { base: new Map<string, Uint8Array>(), result: new Map<string, Uint8Array>() }
  let remainingBytes = maxTotalChangedFileBytes
  const readSide = async (side: 'base' | 'result', path: string, entry: TreeEntry | undefined) => {
    if (entry?.mode.startsWith('100') !== true || remainingBytes <= 0) return
    const bytes = await read(entry.oid)
    remainingBytes -= bytes.length
    contentsBySide[side].set(path, bytes)
  }
  for (const { path, before, after } of paths) {
    await readSide('base', path, before)
    await readSide('result', path, after)
  }
  return { read: (side, path) => contentsBySide[side].get(path) }
}
