// Breaks down the requests of a merge by kind and by phase of a pull request. Requests that refer to no pull request,
// or to several, are shared.
import type { MockPull } from '../sandbox/github/github-data.ts'
import type { RecordedRequest } from './slow-github.ts'

export interface BenchmarkedPullRequest {
  readonly pull: MockPull
  /** The author. Requests about the author's account count for this pull request only. */
  readonly author: string
  /** As `performance.now()` reports it. Undefined if it was not merged. */
  readonly mergedAt: number | undefined
}

/** When its verdict was shown: the last check run before the merge. */
export function findLastCheckRunTime(
  { pull, mergedAt = Infinity }: BenchmarkedPullRequest,
  passed: readonly RecordedRequest[],
): number | undefined {
  return passed
    .filter(({ heads, writes, at }) => writes > 0 && heads.includes(pull.headSha) && at <= mergedAt)
    .at(-1)?.at
}

/** The requests that refer only to this pull request. */
export function createRequestFilterForPullRequest({
  pull,
  author,
}: BenchmarkedPullRequest): (one: RecordedRequest) => boolean {
  const address = new RegExp(
    `/(?:pulls|issues)/${pull.number}(?:/|\\?|$)|${pull.headSha}|/users/${author}(?:\\?|$)|/collaborators/${author}/`,
  )
  return ({ path, heads, pulls }) =>
    address.test(path) ||
    (heads.length === 1 && heads[0] === pull.headSha) ||
    (pulls.length === 1 && pulls[0] === pull.number) ||
    pull.comments.some(({ id }) => path.endsWith(`/issues/comments/${id}`))
}

/**
 * The requests about a waiting pull request after its comment and the accompanying writes. Changes to other pull
 * requests cause them.
 */
export function findRequestsAfterBotComment(
  one: BenchmarkedPullRequest,
  passed: readonly RecordedRequest[],
): readonly RecordedRequest[] {
  const about = passed.filter(createRequestFilterForPullRequest(one))
  const commentIndex = about.findIndex(({ method, path }) => method === 'POST' && path.endsWith('/comments'))
  return commentIndex < 0
    ? []
    : about.slice(commentIndex + 1).filter(({ path }) => !path.endsWith('/requested_reviewers'))
}

const apiRequestPhases = ['opened to shown', 'shown to merged', 'after', 'shared'] as const
type ApiRequestPhase = (typeof apiRequestPhases)[number]

/** A Markdown table with a row for each kind of request, and the number per merge in each phase. */
export function renderApiRequestTable(
  merged: readonly BenchmarkedPullRequest[],
  passed: readonly RecordedRequest[],
): string {
  const api = passed.filter(isGitHubApiRequest)
  const rows = new Map<string, Record<ApiRequestPhase, number> & { writes: number }>()
  const phaseOf = createApiRequestPhaseClassifier(merged, api)
  for (const one of api) {
    const kind = formatApiEndpoint(one)
    const row = rows.get(kind) ?? {
      'opened to shown': 0,
      'shown to merged': 0,
      after: 0,
      shared: 0,
      writes: 0,
    }
    row[phaseOf(one)] += 1
    row.writes += one.writes
    rows.set(kind, row)
  }
  const count = Math.max(1, merged.filter(({ mergedAt }) => mergedAt !== undefined).length)
  const per = (all: number) => (all === 0 ? '' : (all / count).toFixed(2))
  const all = (row: Record<ApiRequestPhase, number>) =>
    apiRequestPhases.reduce((sum, phase) => sum + row[phase], 0)
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const sorted = [...rows].toSorted(([, a], [, b]) => all(b) - all(a))
  const total = (of: (row: Record<ApiRequestPhase, number> & { writes: number }) => number) =>
    per([...rows.values()].reduce((sum, row) => sum + of(row), 0))
  return [
    line(['requests a merge', ...apiRequestPhases, 'all', 'writes']),
    line(['---', ...apiRequestPhases.map(() => '---:'), '---:', '---:']),
    ...sorted.map(([kind, row]) =>
      line([kind, ...apiRequestPhases.map((phase) => per(row[phase])), per(all(row)), per(row.writes)]),
    ),
    line([
      'all',
      ...apiRequestPhases.map((phase) => total((row) => row[phase])),
      total(all),
      total(({ writes }) => writes),
    ]),
  ].join('\n')
}

function createApiRequestPhaseClassifier(
  merged: readonly BenchmarkedPullRequest[],
  api: readonly RecordedRequest[],
): (one: RecordedRequest) => ApiRequestPhase {
  const known = merged.map((each) => {
    const shown = findLastCheckRunTime(each, api)
    return {
      is: createRequestFilterForPullRequest(each),
      shown: shown ?? Infinity,
      landed: each.mergedAt ?? Infinity,
    }
  })
  return (one) => {
    const its = known.find(({ is }) => is(one))
    if (its === undefined) return 'shared'
    if (one.at > its.landed) return 'after'
    return one.at > its.shown ? 'shown to merged' : 'opened to shown'
  }
}

/** Excludes Git's protocol, and the App's tokens, which need one request an hour. */
export const isGitHubApiRequest = ({ path }: RecordedRequest): boolean =>
  !path.includes('.git/') && !path.startsWith('/app')

function formatApiEndpoint({ method, path, operation }: RecordedRequest): string {
  if (operation !== undefined) return `GraphQL ${operation}`
  const template = path
    .replace(/\?.*/, '')
    .replace(/^\/repos\/[^/]+\/[^/]+/, '/repos/{repo}')
    .replaceAll(/\b[0-9a-f]{40}\b/g, '{sha}')
    .replaceAll(/(?<=\/)\d+(?=\/|$)/g, '{number}')
    .replaceAll(/(?<=users\/|ref\/heads\/|branches\/|collaborators\/)[^/]+/g, '{name}')
  return `${method} ${template}`
}
