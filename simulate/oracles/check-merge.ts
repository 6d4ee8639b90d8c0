// Checks a merge at the moment when it happens, against the state at that time. catalog-bot cannot observe user
// actions that happen during the merge after its last evaluation. So every condition must have held at some moment
// since that evaluation.
import type { CommitSha, TreeSha } from '../../src/pull-request/ids.ts'
import { hasAncestor } from '../git/history.ts'
import { mergeTrees } from '../git/merge.ts'
import { parseExpectedBotConfig, listChangedPaths, findCatalogProblems } from '../world/expected-state.ts'
import { SimulatedGitHub, type SimulatedComment, type SimulatedPull } from '../world/simulated-github.ts'
import {
  parseCommentCommand,
  hasApprovalRights,
  isMaintainer,
  findMissingApprovals,
  getLatestReviews,
} from './authority.ts'
import type { ObservedSimulationRun, ObservedMerge, InvariantViolation } from './observed-run.ts'

export function checkMergeInvariants(
  observed: ObservedSimulationRun,
  merge: ObservedMerge,
): readonly InvariantViolation[] {
  const { server } = observed
  const { pull: number, permit, by, commit, on: tip } = merge
  const { objects } = server
  const found: InvariantViolation[] = []
  const addViolation = (invariant: string, what: string) =>
    void found.push({ invariant, what: `#${number}: ${what}` })

  const { baseRef, head, base: judgedBase } = permit.merge
  // GitHub merges into the current base, whatever it is. The result is compared afterwards with the validated tree
  // (I14).
  const isRaced = by === 'merge' && tip !== judgedBase
  const base = objects.commit(tip).tree
  const result = by === 'push' ? objects.commit(commit).tree : computeMergedTree(server, tip, head)
  if (result === undefined) return found

  if (!isRaced) {
    // This merge is not responsible for faults that were there before.
    const before = findCatalogProblems(objects, base)
    for (const fault of findCatalogProblems(objects, result))
      if (!before.includes(fault)) addViolation('I1', fault)
    if (result !== computeMergedTree(server, tip, head))
      addViolation('I2', 'the tree is not the merge of head and base')
    const { parents } = objects.commit(permit.merge.commit)
    if (parents[0] !== tip || parents[1] !== head) addViolation('I2', 'its parents are not base and head')
    const { isReadable } = parseExpectedBotConfig(objects, base)
    if (!isReadable) addViolation('I13', 'the configuration cannot be read')
    for (const path of listChangedPaths(objects, base, result)) {
      const mode = objects.tree(result).get(path)?.mode
      if (mode !== undefined && mode !== '100644' && mode !== '100755')
        addViolation('I9', `${path} has the mode ${mode}`)
    }
  }

  const facts = listPullStatesSinceLastEvaluation(observed, merge).map((pull) =>
    findMergeViolations(observed, pull, merge, base, result),
  )
  const fewestViolations = facts.toSorted((a, b) => a.length - b.length)[0]
  found.push(...(fewestViolations ?? [{ invariant: 'I2', what: `#${number} does not exist` }]))

  const intents = observed.tables.intents.filter(({ intent }) => intent.pull === number)
  if (!intents.some(({ intent, outcome }) => intent.commit === commit && outcome === undefined))
    addViolation('I11', 'no open intent names this commit')
  if (
    observed.merges
      .filter((other) => other.pull === number && other !== merge)
      .some((other) => hasMergeTakenEffect(server, other))
  )
    addViolation('I11', 'it was already merged')
  // After its last evaluation, catalog-bot checks for freezes again.
  const lastReadStep = Math.max(
    observed.leasesTaken.get(merge.process) ?? merge.step,
    observed.freshReads.get(`${merge.process.name} ${number}`) ?? 0,
  )
  for (const stop of listAnnouncedFreezes(server, baseRef))
    if (stop.step < lastReadStep) addViolation('I13', stop.what)
  return found
}

function hasMergeTakenEffect(server: SimulatedGitHub, { by, commit, pull, permit }: ObservedMerge): boolean {
  return by === 'merge'
    ? server.pull(pull)?.state === 'merged'
    : hasAncestor(server.objects, server.mustTip(permit.merge.baseRef), commit)
}

function computeMergedTree(server: SimulatedGitHub, base: CommitSha, head: CommitSha): TreeSha | undefined {
  const merged = mergeTrees(server.objects, base, head)
  return merged.kind === 'clean' ? merged.tree : undefined
}

/**
 * Every state of the pull request since its last evaluation for this merge. Without an evaluation, only the current
 * state.
 */
