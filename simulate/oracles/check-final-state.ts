// Judges the world when everything has come to its end: nothing went wrong for hours, and every job had its turn.
import { mergeTrees } from '../git/merge.ts'
import { hasAncestor } from '../git/history.ts'
import {
  parseExpectedConfig,
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
import type { ObservedRun, ObservedMerge, InvariantViolation } from './observed-run.ts'

export function checkFinalState(observed: ObservedRun): readonly InvariantViolation[] {
  const { server, tables } = observed
  const found: InvariantViolation[] = []
  const addViolation = (invariant: string, what: string) => void found.push({ invariant, what })

  for (const { job, error } of observed.ownFailures) addViolation('ours', `${job} failed: ${error.message}`)
  for (const { intent, outcome } of tables.intents) {
    const name = `the landing of #${intent.pull} as ${intent.commit.slice(0, 7)}`
    const isThere = hasAncestor(server.objects, server.mustTip(intent.baseRef), intent.commit)
    if (outcome === undefined) addViolation('I24', `${name} is open`)
    if (outcome === 'landed' && !isThere)
      addViolation('I11', `${name} is recorded, and the branch has it not`)
    // The same merge is the same commit, however often it is tried.
    const isRecorded = tables.intents.some(
      (other) => other.outcome === 'landed' && other.intent.commit === intent.commit,
    )
    if (outcome === 'abandoned' && isThere && !isRecorded)
      addViolation('I11', `${name} is recorded as abandoned, and the branch has it`)
    if (outcome === 'mismatch' && server.issues.length === 0)
      addViolation('I14', `${name} went wrong, and nobody is told`)
  }
  for (const merge of observed.merges) found.push(...checkMergeResult(observed, merge))
  for (const states of server.pulls.values()) {
    const pull = states.at(-1)?.value
    if (pull !== undefined) for (const violation of checkFinalPullState(observed, pull)) found.push(violation)
  }
  for (const row of tables.jobs) if (row.state === 'active') addViolation('I21', `${row.key} never ends`)
  return found
}

/** What became of a landing by our call: its message, and for what GitHub makes itself, whether it was held against the verdict. */
function checkMergeResult(observed: ObservedRun, merge: ObservedMerge): readonly InvariantViolation[] {
  const { server, tables } = observed
  const { objects } = server
  const { pull: number, permit, by, on } = merge
  const commit = by === 'push' ? merge.commit : server.pull(number)?.merged
  if (commit === undefined) return []
  const found: InvariantViolation[] = []
  const addViolation = (invariant: string, what: string) =>
    void found.push({ invariant, what: `#${number}: ${what}` })
  const { parents, tree, message } = objects.commit(commit)
  // Others may have merged it before GitHub did what it was asked.
  const isOurs = by === 'push' || (parents.length === 1 && parents[0] === on)
  if (!isOurs || !hasAncestor(objects, server.mustTip(permit.landing.baseRef), commit)) return []
  for (const word of findActiveCommitKeywords(message))
    addViolation('I16', `the message of ${commit.slice(0, 7)} has ${word}`)
  const isAsValidated = by === 'push' || (on === permit.landing.base && tree === permit.landing.tree)
  const isFound = tables.intents.some(
    ({ intent, outcome }) => intent.pull === number && outcome === 'mismatch',
  )
  if (!isAsValidated && !isFound)
    addViolation(
      'I14',
      `GitHub merged it into ${on.slice(0, 7)}, which was not validated, and nobody noticed`,
    )
  return found
}

function checkFinalPullState(observed: ObservedRun, pull: SimulatedPull): readonly InvariantViolation[] {
  const { server } = observed
  const found: InvariantViolation[] = []
  const addViolation = (invariant: string, what: string) =>
    void found.push({ invariant, what: `#${pull.number}: ${what}` })
  const ours = pull.comments.filter(({ author }) => author.id === server.bot.id)
  const reports = ours.filter(({ body }) => body.includes('catalog-bot:report'))
  if (reports.length > 1 && !observed.hadTwins)
    addViolation('I18', `the bot commented ${reports.length} times`)
  const checks = (server.checks.get(pull.head) ?? []).filter(({ app }) => app === appId)
  for (const { body } of ours)
    for (const word of findUnescapedMarkup(body)) addViolation('I16', `a comment has ${word}`)
  for (const { text } of checks)
    for (const word of findUnescapedMarkup(text)) addViolation('I16', `a check run has ${word}`)
  for (const [at, run] of checks.entries()) {
    const before = checks.slice(0, at).findLast(({ name }) => name === run.name)
    if (before?.digest === run.digest && !observed.hadTwins)
      addViolation('I18', `"${run.name}" was written twice`)
  }
  const [report] = reports
  // One that is pushed to in the moment in which it lands stays open, with another head.
  const mergedIntent = observed.tables.intents.find(
    ({ intent, outcome }) => intent.pull === pull.number && intent.head === pull.head && outcome === 'landed',
  )
  // What a maintainer took away from a pull request that is done is not written again.
  if (
    mergedIntent !== undefined &&
    report?.body.includes('Merged as') !== true &&
    !wasBotReportDeleted(server, pull)
  )
    addViolation('I19', 'the bot merged it, and its comment does not say so')
  // What was said of a head that was merged stays true, where the bot has nothing to say of a later one.
  const wasMerged = observed.tables.intents.some(
    ({ intent, outcome }) => intent.pull === pull.number && outcome === 'landed',
  )
  if (!wasMerged && report?.body.includes('Merged as') === true)
    addViolation('I19', 'the comment says that it was merged')
  if (pull.state !== 'open' || pull.baseRef !== mainBranch) return found
  if (report === undefined) addViolation('I22', 'there is no comment')
  else if (!report.body.includes(pull.head.slice(0, 12)))
    addViolation('I19', 'the comment is about another head')
  for (const violation of checkCheckRuns(observed, pull, checks)) found.push(violation)
  const obstacles = findMergeObstacles(observed, pull)
  if (obstacles.length === 0) addViolation('I20', 'nothing speaks against it, and it has not landed')
  return found
}

function wasBotReportDeleted(server: SimulatedGitHub, { number, comments }: SimulatedPull): boolean {
  const ids = new Set(comments.map(({ id }) => id))
  const all = (server.pulls.get(number) ?? []).flatMap(({ value }) => value.comments)
  return all.some(({ id, author }) => author.id === server.bot.id && !ids.has(id))
}

/** What would be active in what the bot writes, of what people wrote to be so. */
function findUnescapedMarkup(text: string): readonly string[] {
  const plain = text.replace(/`[^`\n]*`/g, '')
  return [
    ...(/(?:^|[^\w`\\&;\u200b])@canary/.test(plain) ? ['a mention'] : []),
    ...(/<img/.test(plain) ? ['an image'] : []),
    ...(/\]\(https:\/\/canary/.test(plain) ? ['a link'] : []),
  ]
}

