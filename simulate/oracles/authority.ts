// Who said yes to a pull request, by the world alone: its author, and whoever approved its present head for its present base.
import type { UserId } from '../../src/change/ids.ts'
import type { Person } from '../../src/change/snapshot.ts'
import type { TreeSha } from '../../src/change/ids.ts'
import { changedPaths, maintainersIn, ownersIn, packageAt, spokenOf } from '../world/truth.ts'
import type { Comment, Pull, Server } from '../world/server.ts'

/** Seconds for which rights that were taken away may still count: what is asked about people is kept for half a minute. */
const rightsAge = 40_000

/** The command that a comment gives, by the words of the only forms that occur in a run. */
export function commandOf({ body, isEdited, author }: Comment): string | undefined {
  if (isEdited || author.kind === 'bot') return undefined
  const lines = body.split('\n').filter((line) => line.startsWith('/'))
  return lines[0]?.split(' ')[0]?.slice(1)
}

/** The last review of each person that is more than a comment. */
export function lastReviews(pull: Pull): ReadonlyMap<UserId, Pull['reviews'][number]> {
  const last = new Map<UserId, Pull['reviews'][number]>()
  for (const review of pull.reviews)
    if (review.author !== null && review.state !== 'commented') last.set(review.author.id, review)
  return last
}

/** Everybody who agreed to this state of a pull request, its author among them. */
function agreeing(server: Server, pull: Pull): ReadonlySet<UserId> {
  const agreed = new Set<UserId>([pull.author.id])
  for (const [id, { state, commit, id: review }] of lastReviews(pull))
    if (state === 'approved' && commit === pull.head && isOfThisHead(server, pull, review)) agreed.add(id)
  for (const comment of pull.comments)
    if (commandOf(comment) === 'approve' && isAfterHead(server, pull, comment.id))
      agreed.add(comment.author.id)
  return agreed
}

/** Ids grow: what has a larger one came later. */
function isAfterHead(server: Server, pull: Pull, id: number): boolean {
  const states = server.pulls.get(pull.number) ?? []
  const first = states.find(
    ({ value }) =>
      value.comments.some((comment) => comment.id === id) || value.reviews.some((review) => review.id === id),
  )
  return first !== undefined && first.step >= pull.headSince
}

/**
 * A review of a head counts while that head stays. When it went and came back, the review is of before; but who never saw the
 * head in between cannot know that, and the bot shows on GitHub which heads it saw: by its check runs.
 */
function isOfThisHead(server: Server, pull: Pull, review: number): boolean {
  if (isAfterHead(server, pull, review)) return true
  const states = server.pulls.get(pull.number) ?? []
  const given = states.find(({ value }) => value.reviews.some(({ id }) => id === review))
  const between = states.filter(
    ({ step }) => given !== undefined && step > given.step && step < pull.headSince,
  )
  const others = between.filter(({ value }) => value.head !== pull.head)
  return !others.some(({ value }) => (server.checks.get(value.head) ?? []).some(({ app }) => app !== 1))
}

export function isMaintainer(server: Server, id: UserId, base: TreeSha, at: number): boolean {
  const listed = maintainersIn(server.objects, base).some((name) => server.people.of(name).id === id)
  const roles = server.people.rolesSince(id, at - rightsAge)
  return listed || roles.includes('maintain') || roles.includes('admin')
}

export const isOwner = (server: Server, id: UserId, base: TreeSha, name: string): boolean =>
  ownersIn(server.objects, base, name).some((owner) => server.people.of(owner).id === id)

/** The packages that a change from one tree to another touches, by place and by what its files say. */
export function touched(
  server: Server,
  base: TreeSha,
  result: TreeSha,
): {
  readonly packages: ReadonlySet<string>
  readonly outside: readonly string[]
} {
  const { objects } = server
  const packages = new Set<string>()
  const outside: string[] = []
  for (const path of changedPaths(objects, base, result)) {
    const name = packageAt(path)
    if (name === undefined) outside.push(path)
    else packages.add(name)
    if (path.startsWith('catalog/'))
      for (const tree of [base, result])
        for (const spoken of spokenOf(objects.text(tree, path))) packages.add(spoken)
  }
  return { packages, outside }
}

/** Why nobody with rights agreed to all of a change; none where somebody did. */
export function lacksOfAuthority(
  server: Server,
  pull: Pull,
  base: TreeSha,
  result: TreeSha,
  at: number,
): readonly string[] {
  const lacks: string[] = []
  const { packages, outside } = touched(server, base, result)
  for (const path of outside) lacks.push(`${path} is outside all packages`)
  const agreed = agreeing(server, pull)
  const mayFor = (name: string, id: UserId) =>
    isOwner(server, id, base, name) || isMaintainer(server, id, base, at)
  for (const name of packages) {
    if (![...agreed].some((id) => mayFor(name, id))) lacks.push(`nobody who may change ${name} agreed`)
    const before = ownersIn(server.objects, base, name)
    const added = ownersIn(server.objects, result, name).filter((owner) => !before.includes(owner))
    for (const owner of added) {
      const { id } = server.people.of(owner)
      if (![...agreed].some((other) => other !== id && mayFor(name, other)))
        lacks.push(`${owner} becomes an owner of ${name} by nobody's word but their own`)
    }
  }
  return lacks
}

export function hasSay(
  server: Server,
  person: Person,
  pull: Pull,
  base: TreeSha,
  result: TreeSha,
  at: number,
): boolean {
  if (person.id === pull.author.id) return true
  const { packages } = touched(server, base, result)
  return (
    isMaintainer(server, person.id, base, at) ||
    [...packages].some((name) => isOwner(server, person.id, base, name))
  )
}
