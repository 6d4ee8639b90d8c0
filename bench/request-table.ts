// Breaks down the requests of a merge by kind and by phase of a pull request. Requests that refer to no pull request,
// or to several, are shared.
import type { MockPull } from '../sandbox/github/github-data.ts'
import type { RecordedRequest } from './slow-github.ts'

export interface MeasuredPullRequest {
  readonly pull: MockPull
  /** The author. Requests about the author's account count for this pull request only. */
  readonly author: string
  /** As `performance.now()` reports it. Undefined if it was not merged. */
  readonly mergedAt: number | undefined
}

/** When its verdict was shown: the last check run before the merge. */
export function findVerdictPostedTime(
  { pull, mergedAt = Infinity }: MeasuredPullRequest,
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
}: MeasuredPullRequest): (one: RecordedRequest) => boolean {
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
export function findRequestsAfterComment(
  one: MeasuredPullRequest,
  passed: readonly RecordedRequest[],
): readonly RecordedRequest[] {
  const about = passed.filter(createRequestFilterForPullRequest(one))
  const commentIndex = about.findIndex(({ method, path }) => method === 'POST' && path.endsWith('/comments'))
  return commentIndex < 0
    ? []
    : about.slice(commentIndex + 1).filter(({ path }) => !path.endsWith('/requested_reviewers'))
}

const requestPhases = ['opened to shown', 'shown to merged', 'after', 'shared'] as const
type RequestPhase = (typeof requestPhases)[number]

/** A Markdown table with a row for each kind of request, and the number per merge in each phase. */
export function renderApiRequestTable(
  merged: readonly MeasuredPullRequest[],
  passed: readonly RecordedRequest[],
): string {
  const api = passed.filter(isGitHubApiRequest)
  const rows = new Map<string, Record<RequestPhase, number> & { writes: number }>()
  const phaseOf = createRequestPhaseClassifier(merged, api)
  for (const one of api) {
    const kind = formatRequestKind(one)
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
  const all = (row: Record<RequestPhase, number>) => requestPhases.reduce((sum, phase) => sum + row[phase], 0)
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const sorted = [...rows].toSorted(([, a], [, b]) => all(b) - all(a))
  const total = (of: (row: Record<RequestPhase, number> & { writes: number }) => number) =>
    per([...rows.values()].reduce((sum, row) => sum + of(row), 0))
  return [
    line(['requests a merge', ...requestPhases, 'all', 'writes']),
    line(['---', ...requestPhases.map(() => '---:'), '---:', '---:']),
    ...sorted.map(([kind, row]) =>
      line([kind, ...requestPhases.map((phase) => per(row[phase])), per(all(row)), per(row.writes)]),
    ),
    line([
      'all',
      ...requestPhases.map((phase) => total((row) => row[phase])),
      total(all),
      total(({ writes }) => writes),
    ]),
  ].join('\n')
}

function createRequestPhaseClassifier(
  merged: readonly MeasuredPullRequest[],
  api: readonly RecordedRequest[],
): (one: RecordedRequest) => RequestPhase {
  const known = merged.map((each) => {
    const shown = findVerdictPostedTime(each, api)
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

function formatRequestKind({ method, path, operation }: RecordedRequest): string {
  if (operation !== undefined) return `GraphQL ${operation}`
  const template = path
    .replace(/\?.*/, '')
    .replace(/^\/repos\/[^/]+\/[^/]+/, '/repos/{repo}')
    .replaceAll(/\b[0-9a-f]{40}\b/g, '{sha}')
    .replaceAll(/(?<=\/)\d+(?=\/|$)/g, '{number}')
    .replaceAll(/(?<=users\/|ref\/heads\/|branches\/|collaborators\/)[^/]+/g, '{name}')
  return `${method} ${template}`
}
