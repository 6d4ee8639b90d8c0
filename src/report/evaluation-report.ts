import type { CommentPolicy } from '../config/config.ts'
import type { SourceExcerpt, SuggestedFixForFinding, TracedFindingLine } from './report-options.ts'
import type { UpgradeGraphChangeDrawing } from '../pull-request/describe-change.ts'
import type { CommitSha, PullNumber } from '../pull-request/ids.ts'
import { toCodeSpan } from './escape.ts'
import { formatCommitUrl, formatPullUrl, type PullUrlParts } from './urls.ts'
import type { PullRequestChange } from '../pull-request/change.ts'
import { placeholderRegistryPrefix, type PostReleaseCatalog } from '../checks/bundles/post-release-catalog.ts'
import { describePullRequestChangeAsLines, type DescriptionLine } from './describe-change.ts'

/** A change that was merged while a pull request was open and causes its conflict. Uses only recorded facts. */
export interface ChannelHeadConflict {
  readonly commit: CommitSha
  /** `replaces` is '' if the entry replaces nothing. */
  readonly entry: string
  readonly replaces: string
  /** The channel head that the pull request adds. */
  readonly mine: string
  /** Whether both heads replace the same entry. */
  readonly isSame: boolean
}

/** Names the commits that broke the base branch, so that an author doesn't look for the fault in their own change. */
export interface BrokenBaseBranchFile {
  /** From the repository's root. */
  readonly file: string
  readonly errors: number
  /** Absent if the commit wasn't found in recent history. */
  readonly commit?: CommitSha
}

/** The content of a report beside the verdict. Computed in the evaluation process, and stored with the verdict. */
export interface EvaluationReport {
  /** One sentence of Markdown. */
  readonly summary?: string | undefined
  readonly changeLines: readonly string[]
  readonly commandLines: readonly string[]
  readonly graph?: string | undefined
  /** The names of the changed packages. */
  readonly packages?: readonly string[] | undefined
  /** The changed upgrade graphs, for pages. Absent for graphs that are too large. */
  readonly drawings?: readonly UpgradeGraphChangeDrawing[] | undefined
  readonly change?: string | undefined
  /** Absent: not traced. */
  readonly lines?: readonly TracedFindingLine[] | undefined
  readonly fixes?: readonly SuggestedFixForFinding[] | undefined
  /** For the first errors. */
  readonly excerpts?: readonly SourceExcerpt[] | undefined
  /** Conflicting changes that were merged into the base since the pull request was opened. */
  readonly moved?: readonly ChannelHeadConflict[] | undefined
  /** Who broke the base, if the errors are on it already. */
  readonly baseBreaks?: readonly BrokenBaseBranchFile[] | undefined
  /** Whether the repository wants a comment and suggestions. */
  readonly comment?: CommentPolicy | undefined
  readonly suggestions?: boolean | undefined
}

/** One line of Markdown per file. `pulls`: pull requests that catalog-bot merged, by their merge commits. */
export function describeBrokenBaseBranchFiles(
  breaks: readonly BrokenBaseBranchFile[] | undefined,
  pulls: ReadonlyMap<CommitSha, PullNumber>,
  page: PullUrlParts,
  branch: string,
): readonly string[] {
  return (breaks ?? []).map(({ file, errors, commit }) => {
    const count = errors === 1 ? 'an error' : `${errors} errors`
    const state = `${toCodeSpan(file)} already has ${count} on ${toCodeSpan(branch)}`
    if (commit === undefined) return `${state}.`
    const pull = pulls.get(commit)
    const cause =
      pull === undefined
        ? `[${toCodeSpan(commit.slice(0, 12))}](${formatCommitUrl(page, commit)})`
        : `[#${pull}](${formatPullUrl(page, pull)})`
    return `${state}, since ${cause}. This pull request didn't cause ${errors === 1 ? 'it' : 'them'}.`
  })
}

