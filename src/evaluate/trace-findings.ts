// Maps findings from the merge result to lines on GitHub, and finds their fixes. The base might have moved since the
// push, so lines are matched by content. Reads only files with findings.
import type { CommitSha, TreeSha } from '../pull-request/ids.ts'
import { fixableRuleIds, computeFindingFix } from '../checks/fixes/fix-finding.ts'
import { configUnreadableRule } from '../config/config-path.ts'
import { type Finding, formatFindingSubjectKey } from '@catalog-bot/findings/finding'
import { findShortestEdits, createLineNumberMapper, type LineNumberMapper } from '@catalog-bot/findings/lines'
import { memoizeOnce, getOrCreate } from '@catalog-bot/findings/memoize'
import { decodeUtf8LikeGo } from '@catalog-bot/fbc/go/utf8'
import { catchTooLarge } from '../adapters/git/git-error.ts'
import {
  toFindingIdentityKey,
  type SourceExcerpt,
  type SuggestedFixForFinding,
  type TracedFindingLine,
} from '../report/report-options.ts'
import type { GitRepository } from '../ports/repository.ts'
import type { BrokenBaseBranchFile } from '../report/evaluation-report.ts'
import { findCatalogErrors, type CatalogValidationContext } from '../catalogs/catalog-loader.ts'
import { LruMap } from '../adapters/lru-map.ts'

const maxFilesSearchedForBreakage = 3
/** First parents that are searched for a change of the file. */
const maxCommitsSearchedForBreakage = 100
const maxCatalogsValidatedPerFile = 4
/** By base commit and errors, because many pull requests wait for the same fix. */
const breakingCommitCache = new LruMap<string, { readonly commit: CommitSha | undefined }>(500, () => 1)

type FindingTraceGitRepository = Pick<GitRepository, 'treeOf' | 'entry' | 'read' | 'mergeBases'>

export interface FindingTraceCommits {
  readonly head: CommitSha
  readonly base: CommitSha
  readonly result: TreeSha
}

/** Comments show fewer, and check runs few more. */
const maxTracedFindings = 300
const maxSuggestedFixes = 12
const maxExcerpts = 12
const excerptContextLines = 2
const maxExcerptLines = 8
const maxExcerptLineLength = 200
/** Findings in larger files link to the entire file. */
const maxTracedFileBytes = 4 * 1024 * 1024
/** GitHub's diff shows this many lines around each change and accepts comments on them. */
const hunkContextLines = 3
const maxTracedChangedLines = 600

/** Keeps errors first beyond the limit. Rejects with a GitError. */
export async function traceFindingsToChangedLines(
  findings: readonly Finding[],
  commits: FindingTraceCommits,
  repository: FindingTraceGitRepository,
) {
  const order = { error: 0, warning: 1, info: 2 }
  const placed = findings
    .filter(({ at }) => at !== undefined)
    .toSorted((a, b) => order[a.severity] - order[b.severity])
    .slice(0, maxTracedFindings)
  const files = createChangedLineTracer(commits, repository)
  const lines = new Map<string, TracedFindingLine>()
  const linesOf = memoizeByTreeAndFile(async (_side: 'result', file) =>
    (await files.resultText(file))?.replace(/\n$/, '').split('\n'),
  )
  const trace = async (file: string, first: number, last: number, from: 'result' | 'base') => {
    const key = `${first} ${file}`
    if (lines.has(key)) return lines.get(key)
    const traced = await files.trace(file, first, last, from)
    if (traced) lines.set(key, traced)
    return traced
  }
  const fixes: SuggestedFixForFinding[] = []
  const excerpts: SourceExcerpt[] = []
  for (const finding of placed) {
    const { file, line, endLine = line } = finding.at as NonNullable<Finding['at']>
    // The configuration is read from the base branch.
    const from = finding.rule === configUnreadableRule.id ? 'base' : 'result'
    await trace(file, line, endLine, from)
    if (excerpts.length < maxExcerpts && from === 'result' && finding.severity === 'error') {
      const excerpt = cutExcerpt((await linesOf('result', file)) ?? [], line, endLine)
      if (excerpt) excerpts.push({ finding: toFindingIdentityKey(finding), ...excerpt })
    }
    if (fixes.length >= maxSuggestedFixes || from === 'base' || !fixableRuleIds.has(finding.rule)) continue
    const bytes = await files.result(file)
    const fix = bytes && computeFindingFix(finding, bytes)
    if (!fix) continue
    const there = await trace(file, fix.first, fix.last, 'result')
    const isWhole = there?.side === 'head' && there.last - there.first === fix.last - fix.first
    const suggestion =
      isWhole && (await files.isInDiff(file, there)) ? { first: there.first, last: there.last } : undefined
    fixes.push({ finding: toFindingIdentityKey(finding), fix, ...(suggestion && { suggestion }) })
  }
  return { lines: [...lines.values()], fixes, excerpts }
}

function cutExcerpt(
  lines: readonly string[],
  line: number,
  endLine: number,
): Pick<SourceExcerpt, 'first' | 'lines'> | undefined {
  if (line > lines.length) return undefined
  const first = Math.max(1, line - excerptContextLines)
  const end = Math.min(endLine + excerptContextLines, first + maxExcerptLines - 1)
  return {
    first,
    lines: lines.slice(first - 1, end).map((text) => text.slice(0, maxExcerptLineLength).toWellFormed()),
  }
}

