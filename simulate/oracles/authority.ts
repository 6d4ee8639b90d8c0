// Determines from the simulated state alone who agreed to a pull request: its author, and everyone who approved its
// current head for its current base.
import type { UserId } from '../../src/pull-request/ids.ts'
import type { GitHubAccount } from '../../src/pull-request/snapshot.ts'
import type { TreeSha } from '../../src/pull-request/ids.ts'
import {
  listChangedPaths,
  getMaintainers,
  getPackageOwners,
  findPackageByPath,
  findReferencedPackages,
  getPackageOwnersFromTeam,
} from '../world/expected-state.ts'
import {
  appId,
  type SimulatedComment,
  type SimulatedPull,
  type SimulatedGitHub,
} from '../world/simulated-github.ts'
import type { ObservedSimulationRun } from './observed-run.ts'

/**
 * The number of seconds for which revoked permissions can still count. Answers about users are cached for 30
 * seconds.
 */
const maxPermissionStalenessMs = 40_000

/** The command in a comment. Recognizes only the forms that occur in a run. */
export function parseCommentCommand({ body, isEdited, author }: SimulatedComment): string | undefined {
  if (isEdited || author.kind === 'bot') return undefined
  if (body.includes('```')) return undefined
  const lines = body.split('\n').filter((line) => line.startsWith('/'))
  return lines[0]?.split(' ')[0]?.slice(1)
}

/** The last review of each user, ignoring reviews that only comment. */
export function getLatestReviews(pull: SimulatedPull): ReadonlyMap<UserId, SimulatedPull['reviews'][number]> {
  const last = new Map<UserId, SimulatedPull['reviews'][number]>()
  for (const review of pull.reviews)
    if (review.author !== null && review.state !== 'commented') last.set(review.author.id, review)
  return last
}

/** All users who agreed to this state of a pull request, including its author. */
function findApprovers(observed: ObservedSimulationRun, pull: SimulatedPull): ReadonlySet<UserId> {
  const agreed = new Set<UserId>([pull.author.id])
  for (const [id, { state, commit, id: review }] of getLatestReviews(pull))
    if (state === 'approved' && commit === pull.head && isApprovalCurrent(observed, pull, review))
      agreed.add(id)
  for (const comment of pull.comments)
    if (parseCommentCommand(comment) === 'approve' && isApprovalCurrent(observed, pull, comment.id))
      agreed.add(comment.author.id)
  return agreed
}

/**
 * User actions at a step come after the catalog-bot actions up to that step. An approval of a head for a base
 * branch counts while both remain unchanged. If they change and then change back, the approval is outdated. A
 * process that never observed the change cannot know that, for example when no process was running. catalog-bot
 * observed the change if the other head has its check runs, or if an evaluation finished between the two changes.
 */
function isApprovalCurrent(
  { server, evaluations }: ObservedSimulationRun,
  pull: SimulatedPull,
  yes: number,
): boolean {
  const states = server.pulls.get(pull.number) ?? []
  // IDs increase: a larger ID is newer.
  const given = states.find(
    ({ value }) => value.comments.some(({ id }) => id === yes) || value.reviews.some(({ id }) => id === yes),
  )
  if (given === undefined) return false
  const isPresent = ({ head, baseRef }: SimulatedPull) => head === pull.head && baseRef === pull.baseRef
  if (!isPresent(given.value)) return false
  if (given.step >= pull.headSince) return true
  const between = states.filter(({ step }) => step > given.step && step < pull.headSince)
  const isOnRecord = between.some(
    ({ value }) =>
      value.head !== pull.head && (server.checks.get(value.head) ?? []).some(({ app }) => app === appId),
  )
  return (
    !isOnRecord &&
    !evaluations.some((evaluation) => {
      const seen = states.filter(
        ({ step }, at) => step < evaluation.until && (states[at + 1]?.step ?? Infinity) >= evaluation.since,
      )
      return (
        evaluation.pull === pull.number &&
        evaluation.since > given.step &&
        evaluation.until <= pull.headSince &&
        seen.every(({ value }) => value.state === 'open' && !isPresent(value))
      )
    })
  )
}

export function isMaintainer(
  server: SimulatedGitHub,
  id: UserId,
  base: TreeSha,
  at: number,
  until = Infinity,
): boolean {
  const listed = getMaintainers(server.objects, base).some((name) => server.people.of(name).id === id)
  const roles = server.people.rolesBetween(id, at - maxPermissionStalenessMs, until)
  return listed || roles.includes('maintain') || roles.includes('admin')
}

export const isPackageOwner = (server: SimulatedGitHub, id: UserId, base: TreeSha, name: string): boolean =>
  [
    ...getPackageOwners(server.objects, base, name),
    ...getPackageOwnersFromTeam(server.objects, base, name),
  ].some((owner) => server.people.of(owner).id === id)

/** The packages that a change between two trees affects, by location and by file contents. */
export function findTouchedPackages(
  server: SimulatedGitHub,
  base: TreeSha,
  result: TreeSha,
): { readonly packages: ReadonlySet<string>; readonly outside: readonly string[] } {
  const { objects } = server
  const packages = new Set<string>()
  const outside: string[] = []
  for (const path of listChangedPaths(objects, base, result)) {
    const name = findPackageByPath(path)
    if (name === undefined) outside.push(path)
    else packages.add(name)
    if (path.startsWith('catalog/'))
      for (const tree of [base, result])
        for (const spoken of findReferencedPackages(objects.text(tree, path))) packages.add(spoken)
  }
  return { packages, outside }
}

/** The reasons that users with permission have not agreed to the whole change. Empty when they have. */
export function findMissingApprovals(
  observed: ObservedSimulationRun,
  pull: SimulatedPull,
  base: TreeSha,
  result: TreeSha,
  at: number,
): readonly string[] {
  const { server } = observed
  const lacks: string[] = []
  const { packages, outside } = findTouchedPackages(server, base, result)
  for (const path of outside) lacks.push(`${path} is outside all packages`)
  const agreed = findApprovers(observed, pull)
  const isAuthorizedFor = (name: string, id: UserId) =>
    isPackageOwner(server, id, base, name) || isMaintainer(server, id, base, at)
  for (const name of packages) {
    if (![...agreed].some((id) => isAuthorizedFor(name, id)))
      lacks.push(`no user who may change ${name} agreed`)
    const before = getPackageOwners(server.objects, base, name)
    const added = getPackageOwners(server.objects, result, name).filter((owner) => !before.includes(owner))
    for (const owner of added) {
      const { id } = server.people.of(owner)
      if (![...agreed].some((other) => other !== id && isAuthorizedFor(name, other)))
        lacks.push(`${owner} becomes an owner of ${name} without approval from another user`)
    }
  }
  return lacks
}

export function hasApprovalRights(
  server: SimulatedGitHub,
  person: GitHubAccount,
  pull: SimulatedPull,
  base: TreeSha,
  result: TreeSha,
  at: number,
  until = Infinity,
): boolean {
  if (person.id === pull.author.id) return true
  const { packages } = findTouchedPackages(server, base, result)
  return (
    isMaintainer(server, person.id, base, at, until) ||
    [...packages].some((name) => isPackageOwner(server, person.id, base, name))
  )
}