/** One line per file, for a terminal. */
export function describeBrokenBaseFilesAsText(breaks: readonly BrokenBaseBranchFile[]): readonly string[] {
  return breaks.map(({ file, errors, commit }) => {
    const since = commit === undefined ? '' : ` since commit ${commit.slice(0, 12)}`
    return `The base branch already has ${errors === 1 ? 'an error' : `${errors} errors`} in ${file}${since}. Your change didn't cause ${errors === 1 ? 'it' : 'them'}.`
  })
}

/** Limited to one screen. `pulls`: pull requests that catalog-bot merged, by merge commit. */
export function describeChannelHeadConflicts(
  moved: readonly ChannelHeadConflict[] | undefined,
  pulls: ReadonlyMap<CommitSha, PullNumber>,
  page: PullUrlParts,
  branch: string,
): readonly string[] {
  return (moved ?? []).slice(0, 2).map(({ commit, entry, replaces, mine, isSame }) => {
    const pull = pulls.get(commit)
    const origin =
      pull === undefined
        ? `[${toCodeSpan(commit.slice(0, 12))}](${formatCommitUrl(page, commit)}) reached ${toCodeSpan(branch)} first`
        : `[#${pull}](${formatPullUrl(page, pull)}) was merged first`
    const effect =
      replaces === ''
        ? `adds ${toCodeSpan(entry)}`
        : isSame
          ? `also replaces ${toCodeSpan(replaces)}`
          : `replaces ${toCodeSpan(replaces)} with ${toCodeSpan(entry)}`
    return `${origin} and ${effect}. Make either ${toCodeSpan(mine)} or ${toCodeSpan(entry)} replace or skip the other.`
  })
}

/** The commits that describeMergesSinceEvaluation() names. */
export function collectMergesSinceEvaluation({ moved = [], baseBreaks = [] }: EvaluationReport): CommitSha[] {
  return [...moved, ...baseBreaks].flatMap(({ commit }) => commit ?? [])
}

/** Lines of Markdown. `pulls`: pull requests that catalog-bot merged, by their merge commits. */
export function describeMergesSinceEvaluation(
  { moved, baseBreaks }: EvaluationReport,
  pulls: ReadonlyMap<CommitSha, PullNumber>,
  page: PullUrlParts,
  branch: string,
): readonly string[] {
  return [
    ...describeBrokenBaseBranchFiles(baseBreaks, pulls, page, branch),
    ...describeChannelHeadConflicts(moved, pulls, page, branch),
  ]
}

/** The projected change, without paths of the pull request. */
export function combinePostReleaseCatalogChanges(
  projected: readonly PostReleaseCatalog[],
): PullRequestChange {
  return { paths: [], catalogs: projected.flatMap(({ changes }) => changes), references: [] }
}

/** Empty if nothing changes. */
export function describePostReleaseCatalogChanges(
  projected: readonly PostReleaseCatalog[],
): DescriptionLine[] {
  const change = combinePostReleaseCatalogChanges(projected)
  const isChanged = change.catalogs.some(({ packages }) => packages.length > 0)
  const unknown = projected.flatMap(({ unknown: why }): DescriptionLine[] =>
    why === undefined ? [] : [{ depth: 0, words: ['Could not determine ', { name: why }] }],
  )
  if (!isChanged) return unknown
  const images = new Map(projected.flatMap((one) => one.images.map(({ name, image }) => [name, image])))
  const names = [...images.values()]
  const isNamed = names.some((name) => !name.startsWith(placeholderRegistryPrefix))
  return [
    { depth: 0, words: ['After the bundle images are built and added to the catalogs:'] },
    ...describePullRequestChangeAsLines(change).map((line): DescriptionLine => ({ ...line, depth: 1 })),
    ...(images.size === 0
      ? []
      : [
          {
            depth: 1 as const,
            words: [
              isNamed ? 'expected image: ' : 'image not built yet: ',
              ...names.slice(0, 3).map((name) => ({ name })),
            ].flatMap((segment, at) => (at > 1 ? [', ', segment] : [segment])),
          },
        ]),
    ...unknown,
  ]
}
