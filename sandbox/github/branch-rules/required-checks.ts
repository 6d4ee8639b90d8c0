// Required checks, judged on the commit that would be the branch's tip. One documented leniency: the local merge of a
// pull request that is up to date and green needs no checks of its own.
import { isAncestor, treeOf } from '../git/git-store.ts'
import type { Repo, World } from '../world.ts'
import { pullOf } from './pushed-pull.ts'
import type { Move, Violation } from './ref-update.ts'
import type { StatusCheckParameters } from './rule-shapes.ts'

type Required = StatusCheckParameters['required_status_checks'][number]
/** How a required check stands, in GitHub's words; undefined: it passed. */
type Standing = 'expected' | 'in progress' | 'pending' | 'failing' | 'foreign' | undefined

const passing = new Set(['success', 'neutral', 'skipped'])

interface Report {
  readonly app: number | undefined
  readonly standing: Standing
}

/** The newest word of each reporter on a check of this name: check runs and statuses count alike, and both must pass. */
function reportsOn(world: World, repo: Repo, sha: string, context: string, delay: number): Report[] {
  const seen = ({ changedAt }: { changedAt: number }): boolean => world.now() - changedAt >= delay
  const newest = new Map<string, Report>()
  for (const suite of repo.suites.filter((it) => it.sha === sha))
    for (const run of suite.runs.filter((it) => it.name === context && seen(it)))
      newest.set(`run ${suite.app.id}`, {
        app: suite.app.id,
        standing:
          run.status !== 'completed'
            ? 'in progress'
            : passing.has(run.conclusion ?? '')
              ? undefined
              : 'failing',
      })
  for (const status of repo.statuses.filter((it) => it.sha === sha && it.context === context && seen(it)))
    newest.set('status', {
      app: [...world.apps.values()].find((it) => it.bot === status.creator)?.id,
      standing: status.state === 'success' ? undefined : status.state === 'pending' ? 'pending' : 'failing',
    })
  return [...newest.values()]
}

function standingOf(world: World, repo: Repo, sha: string, required: Required, delay: number): Standing {
  const all = reportsOn(world, repo, sha, required.context, delay)
  const pinned = required.integration_id ?? undefined
  const counted = all.filter((it) => pinned === undefined || it.app === pinned)
  if (counted.length === 0) return all.length === 0 ? 'expected' : 'foreign'
  const standings = counted.map((it) => it.standing)
  return (['failing', 'in progress', 'pending'] as const).find((it) => standings.includes(it))
}

interface Unmet {
  readonly context: string
  readonly standing: Exclude<Standing, undefined>
}

/** The required checks that a commit does not have green. */
export function unmetChecks(
  world: World,
  repo: Repo,
  sha: string,
  required: readonly Required[],
  delay = world.checkDelay,
): Unmet[] {
  return required.flatMap((it) => {
    const standing = standingOf(world, repo, sha, it, delay)
    return standing === undefined ? [] : [{ context: it.context, standing }]
  })
}

/** GitHub names a single check, counts several of one kind, and tells kinds apart when they are mixed. */
export function sayUnmet(unmet: readonly Unmet[], total: number): string {
  const [first] = unmet
  if (first === undefined) return ''
  if (unmet.length === 1)
    return first.standing === 'foreign'
      ? `Required status check "${first.context}" was not set by the expected GitHub app.`
      : `Required status check "${first.context}" is ${first.standing}.`
  const words = unmet.map(({ standing }) => (standing === 'foreign' ? 'expected' : standing))
  const share = `${unmet.length} of ${total} required status checks`
  if (words.every((it) => it === words[0])) return `${share} are ${words[0] ?? ''}.`
  // Runs in progress are not among the kinds that it counts here.
  const kinds = (['expected', 'failing', 'pending'] as const)
    .map((kind) => [words.filter((it) => it === kind).length, kind] as const)
    .filter(([count]) => count > 0)
    .map(([count, kind]) => `${count} ${kind}`)
  return `${share} have not succeeded: ${kinds.join(' and ')}.`
}

export async function requiredChecks(move: Move, parameters: StatusCheckParameters): Promise<Violation[]> {
  const { world, repo, path, old, now, merge } = move
  const {
    required_status_checks: required,
    do_not_enforce_on_create,
    strict_required_status_checks_policy,
  } = parameters
  if (old === undefined && do_not_enforce_on_create === true) return []
  const say = (unmet: readonly Unmet[]): Violation[] =>
    unmet.length === 0 ? [] : [{ says: sayUnmet(unmet, required.length) }]
  if (merge !== undefined) {
    const { headSha } = merge.pull
    // A queue puts the pull request on the base's tip itself.
    const behind = old !== undefined && merge.queued !== true && !(await isAncestor(path, old, headSha))
    // GitHub says "expected" of all of them when the head is behind, green as they are.
    if (strict_required_status_checks_policy && behind)
      return say(required.map(({ context }) => ({ context, standing: 'expected' })))
    return say(unmetChecks(world, repo, headSha, required))
  }
  const unmet = unmetChecks(world, repo, now, required)
  if (unmet.length === 0) return []
  const head = await upToDateHead(move)
  return head !== undefined && unmetChecks(world, repo, head, required).length === 0 ? [] : say(unmet)
}

/** The head of the pull request whose local merge this is, if that head contains the branch: then the trees are one. */
async function upToDateHead(move: Move): Promise<string | undefined> {
  const { path, old, now } = move
  const head = (await pullOf(move))?.headSha
  if (old === undefined || head === undefined || !(await isAncestor(path, old, head))) return undefined
  return (await treeOf(path, head)) === (await treeOf(path, now)) ? head : undefined
}
