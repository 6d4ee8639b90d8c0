// Where the requests of a merge go: how many of each kind there were, and when in a pull request's life. What is about no pull
// request, or about several at once, is shared by all.
import type { Pull } from '../sandbox/github/world.ts'
import type { Passed } from './slow-github.ts'

export interface Merged {
  readonly pull: Pull
  /** Its author, whose account is asked about for this pull request alone. */
  readonly author: string
  /** As `performance.now()` has it. Undefined: it was not merged. */
  readonly landedAt: number | undefined
}

/** When its verdict was shown: the last check run before it was merged. */
export function shownAt(
  { pull, landedAt = Infinity }: Merged,
  passed: readonly Passed[],
): number | undefined {
  return passed
    .filter(({ heads, writes, at }) => writes > 0 && heads.includes(pull.headSha) && at <= landedAt)
    .at(-1)?.at
}

/** The requests that are about this pull request and no other. */
export function aboutAlone({ pull, author }: Merged): (one: Passed) => boolean {
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
export function laterThanTold(one: Merged, passed: readonly Passed[]): readonly Passed[] {
  const about = passed.filter(aboutAlone(one))
  const told = about.findIndex(({ method, path }) => method === 'POST' && path.endsWith('/comments'))
  return told < 0 ? [] : about.slice(told + 1).filter(({ path }) => !path.endsWith('/requested_reviewers'))
}

const phases = ['opened to shown', 'shown to merged', 'after', 'shared'] as const
type Phase = (typeof phases)[number]

/** A Markdown table: a line for each kind of request, with how many a merge there were in each phase. */
export function requestTable(merged: readonly Merged[], passed: readonly Passed[]): string {
  const api = passed.filter(isApi)
  const rows = new Map<string, Record<Phase, number> & { writes: number }>()
  const phaseOf = phasesOf(merged, api)
  for (const one of api) {
    const kind = kindOf(one)
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
  const count = Math.max(1, merged.filter(({ landedAt }) => landedAt !== undefined).length)
  const per = (all: number) => (all === 0 ? '' : (all / count).toFixed(2))
  const all = (row: Record<Phase, number>) => phases.reduce((sum, phase) => sum + row[phase], 0)
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const sorted = [...rows].toSorted(([, a], [, b]) => all(b) - all(a))
  const total = (of: (row: Record<Phase, number> & { writes: number }) => number) =>
    per([...rows.values()].reduce((sum, row) => sum + of(row), 0))
  return [
    line(['requests a merge', ...phases, 'all', 'writes']),
    line(['---', ...phases.map(() => '---:'), '---:', '---:']),
    ...sorted.map(([kind, row]) =>
      line([kind, ...phases.map((phase) => per(row[phase])), per(all(row)), per(row.writes)]),
    ),
    line([
      'all',
      ...phases.map((phase) => total((row) => row[phase])),
      total(all),
      total(({ writes }) => writes),
    ]),
  ].join('\n')
}

function phasesOf(merged: readonly Merged[], api: readonly Passed[]): (one: Passed) => Phase {
  const known = merged.map((each) => {
    const shown = shownAt(each, api)
    return { is: aboutAlone(each), shown: shown ?? Infinity, landed: each.landedAt ?? Infinity }
  })
  return (one) => {
    const its = known.find(({ is }) => is(one))
    if (its === undefined) return 'shared'
    if (one.at > its.landed) return 'after'
    return one.at > its.shown ? 'shown to merged' : 'opened to shown'
  }
}

/** Neither git's protocol nor the App's own tokens, of which there is one an hour. */
export const isApi = ({ path }: Passed): boolean => !path.includes('.git/') && !path.startsWith('/app')

function kindOf({ method, path, operation }: Passed): string {
  if (operation !== undefined) return `GraphQL ${operation}`
  const template = path
    .replace(/\?.*/, '')
    .replace(/^\/repos\/[^/]+\/[^/]+/, '/repos/{repo}')
    .replaceAll(/\b[0-9a-f]{40}\b/g, '{sha}')
    .replaceAll(/(?<=\/)\d+(?=\/|$)/g, '{number}')
    .replaceAll(/(?<=users\/|ref\/heads\/|branches\/|collaborators\/)[^/]+/g, '{name}')
  return `${method} ${template}`
}
