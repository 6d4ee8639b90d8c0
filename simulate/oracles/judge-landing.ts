// Judges a landing at the moment at which it happens, by what is true then. What a person said or changed while the landing was
// under way, after its last look, could not be seen: it is enough that all held at some moment since that look.
import type { CommitSha, TreeSha } from '../../src/change/ids.ts'
import { contains } from '../git/history.ts'
import { mergeTrees } from '../git/merge.ts'
import { configIn, changedPaths, faultsOf } from '../world/truth.ts'
import { Server, type Comment, type Pull } from '../world/server.ts'
import { commandOf, hasSay, isMaintainer, lacksOfAuthority, lastReviews } from './authority.ts'
import type { Observed, ObservedLanding, Violation } from './observed.ts'

export function judgeLanding(observed: Observed, landing: ObservedLanding): readonly Violation[] {
  const { server } = observed
  const { pull: number, permit, by, commit, on: tip } = landing
  const { objects } = server
  const found: Violation[] = []
  const violated = (invariant: string, what: string) =>
    void found.push({ invariant, what: `#${number}: ${what}` })

  const { baseRef, head, base: judgedBase } = permit.landing
  // GitHub's own merge goes into whatever the base is: what it makes is held against what was validated afterwards (I14).
  const isRaced = by === 'merge' && tip !== judgedBase
  const base = objects.commit(tip).tree
  const result = by === 'push' ? objects.commit(commit).tree : mergedTree(server, tip, head)
  if (result === undefined) return found

  if (!isRaced) {
    // What others broke before is not this landing's.
    const before = faultsOf(objects, base)
    for (const fault of faultsOf(objects, result)) if (!before.includes(fault)) violated('I1', fault)
    if (result !== mergedTree(server, tip, head))
      violated('I2', 'the tree is not that of head and base together')
    const { parents } = objects.commit(permit.landing.commit)
    if (parents[0] !== tip || parents[1] !== head) violated('I2', 'its parents are not base and head')
    const { isReadable } = configIn(objects, base)
    if (!isReadable) violated('I13', 'the configuration cannot be read')
    for (const path of changedPaths(objects, base, result)) {
      const mode = objects.tree(result).get(path)?.mode
      if (mode !== undefined && mode !== '100644' && mode !== '100755')
        violated('I9', `${path} has the mode ${mode}`)
    }
  }

  const facts = statesSince(observed, landing).map((pull) => faultsNow(observed, pull, landing, base, result))
  const least = facts.toSorted((a, b) => a.length - b.length)[0]
  found.push(...(least ?? [{ invariant: 'I2', what: `#${number} does not exist` }]))

  const intents = observed.tables.intents.filter(({ intent }) => intent.pull === number)
  if (!intents.some(({ intent, outcome }) => intent.commit === commit && outcome === undefined))
    violated('I11', 'no open intent names this commit')
  if (
    observed.landings
      .filter((other) => other.pull === number && other !== landing)
      .some((other) => isOn(server, other))
  )
    violated('I11', 'it has landed before')
  // Stops are looked for once more after the last look.
  const lookedAt = Math.max(
    observed.leasesTaken.get(landing.process) ?? landing.step,
    observed.freshLooks.get(`${landing.process.name} ${number}`) ?? 0,
  )
  for (const stop of stopsShown(server, baseRef)) if (stop.step < lookedAt) violated('I13', stop.what)
  return found
}

function isOn(server: Server, { by, commit, pull, permit }: ObservedLanding): boolean {
  return by === 'merge'
    ? server.pull(pull)?.state === 'merged'
    : contains(server.objects, server.mustTip(permit.landing.baseRef), commit)
}

function mergedTree(server: Server, base: CommitSha, head: CommitSha): TreeSha | undefined {
  const merged = mergeTrees(server.objects, base, head)
  return merged.kind === 'clean' ? merged.tree : undefined
}

/** Every state of the pull request since the last look at it in this landing; without a look only the present one. */
function statesSince(observed: Observed, { process, pull, step }: ObservedLanding): readonly Pull[] {
  const { server } = observed
  const states = server.pulls.get(pull) ?? []
  const looked = observed.freshLooks.get(`${process.name} ${pull}`) ?? step
  const taken = observed.leasesTaken.get(process) ?? 0
  // A server of GitHub's may lag a little: what it said held then.
  const since = looked >= taken - mostLag ? looked : step
  const first = Server.at(states, since)
  const later = states.filter((state) => state.step > since).map(({ value }) => value)
  return first === undefined ? later : [first, ...later]
}