function createChangedLineTracer(commits: FindingTraceCommits, repository: FindingTraceGitRepository) {
  const { head, base, result } = commits
  const trees = {
    head: memoizeOnce(() => repository.treeOf(head)),
    base: memoizeOnce(() => repository.treeOf(base)),
    result: () => Promise.resolve(result),
  }
  type Side = keyof typeof trees
  const oidOf = memoizeByTreeAndFile(async (side: Side, file: string) => {
    const entry = await repository.entry(await trees[side](), file)
    return entry?.mode.startsWith('100') === true ? entry.oid : undefined
  })
  const bytesOf = memoizeByTreeAndFile(async (side: Side, file: string) => {
    const oid = await oidOf(side, file)
    return oid && catchTooLarge(repository.read(oid, maxTracedFileBytes))
  })
  const textOf = memoizeByTreeAndFile(async (side: Side, file: string) => {
    const bytes = await bytesOf(side, file)
    return bytes && decodeUtf8LikeGo(bytes)
  })
  const mapTo = memoizeByTreeAndFile(
    async (side: Exclude<Side, 'result'>, file: string): Promise<LineNumberMapper | undefined> => {
      const [from, to] = [await oidOf('result', file), await oidOf(side, file)]
      if (from === undefined || to === undefined) return undefined
      if (from === to) return (line) => line
      const [old, now] = [await textOf('result', file), await textOf(side, file)]
      return old === undefined || now === undefined ? undefined : createLineNumberMapper(old, now)
    },
  )
  const changedLines = memoizeByTreeAndFile((_side: 'head', file: string) =>
    readDiffLineNumbers(file, commits, repository, async () => textOf('head', file)),
  )

  return {
    result: (file: string) => bytesOf('result', file),
    resultText: (file: string) => textOf('result', file),
    async trace(
      file: string,
      first: number,
      last: number,
      from: 'result' | 'base',
    ): Promise<TracedFindingLine | undefined> {
      if (from === 'base') return { file, line: first, side: 'base', first, last }
      for (const side of ['head', 'base'] as const) {
        const map = await mapTo(side, file)
        const start = map?.(first)
        if (map === undefined || start === undefined) continue
        const end = map(last)
        return { file, line: first, side, first: start, last: end === undefined || end < start ? start : end }
      }
      return undefined
    },
    async isInDiff(file: string, { first, last }: { first: number; last: number }): Promise<boolean> {
      const shown = await changedLines('head', file)
      if (shown === undefined) return false
      for (let line = first; line <= last; line++) if (!shown.has(line)) return false
      return true
    },
  }
}

/** Undefined where the diff is unknown. */
async function readDiffLineNumbers(
  file: string,
  { head, base }: FindingTraceCommits,
  repository: FindingTraceGitRepository,
  readHeadText: () => Promise<string | undefined>,
): Promise<ReadonlySet<number> | undefined> {
  const [mergeBase, ...others] = await repository.mergeBases(base, head)
  if (mergeBase === undefined || others.length > 0) return undefined
  const now = (await readHeadText())?.split('\n')
  const entry = await repository.entry(await repository.treeOf(mergeBase), file)
  const bytes = entry && (await catchTooLarge(repository.read(entry.oid, maxTracedFileBytes)))
  if (now === undefined || (entry && !bytes)) return undefined
  const old = bytes ? decodeUtf8LikeGo(bytes).split('\n') : []
  const edits = findShortestEdits(old, now, maxTracedChangedLines)
  if (edits === undefined) return undefined
  const shown = new Set<number>()
  for (const { new: at, kind } of edits) {
    // A removal is between two lines of the new text, so the context below it starts one line earlier.
    const below = kind === '+' ? at + hunkContextLines : at + hunkContextLines - 1
    for (let line = at - hunkContextLines; line <= below; line++) shown.add(line + 1)
  }
  return shown
}

function memoizeByTreeAndFile<Side extends string, Value>(
  make: (side: Side, file: string) => Promise<Value>,
): (side: Side, file: string) => Promise<Value> {
  const made = new Map<string, Promise<Value>>()
  return (side, file) => getOrCreate(made, `${side} ${file}`, () => make(side, file))
}

/**
 * Finds the commits on the base branch that introduced errors which a pull request did not cause. Runs only for such
 * errors, and validates the catalog before a few commits that changed the file. Rejects with a GitError.
 */
export async function findCommitsThatBrokeBase(
  findings: readonly Finding[],
  base: CommitSha,
  tools: CatalogValidationContext,
): Promise<readonly BrokenBaseBranchFile[]> {
  // Only findings about a catalog name it; an install that fails because of them does not.
  const byFile = Map.groupBy(
    findings.filter(({ isOnBase, at, data }) => isOnBase === true && at && data?.['catalog'] !== undefined),
    ({ at }) => at?.file ?? '',
  )
  const breaks: BrokenBaseBranchFile[] = []
  for (const [file, same] of [...byFile].slice(0, maxFilesSearchedForBreakage)) {
    const catalog = same[0]?.data?.['catalog']
    const root = typeof catalog === 'string' ? catalog : ''
    const keys = new Set(same.map(formatFindingSubjectKey))
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
  tools: CatalogValidationContext,
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
      if (!errors.some((found) => keys.has(formatFindingSubjectKey(found)))) return commit
      if (++validations === maxCatalogsValidatedPerFile) return undefined
    }
    commit = parent
    blob = before
  }
  return undefined
}
