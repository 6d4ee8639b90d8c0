// Prepares the report of an evaluation in the evaluation process, because the data about a change to many packages is
// large to transfer.
import { parseCatalogFile } from '@catalog-bot/fbc/load/parse-catalog-file'
import type { ChannelEntry } from '@catalog-bot/fbc/facts/catalog'
import type { Finding } from '@catalog-bot/findings/finding'
import { drawUpgradeGraphChanges, renderChangeAsMermaid } from '../../pull-request/describe-change.ts'
import {
  formatDescriptionLinesAsMarkdown,
  describePullRequestChangeAsLines,
} from '../../report/describe-change.ts'
import {
  type EvaluationReport,
  type ChannelHeadConflict,
  combinePostReleaseCatalogChanges,
  describePostReleaseCatalogChanges,
} from '../../report/evaluation-report.ts'
import { describeCommands } from '../../report/describe-commands.ts'
import { summarizePullRequestChange } from '../../report/summarize-change.ts'
import type { GitRepository } from '../../ports/repository.ts'
import type { SnapshotEvaluation } from '../evaluate.ts'
import { traceFindingsToChangedLines, findCommitsThatBrokeBase } from '../trace-findings.ts'
import type { CatalogLoader } from '../../catalogs/catalog-loader.ts'
import type { BlobSha, CommitSha } from '../../pull-request/ids.ts'
import { catchTooLarge } from '../../adapters/git/git-error.ts'

type ChannelHeadConflictRepository = Pick<
  GitRepository,
  'treeOf' | 'entry' | 'read' | 'mergeBases' | 'firstParents'
>

/** No commit is named when the branch moved further. */
const maxCommitsSearchedForChannelEntry = 60
const maxChannelHeadConflictFindings = 3
const maxCatalogFileBytesToSearch = 4 * 1024 * 1024

/** A page with the drawings stays below 100 KiB. */
const maxPageDrawings = 3
/** Characters of JSON. */
const maxPageDrawingLength = 8_000

type ChannelEntriesReader = (
  commit: CommitSha,
  file: string,
) => Promise<ReadonlyMap<string, readonly ChannelEntry[]>>

/** Rejects with a GitError. */
export async function prepareEvaluationReport(
  {
    change,
    projectedCatalogs = [],
    config,
    records,
    snapshot,
    epoch,
    described,
    isCommandStillValid,
    verdict,
  }: SnapshotEvaluation,
  repository: GitRepository,
  loader: CatalogLoader,
): Promise<EvaluationReport> {
  const findings = verdict.outcomes.flatMap((outcome) => outcome.findings)
  const commits = verdict.result && { head: verdict.head, base: verdict.base, result: verdict.result.tree }
  const traced = commits && (await traceFindingsToChangedLines(findings, commits, repository))
  const moved = await findChannelHeadConflicts(findings, verdict, repository)
  const baseBreaks = await findCommitsThatBrokeBase(findings, verdict.base, { repository, loader, config })
  const projected = combinePostReleaseCatalogChanges(projectedCatalogs)
  const catalogs = [...change.catalogs, ...projected.catalogs]
  return {
    summary: summarizePullRequestChange(change),
    changeLines:
      change.paths.length === 0
        ? []
        : formatDescriptionLinesAsMarkdown([
            ...describePullRequestChangeAsLines(change),
            ...describePostReleaseCatalogChanges(projectedCatalogs),
          ]),
    commandLines: describeCommands(records, snapshot.head, epoch, isCommandStillValid),
    graph: renderChangeAsMermaid(change) ?? renderChangeAsMermaid(projected),
    packages: [...new Set(catalogs.flatMap(({ packages }) => packages.map(({ name }) => name)))],
    drawings: [change, projected]
      .flatMap(drawUpgradeGraphChanges)
      .filter(({ drawing }) => JSON.stringify(drawing).length <= maxPageDrawingLength)
      .slice(0, maxPageDrawings),
    change: described?.id,
    ...traced,
    ...(moved.length > 0 && { moved }),
    ...(baseBreaks.length > 0 && { baseBreaks }),
    comment: config.comment,
    suggestions: config.suggestions,
  }
}

/** Rejects with a GitError. */
export async function findChannelHeadConflicts(
  findings: readonly Finding[],
  { head, base }: { readonly head: CommitSha; readonly base: CommitSha },
  repository: ChannelHeadConflictRepository,
): Promise<readonly ChannelHeadConflict[]> {
  const forked = findings.filter(({ rule, at }) => rule === 'several-heads' && at !== undefined)
  if (forked.length === 0) return []
  const [mergeBase, ...others] = await repository.mergeBases(base, head)
  if (mergeBase === undefined || others.length > 0 || mergeBase === base) return []
  const entriesAt = createChannelEntriesReader(repository)
  const moved: ChannelHeadConflict[] = []
  for (const { at, data } of forked.slice(0, maxChannelHeadConflictFindings)) {
    const file = at?.file ?? ''
    const channel = `${String(data?.['package'])} ${String(data?.['channel'])}`
    const heads = Array.isArray(data?.['heads']) ? data['heads'].map(String) : []
    const [then, there, here] = await Promise.all(
      [mergeBase, base, head].map(async (commit) => (await entriesAt(commit, file)).get(channel) ?? []),
    )
    const fresh = (entries: readonly ChannelEntry[] | undefined) =>
      heads.filter((name) => hasChannelEntry(entries, name) && !hasChannelEntry(then, name))
    const [theirs] = fresh(there).filter((name) => !hasChannelEntry(here, name))
    const [mine] = fresh(here).filter((name) => !hasChannelEntry(there, name))
    if (theirs === undefined || mine === undefined) continue
    const commit = await findCommitAddingChannelEntry(
      theirs,
      channel,
      file,
      { met: mergeBase, base },
      entriesAt,
      repository,
    )
    if (commit === undefined) continue
    const replaces = there?.find(({ name }) => name === theirs)?.replaces ?? ''
    const isSame = replaces !== '' && here?.find(({ name }) => name === mine)?.replaces === replaces
    moved.push({ commit, entry: theirs, replaces, mine, isSame })
  }
  return moved
}

function hasChannelEntry(entries: readonly ChannelEntry[] | undefined, name: string): boolean {
  return entries?.some((entry) => entry.name === name) === true
}

async function findCommitAddingChannelEntry(
  name: string,
  channel: string,
  file: string,
  { met, base }: { readonly met: CommitSha; readonly base: CommitSha },
  entriesAt: ChannelEntriesReader,
  repository: ChannelHeadConflictRepository,
): Promise<CommitSha | undefined> {
  const since = await repository.firstParents(base, met)
  if (since.length > maxCommitsSearchedForChannelEntry) return undefined
  for (const commit of since.toReversed())
    if (hasChannelEntry((await entriesAt(commit, file)).get(channel), name)) return commit
  return undefined
}

function createChannelEntriesReader(repository: ChannelHeadConflictRepository): ChannelEntriesReader {
  const read = new Map<BlobSha, ReadonlyMap<string, readonly ChannelEntry[]>>()
  return async (commit, file) => {
    const entry = await repository.entry(await repository.treeOf(commit), file)
    if (entry?.mode.startsWith('100') !== true) return new Map()
    const known = read.get(entry.oid)
    if (known) return known
    const channels = new Map<string, readonly ChannelEntry[]>()
    const bytes = await catchTooLarge(repository.read(entry.oid, maxCatalogFileBytesToSearch))
    if (bytes)
      for (const one of parseCatalogFile(bytes).channels)
        channels.set(`${one.package} ${one.name}`, one.entries)
    read.set(entry.oid, channels)
    return channels
  }
}