/** Steps. */
const mostLag = 12

/** Milliseconds within which a comment is read by the bot, and its author's rights with it. */
const readWithin = 60_000

/** What speaks against landing this state of the pull request. */
function faultsNow(
  observed: Observed,
  pull: Pull,
  { permit, at }: ObservedLanding,
  base: TreeSha,
  result: TreeSha,
): readonly Violation[] {
  const { server } = observed
  const found: Violation[] = []
  const violated = (invariant: string, what: string) =>
    void found.push({ invariant, what: `#${pull.number}: ${what}` })
  const { head, baseRef } = permit.landing
  if (pull.head !== head) violated('I2', 'what lands is not its head')
  if (pull.baseRef !== baseRef) violated('I4', `it is for ${pull.baseRef}, and lands on ${baseRef}`)
  if (pull.state !== 'open') violated('I13', `it is ${pull.state}`)
  if (pull.stacked) violated('I13', 'it stands on another one')
  if (pull.draft) violated('I13', 'it is a draft')
  if (pull.labels.includes('hold')) violated('I13', 'it has the label hold')
  for (const lack of lacksOfAuthority(observed, pull, base, result, at)) violated('I3', lack)
  for (const review of lastReviews(pull).values())
    if (
      review.state === 'changes-requested' &&
      review.author !== null &&
      review.author.id !== pull.author.id &&
      hasSay(server, review.author, pull, base, result, at)
    )
      violated('I4', `${review.author.login} requested changes`)
  // Who has a say now and had none when they said it was told no, and may say it again.
  const holds = pull.comments.filter(
    (comment) =>
      commandOf(comment) === 'hold' &&
      !wasRefusedEarlier(server, pull, comment) &&
      hasSay(server, comment.author, pull, base, result, at) &&
      hasSay(server, comment.author, pull, base, result, comment.createdAt, comment.createdAt + readWithin),
  )
  for (const hold of holds) {
    const isLifted = pull.comments.some(
      (comment) =>
        comment.id > hold.id &&
        commandOf(comment) === 'unhold' &&
        (comment.author.id === hold.author.id || isMaintainer(server, comment.author.id, base, at)),
    )
    if (!isLifted) violated('I13', `${hold.author.login} holds it`)
  }
  const { merges } = configIn(server.objects, base)
  const isAsked = pull.comments.some((comment) => commandOf(comment) === 'merge')
  if (!merges && !isAsked) violated('I13', 'merging is switched off, and nobody asked for it')
  return found
}

/** Whether the author of a command was told that they have no say, when the pull request or its base branch was another. */
function wasRefusedEarlier(server: Server, pull: Pull, { id, reactions }: Comment): boolean {
  const first = server.pulls
    .get(pull.number)
    ?.find(({ value }) => value.comments.some((comment) => comment.id === id))
  if (first === undefined || !reactions.includes('-1')) return false
  const before = Server.at(server.branches.get(pull.baseRef) ?? [], first.step)
  return first.value.head !== pull.head || before !== server.tip(pull.baseRef)
}

/** Stops that the bot has told everybody about: by a thumb on the comment that ordered them. */
function stopsShown(
  server: Server,
  branch: string,
): readonly { readonly step: number; readonly what: string }[] {
  const orders = [...server.pulls.values()].flatMap((states) => {
    const ids = new Set(states.flatMap(({ value }) => value.comments.map(({ id }) => id)))
    return [...ids].flatMap((id) => {
      const seen = states.find(({ value }) =>
        value.comments.some((comment) => comment.id === id && comment.reactions.includes('+1')),
      )
      const comment = seen?.value.comments.find((one) => one.id === id)
      // As it was when it was obeyed: who edits it later takes nothing back.
      const command = comment && commandOf(comment)
      if (seen === undefined || comment === undefined || (command !== 'freeze' && command !== 'thaw'))
        return []
      const { step, value } = seen
      return [{ id, command, step, baseRef: value.baseRef, by: comment.author.login }]
    })
  })
  const last = orders
    .filter(({ baseRef }) => baseRef === branch)
    .toSorted((a, b) => a.id - b.id)
    .at(-1)
  return last?.command === 'freeze' ? [{ step: last.step, what: `${last.by} stopped merging` }] : []
}
