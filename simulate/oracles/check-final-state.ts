// Checks the final state: there were no faults for hours, and every job had its turn.
import { mergeTrees } from '../git/merge.ts'
import { hasAncestor } from '../git/history.ts'
import {
  parseExpectedBotConfig,
  findCatalogProblems,
  getPackageOwners,
  listChangedPaths,
} from '../world/expected-state.ts'
import {
  appId,
  mainBranch,
  type SimulatedCheckRun,
  type SimulatedPull,
  type SimulatedGitHub,
} from '../world/simulated-github.ts'
import {
  parseCommentCommand,
  isPackageOwner,
  findMissingApprovals,
  getLatestReviews,
  findTouchedPackages,
} from './authority.ts'
import type { ObservedSimulationRun, ObservedMerge, InvariantViolation } from './observed-run.ts'

export function checkFinalSimulationState(observed: ObservedSimulationRun): readonly InvariantViolation[] {
  const { server, tables } = observed
  const found: InvariantViolation[] = []
  const addViolation = (invariant: string, what: string) => void found.push({ invariant, what })

  for (const { job, error } of observed.ownFailures) addViolation('ours', `${job} failed: ${error.message}`)
  for (const { intent, outcome } of tables.intents) {
    const name = `the merge of #${intent.pull} as ${intent.commit.slice(0, 7)}`
    const isThere = hasAncestor(server.objects, server.mustTip(intent.baseRef), intent.commit)
    if (outcome === undefined) addViolation('I24', `${name} is open`)
    if (outcome === 'landed' && !isThere)
      addViolation('I11', `${name} is recorded, but the branch does not have it`)
    // Every attempt at the same merge creates the same commit.
    const isRecorded = tables.intents.some(
      (other) => other.outcome === 'landed' && other.intent.commit === intent.commit,
    )
    if (outcome === 'abandoned' && isThere && !isRecorded)
      addViolation('I11', `${name} is recorded as abandoned, but the branch has it`)
    if (outcome === 'mismatch' && server.issues.length === 0)
      addViolation('I14', `${name} failed, and catalog-bot did not report it`)
  }
  for (const merge of observed.merges) found.push(...checkMergeResult(observed, merge))
  for (const states of server.pulls.values()) {
    const pull = states.at(-1)?.value
    if (pull !== undefined) for (const violation of checkFinalPullState(observed, pull)) found.push(violation)
  }
  for (const row of tables.jobs) if (row.state === 'active') addViolation('I21', `${row.key} never finishes`)
  return found
}

/**
 * Checks the result of a merge that catalog-bot requested: its message and, for commits that GitHub creates,
 * whether it was compared with the verdict.
 */
function checkMergeResult(
  observed: ObservedSimulationRun,
  merge: ObservedMerge,
): readonly InvariantViolation[] {
  const { server, tables } = observed
  const { objects } = server
  const { pull: number, permit, by, on } = merge
  const commit = by === 'push' ? merge.commit : server.pull(number)?.merged
  if (commit === undefined) return []
  const found: InvariantViolation[] = []
  const addViolation = (invariant: string, what: string) =>
    void found.push({ invariant, what: `#${number}: ${what}` })
  const { parents, tree, message } = objects.commit(commit)
  // Another user may have merged the pull request before GitHub handled the request.
  const isOurs = by === 'push' || (parents.length === 1 && parents[0] === on)
  if (!isOurs || !hasAncestor(objects, server.mustTip(permit.merge.baseRef), commit)) return []
  for (const word of findMentionsAndClosingKeywords(message))
    addViolation('I16', `the message of ${commit.slice(0, 7)} contains ${word}`)
  const isAsValidated = by === 'push' || (on === permit.merge.base && tree === permit.merge.tree)
  const isFound = tables.intents.some(
    ({ intent, outcome }) => intent.pull === number && outcome === 'mismatch',
  )
  if (!isAsValidated && !isFound)
    addViolation(
      'I14',
      `GitHub merged it into ${on.slice(0, 7)}, which was not validated, and catalog-bot did not report it`,
    )
  return found
}