/** What GitHub would act on in the message of a commit: it is no Markdown, and people are told, and issues closed. */
function findActiveCommitKeywords(message: string): readonly string[] {
  return [
    ...(/(?:^|[^\w`])@canary/.test(message) ? ['a mention'] : []),
    ...(/\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#\d/i.test(message)
      ? ['words that close an issue']
      : []),
  ]
}

/** No check is green on a head for which it is not true. */
function checkCheckRuns(
  observed: ObservedRun,
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
  if (!parseExpectedConfig(objects, base).isReadable) return found
  const isChanging = listChangedPaths(objects, base, merged.tree).length > 0
  // What others broke before is not this pull request's.
  const before = findCatalogProblems(objects, base)
  const faults = isChanging
    ? findCatalogProblems(objects, merged.tree).filter((fault) => !before.includes(fault))
    : []
  const [wrong] = faults.filter((fault) => !fault.includes('does not exist'))
  if (wrong !== undefined && isGreen('validation')) addViolation(`validation is green, and ${wrong}`)
  const [missing] = faults.filter((fault) => fault.includes('does not exist'))
  if (missing !== undefined && isGreen('images')) addViolation(`images is green, and ${missing}`)
  const [lack] = findMissingApprovals(observed, pull, base, merged.tree, server.now).filter(
    (each) => !each.includes('outside all packages'),
  )
  if (lack !== undefined && isGreen('ownership')) addViolation(`ownership is green, and ${lack}`)
  return found
}

/**
 * What may keep a pull request from landing, generously: where there is nothing, it must have landed. Only what an owner does
 * with the catalog of their own package counts as a case that is clear.
 */
function findMergeObstacles({ server, tables, merges }: ObservedRun, pull: SimulatedPull): readonly string[] {
  const { objects, rules } = server
  const tip = server.mustTip(mainBranch)
  const base = objects.commit(tip).tree
  const merged = mergeTrees(objects, tip, pull.head)
  if (merged.kind !== 'clean') return [merged.kind]
  const obstacles: string[] = []
  if (tables.intents.some(({ intent, outcome }) => intent.pull === pull.number && outcome === 'landed'))
    obstacles.push('an earlier head has landed')
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
  const config = parseExpectedConfig(objects, base)
  if (!config.isReadable || !config.merges || config.confirms) obstacles.push('the configuration')
  if (pull.stacked) obstacles.push('stacked')
  if (pull.draft || pull.labels.includes('hold')) obstacles.push('draft or label')
  if ([...getLatestReviews(pull).values()].some(({ state }) => state === 'changes-requested'))
    obstacles.push('changes requested')
  // A hold outlives the comment that gave it.
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
  if (isPushedByOthers(server, pull)) obstacles.push('pushed by others')
  return obstacles
}

/**
 * Only the first head is the author's for certain: later ones may have been pushed by others, and deliveries may be lost. Whoever
 * brings the first one back pushes, too.
 */
function isPushedByOthers(server: SimulatedGitHub, { number }: SimulatedPull): boolean {
  const [first, ...later] = server.pulls.get(number) ?? []
  return later.some(({ value }) => value.head !== first?.value.head)
}