function listPullStatesSinceLastEvaluation(
  observed: ObservedSimulationRun,
  { process, pull, step }: ObservedMerge,
): readonly SimulatedPull[] {
  const { server } = observed
  const states = server.pulls.get(pull) ?? []
  const lastReadStep = observed.freshReads.get(`${process.name} ${pull}`) ?? step
  const taken = observed.leasesTaken.get(process) ?? 0
  // A GitHub server can lag a little: an answer was correct at an earlier step.
  const since = lastReadStep >= taken - maxBotReadDelaySteps ? lastReadStep : step
  const first = SimulatedGitHub.at(states, since)
  const later = states.filter((state) => state.step > since).map(({ value }) => value)
  return first === undefined ? later : [first, ...later]
}

/** Steps. */
const maxBotReadDelaySteps = 12

/** The number of milliseconds within which catalog-bot reads a comment and its author's permissions. */
const maxCommentReadDelayMs = 60_000

/** The reasons not to merge this state of the pull request. */
function findMergeViolations(
  observed: ObservedSimulationRun,
  pull: SimulatedPull,
  { permit, at }: ObservedMerge,
  base: TreeSha,
  result: TreeSha,
): readonly InvariantViolation[] {
  const { server } = observed
  const found: InvariantViolation[] = []
  const addViolation = (invariant: string, what: string) =>
    void found.push({ invariant, what: `#${pull.number}: ${what}` })
  const { head, baseRef } = permit.merge
  if (pull.head !== head) addViolation('I2', 'the merged commit is not its head')
  if (pull.baseRef !== baseRef) addViolation('I4', `it is for ${pull.baseRef}, but merges into ${baseRef}`)
  if (pull.state !== 'open') addViolation('I13', `it is ${pull.state}`)
  if (pull.stacked) addViolation('I13', 'it is stacked on another pull request')
  if (pull.draft) addViolation('I13', 'it is a draft')
  if (pull.labels.includes('hold')) addViolation('I13', 'it has the label hold')
  for (const lack of findMissingApprovals(observed, pull, base, result, at)) addViolation('I3', lack)
  for (const review of getLatestReviews(pull).values())
    if (
      review.state === 'changes-requested' &&
      review.author !== null &&
      review.author.id !== pull.author.id &&
      hasApprovalRights(server, review.author, pull, base, result, at)
    )
      addViolation('I4', `${review.author.login} requested changes`)
  // A user who has permission now but had none when they commented received a rejection, and can comment again.
  const holds = pull.comments.filter(
    (comment) =>
      parseCommentCommand(comment) === 'hold' &&
      !wasCommandRejectedEarlier(server, pull, comment) &&
      hasApprovalRights(server, comment.author, pull, base, result, at) &&
      hasApprovalRights(
        server,
        comment.author,
        pull,
        base,
        result,
        comment.createdAt,
        comment.createdAt + maxCommentReadDelayMs,
      ),
  )
  for (const hold of holds) {
    const isLifted = pull.comments.some(
      (comment) =>
        comment.id > hold.id &&
        parseCommentCommand(comment) === 'unhold' &&
        (comment.author.id === hold.author.id || isMaintainer(server, comment.author.id, base, at)),
    )
    if (!isLifted) addViolation('I13', `${hold.author.login} holds it`)
  }
  const { merges } = parseExpectedBotConfig(server.objects, base)
  const isMergeRequested = pull.comments.some((comment) => parseCommentCommand(comment) === 'merge')
  if (!merges && !isMergeRequested) addViolation('I13', 'merging is turned off, and no user requested it')
  return found
}

/**
 * Whether catalog-bot rejected the author of a command for lack of permission, when the pull request or its base
 * branch was different.
 */
function wasCommandRejectedEarlier(
  server: SimulatedGitHub,
  pull: SimulatedPull,
  { id, reactions }: SimulatedComment,
): boolean {
  const first = server.pulls
    .get(pull.number)
    ?.find(({ value }) => value.comments.some((comment) => comment.id === id))
  if (first === undefined || !reactions.includes('-1')) return false
  const before = SimulatedGitHub.at(server.branches.get(pull.baseRef) ?? [], first.step)
  return first.value.head !== pull.head || before !== server.tip(pull.baseRef)
}

/** Freezes that catalog-bot has acknowledged, with a thumbs-up reaction on the comment that ordered them. */
function listAnnouncedFreezes(
  server: SimulatedGitHub,
  branch: string,
): readonly { readonly step: number; readonly what: string }[] {
  const orders = [...server.pulls.values()].flatMap((states) => {
    const ids = new Set(states.flatMap(({ value }) => value.comments.map(({ id }) => id)))
    return [...ids].flatMap((id) => {
      const seen = states.find(({ value }) =>
        value.comments.some((comment) => comment.id === id && comment.reactions.includes('+1')),
      )
      const comment = seen?.value.comments.find((one) => one.id === id)
      // The comment as it was when the command ran: a later edit does not undo it.
      const command = comment && parseCommentCommand(comment)
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
  return last?.command === 'freeze' ? [{ step: last.step, what: `${last.by} froze merging` }] : []
}