function checkFinalPullState(
  observed: ObservedSimulationRun,
  pull: SimulatedPull,
): readonly InvariantViolation[] {
  const { server } = observed
  const found: InvariantViolation[] = []
  const addViolation = (invariant: string, what: string) =>
    void found.push({ invariant, what: `#${pull.number}: ${what}` })
  const ours = pull.comments.filter(({ author }) => author.id === server.bot.id)
  const reports = ours.filter(({ body }) => body.includes('catalog-bot:report'))
  if (reports.length > 1 && !observed.hadTwins)
    addViolation('I18', `catalog-bot commented ${reports.length} times`)
  const checks = (server.checks.get(pull.head) ?? []).filter(({ app }) => app === appId)
  for (const { body } of ours)
    for (const word of findUnescapedMarkup(body)) addViolation('I16', `a comment contains ${word}`)
  for (const { text } of checks)
    for (const word of findUnescapedMarkup(text)) addViolation('I16', `a check run contains ${word}`)
  for (const [at, run] of checks.entries()) {
    const before = checks.slice(0, at).findLast(({ name }) => name === run.name)
    if (before?.digest === run.digest && !observed.hadTwins)
      addViolation('I18', `"${run.name}" was created twice`)
  }
  const [report] = reports
  // A pull request that receives a push during its merge remains open, with another head.
  const mergedIntent = observed.tables.intents.find(
    ({ intent, outcome }) => intent.pull === pull.number && intent.head === pull.head && outcome === 'landed',
  )
  // catalog-bot does not restore what a maintainer removed from a closed pull request.
  if (
    mergedIntent !== undefined &&
    report?.body.includes('Merged as') !== true &&
    !wasBotCommentDeleted(server, pull)
  )
    addViolation('I19', 'catalog-bot merged it, but its comment does not report that')
  // A report about a merged head remains valid when catalog-bot has no report about a later head.
  const wasMerged = observed.tables.intents.some(
    ({ intent, outcome }) => intent.pull === pull.number && outcome === 'landed',
  )
  if (!wasMerged && report?.body.includes('Merged as') === true)
    addViolation('I19', 'the comment reports a merge')
  if (pull.state !== 'open' || pull.baseRef !== mainBranch) return found
  if (report === undefined) addViolation('I22', 'catalog-bot did not comment')
  else if (!report.body.includes(pull.head.slice(0, 12)))
    addViolation('I19', 'the comment is about another head')
  for (const violation of verifyCheckRuns(observed, pull, checks)) found.push(violation)
  const obstacles = findMergeBlockers(observed, pull)
  if (obstacles.length === 0) addViolation('I20', 'nothing blocks it, but it has not merged')
  return found
}

function wasBotCommentDeleted(server: SimulatedGitHub, { number, comments }: SimulatedPull): boolean {
  const ids = new Set(comments.map(({ id }) => id))
  const all = (server.pulls.get(number) ?? []).flatMap(({ value }) => value.comments)
  return all.some(({ id, author }) => author.id === server.bot.id && !ids.has(id))
}

/** Active markup in catalog-bot's output that came from user input. */
function findUnescapedMarkup(text: string): readonly string[] {
  const plain = text.replace(/`[^`\n]*`/g, '')
  return [
    ...(/(?:^|[^\w`\\&;\u200b])@canary/.test(plain) ? ['a mention'] : []),
    ...(/<img/.test(plain) ? ['an image'] : []),
    ...(/\]\(https:\/\/canary/.test(plain) ? ['a link'] : []),
  ]
}

/**
 * Text in a commit message that GitHub would act on. Commit messages are not Markdown, but they can mention users
 * and close issues.
 */
