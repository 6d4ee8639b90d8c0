// Where the requests of a merge go: how many of each kind there were, and when in a pull request's life. What is about no pull
// request, or about several at once, is shared by all.
import type { MockPull } from '../sandbox/github/github-data.ts'
import type { RecordedRequest } from './slow-github.ts'

export interface MeasuredPullRequest {
  readonly pull: MockPull
  /** Its author, whose account is asked about for this pull request alone. */
  readonly author: string
  /** As `performance.now()` has it. Undefined: it was not merged. */
  readonly mergedAt: number | undefined
}

/** When its verdict was shown: the last check run before it was merged. */
export function findVerdictShownTime(
  { pull, mergedAt = Infinity }: MeasuredPullRequest,
  passed: readonly RecordedRequest[],
): number | undefined {
  return passed
    .filter(({ heads, writes, at }) => writes > 0 && heads.includes(pull.headSha) && at <= mergedAt)
    .at(-1)?.at
}

/** The requests that are about this pull request and no other. */
export function createRequestFilterForPull({
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

/** The requests about one that waits, after its comment and what is written with it: they come of what others do. */
export function findRequestsAfterComment(
  one: MeasuredPullRequest,
  passed: readonly RecordedRequest[],
): readonly RecordedRequest[] {
  const about = passed.filter(createRequestFilterForPull(one))
  const commentIndex = about.findIndex(({ method, path }) => method === 'POST' && path.endsWith('/comments'))
  return commentIndex < 0
    ? []
    : about.slice(commentIndex + 1).filter(({ path }) => !path.endsWith('/requested_reviewers'))
}

const requestPhases = ['opened to shown', 'shown to merged', 'after', 'shared'] as const
type RequestPhase = (typeof requestPhases)[number]

/** A Markdown table: a line for each kind of request, with how many a merge there were in each phase. */
export function renderRequestTable(
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
    const shown = findVerdictShownTime(each, api)
    return {
      is: createRequestFilterForPull(each),
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

/** Neither git's protocol nor the App's own tokens, of which there is one an hour. */
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