function findMentionsAndClosingKeywords(message: string): readonly string[] {
  return [
    ...(/(?:^|[^\w`])@canary/.test(message) ? ['a mention'] : []),
    ...(/\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#\d/i.test(message)
      ? ['words that close an issue']
      : []),
  ]
}

/** Checks that no check run passes on a head that does not satisfy it. */
function verifyCheckRuns(
  observed: ObservedSimulationRun,
  pull: SimulatedPull,
  checks: readonly SimulatedCheckRun[],
): readonly InvariantViolation[] {
  const { server } = observed
  const { objects } = server
  const tip = server.mustTip(pull.baseRef)
  const base = objects.commit(tip).tree
  const merged = mergeTrees(objects, tip, pull.head)
  if (merged.kind !== 'clean') return []
  const isGreen = (name: string) =>
    checks.findLast((run) => run.name === `catalog-bot / ${name}`)?.conclusion === 'success'
  const found: InvariantViolation[] = []
  const addViolation = (what: string) =>
    void found.push({ invariant: 'I19', what: `#${pull.number}: ${what}` })
  if (!parseExpectedBotConfig(objects, base).isReadable) return found
  const isChanging = listChangedPaths(objects, base, merged.tree).length > 0
  // This pull request is not responsible for faults that were there before.
  const before = findCatalogProblems(objects, base)
  const faults = isChanging
    ? findCatalogProblems(objects, merged.tree).filter((fault) => !before.includes(fault))
    : []
  const [wrong] = faults.filter((fault) => !fault.includes('does not exist'))
  if (wrong !== undefined && isGreen('validation')) addViolation(`validation passed, but ${wrong}`)
  const [missing] = faults.filter((fault) => fault.includes('does not exist'))
  if (missing !== undefined && isGreen('images')) addViolation(`images passed, but ${missing}`)
  const [lack] = findMissingApprovals(observed, pull, base, merged.tree, server.now).filter(
    (each) => !each.includes('outside all packages'),
  )
  if (lack !== undefined && isGreen('ownership')) addViolation(`ownership passed, but ${lack}`)
  return found
}

/**
 * Everything that may block the merge of a pull request, generously. Without any of it, the pull request must have
 * merged. Only an owner's changes to the catalog of their package count as a clear case.
 */
function findMergeBlockers(
  { server, tables, merges }: ObservedSimulationRun,
  pull: SimulatedPull,
): readonly string[] {
  const { objects, rules } = server
  const tip = server.mustTip(mainBranch)
  const base = objects.commit(tip).tree
  const merged = mergeTrees(objects, tip, pull.head)
  if (merged.kind !== 'clean') return [merged.kind]
  const obstacles: string[] = []
  if (tables.intents.some(({ intent, outcome }) => intent.pull === pull.number && outcome === 'landed'))
    obstacles.push('an earlier head has merged')
  const paths = listChangedPaths(objects, base, merged.tree)
  const { packages } = findTouchedPackages(server, base, merged.tree)
  if (paths.length === 0) obstacles.push('nothing changes')
  if (paths.some((path) => !/^catalog\/(?:foo|bar)\/(?:catalog|extra-\d)\.json$/.test(path)))
    obstacles.push('other files')
  if (![...packages].every((name) => isPackageOwner(server, pull.author.id, base, name)))
    obstacles.push('no owner')
  for (const name of packages)
    if (getPackageOwners(objects, base, name).length === 0) obstacles.push('no owners')
  obstacles.push(...findCatalogProblems(objects, merged.tree), ...findCatalogProblems(objects, base))
  const config = parseExpectedBotConfig(objects, base)
  if (!config.isReadable || !config.merges || config.confirms) obstacles.push('the configuration')
  if (pull.stacked) obstacles.push('stacked')
  if (pull.draft || pull.labels.includes('hold')) obstacles.push('draft or label')
  if ([...getLatestReviews(pull).values()].some(({ state }) => state === 'changes-requested'))
    obstacles.push('changes requested')
  // A hold remains after the comment that set it is deleted.
  const ever = (server.pulls.get(pull.number) ?? []).flatMap(({ value }) => value.comments)
  if (ever.some((comment) => ['hold', 'unhold'].includes(parseCommentCommand(comment) ?? '')))
    obstacles.push('a hold')
  if (pull.comments.some(({ isEdited }) => isEdited)) obstacles.push('an edited comment')
  const all = [...server.pulls.values()].flatMap((states) => states.map(({ value }) => value))
  if (
    all.some(({ comments }) =>
      comments.some((comment) => parseCommentCommand(comment) === 'freeze' || comment.isEdited),
    )
  )
    obstacles.push('a stop')
  if (tables.intents.some(({ outcome }) => outcome === 'mismatch')) obstacles.push('a mismatch')
  if (rules.linear || merges.some(({ by }) => by === 'merge')) obstacles.push('merged by GitHub')
  if (mayOthersHavePushedHead(server, pull)) obstacles.push('pushed by another user')
  return obstacles
}

/**
 * Only the first head certainly comes from the author. Other users may have pushed later heads, and deliveries can
 * be lost. Restoring the first head is also a push.
 */
function mayOthersHavePushedHead(server: SimulatedGitHub, { number }: SimulatedPull): boolean {
  const [first, ...later] = server.pulls.get(number) ?? []
  return later.some(({ value }) => value.head !== first?.value.head)
}
