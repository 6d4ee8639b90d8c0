// Authors can change exactly what they own, by path and content, according to the base tip's owner files.
import { formatCountWithNoun } from '@catalog-bot/findings/printable'
import type { Finding } from '@catalog-bot/findings/finding'
import { FindingList } from '@catalog-bot/findings/finding-list'
import { createFinding } from '@catalog-bot/findings/rule'
import type { Check, CheckInput, CheckOutcome, MergeUnblockingAction, PendingLookup } from '../check.ts'
import { validateIncomingCommits } from '../commits/validate-incoming-commits.ts'
import { formatTruncatedNames } from '../validation/names.ts'
import { type LookupResults, collectLookups, toPendingLookup } from '../lookups.ts'
import { findChangesRequestedReviews } from './approvals.ts'
import type { OwnershipResolver } from './authority.ts'
import { ApprovalEvaluator, type ApprovalStatus } from './approval-status.ts'
import type { RequiredApproval } from './required-approvals.ts'
import {
  canPrincipalApprove,
  PrincipalMatcher,
  type AccountIdAndLogin,
  type PermissionCheckResult,
  isBotAccount,
  normalizeLogin,
  formatPrincipal,
} from './principals.ts'
import {
  approvalForOtherChangeRule as approvedSomethingElseRule,
  changeForbiddenRule,
  changesRequestedRule,
  approvalMissingRule,
  unconfirmedPush,
  newPackageRule,
  notOwnerRule,
  fileOutsidePackagesRule,
  ownerFileChangeRule,
  ownerLoginReusedRule,
  ownerSourceBrokenRule,
  unknownOwner,
} from './rules.ts'
import { getOwnershipContext, type OwnershipContext } from './ownership-context.ts'

export const ownershipCheck: Check<'ownership'> = {
  id: 'ownership',
  // Judging records which answers it needs, so only those are requested.
  ask: (input, answers) => collectLookups(answers, (recording) => evaluateOwnershipCheck(input, recording)),
  judge: evaluateOwnershipCheck,
}

/** An account's permissions on a whole pull request, for commands. */
export interface CommandPermissionChecker {
  /** Whether it owns any part of the change, or is a maintainer. */
  checkRights(account: AccountIdAndLogin): PermissionCheckResult
  checkMaintainer(account: AccountIdAndLogin): PermissionCheckResult
}

export function createCommandPermissionChecker(
  input: CheckInput,
  answers: LookupResults,
): CommandPermissionChecker {
  const surveyed = getOwnershipContext(input)
  const { required } = surveyed
  const { everybody, consents } = createOwnershipEvaluators(input, answers, surveyed)
  return {
    checkRights: (account) => consents.checkRightsToAny(account, required),
    checkMaintainer: (account) => everybody.isMaintainer(account),
  }
}

function createOwnershipEvaluators(
  input: CheckInput,
  answers: LookupResults,
  { authority: { maintainers }, getCoverage }: OwnershipContext,
) {
  const everybody = new PrincipalMatcher(answers, input.accounts ?? new Map(), maintainers, input.config)
  return { everybody, consents: new ApprovalEvaluator(input, everybody, getCoverage) }
}

function evaluateOwnershipCheck(input: CheckInput, answers: LookupResults): CheckOutcome {
  const surveyed = getOwnershipContext(input)
  const { authority, required, outside, findings: impossible, packageCount } = surveyed
  const { consents } = createOwnershipEvaluators(input, answers, surveyed)
  // Several catalogs or blobs can require the same approval for one file.
  const findings = new FindingList(undefined, (found) => JSON.stringify(found))
  findings.addAll(impossible)
  findings.addAll(validateIncomingCommits(input))
  const unanswered: PendingLookup[] = []
  const waiting: MergeUnblockingAction[] = []
  const results: OwnershipResults = { findings, unanswered, waiting }
  const open = findUnmetApprovalRequirements(required, consents, answers, results)
  for (const { requirement, met } of open)
    addMissingApprovalFinding(requirement, met, input, authority, findings)
  const maintainers = listMaintainerNames(input, authority)
  for (const { path } of outside)
    findings.add(fileOutsidePackagesRule, { file: path, line: 1, column: 1 }, { path, unblock: maintainers })

  waiting.push(...listPendingApprovals(open, input, authority))
  if (outside.length > 0) {
    const agreed = consents.checkMaintainerApproval()
    if (agreed.kind === 'unknown') unanswered.push(...agreed.open)
    waiting.push({
      what: `a maintainer must merge the pull request manually because ${formatCountWithNoun(outside.length, 'file is', 'files are')} not in any package`,
      who: maintainers,
      how: 'merges-by-hand',
      // The check passes so that a maintainer can merge, but catalog-bot does not merge.
      ...(agreed.kind === 'yes' && { isAgreed: true }),
    })
  }

  addChangesRequestedFindings(input, consents, required, results)

  const push = validateHeadPushByNonAuthor(input, consents, required, authority)
  findings.addAll(push.findings)
  waiting.push(...push.waiting)
  unanswered.push(...push.unanswered)

  if (open.length > 0 || push.waiting.length > 0) {
    const again = findOutdatedApprovals(input, consents, required)
    findings.addAll(again.findings)
    // Skips accounts that are already asked to approve.
    const requestedApprovers = new Set(waiting.flatMap(({ how, who }) => (how === undefined ? who : [])))
    waiting.push(...again.waiting.filter(({ who }) => !who.every((name) => requestedApprovers.has(name))))
  }

  for (const { at, problem } of authority.problems())
    findings.add(ownerSourceBrokenRule, at, { path: at.file, problem })

  return {
    check: 'ownership',
    findings: findings.sorted(),
    unanswered: removeDuplicatesByKey(unanswered, ({ question, reason }) => `${question} ${reason}`),
    waiting,
    summary: `${formatCountWithNoun(input.change.paths.length, 'file')}, ${formatCountWithNoun(packageCount, 'package')}`,
  }
}

interface OwnershipResults {
  readonly findings: FindingList
  readonly unanswered: PendingLookup[]
  readonly waiting: MergeUnblockingAction[]
}

interface UnmetApprovalRequirement {
  readonly requirement: RequiredApproval
  readonly met: Extract<ApprovalStatus, { kind: 'open' }>
}

/** The requirements that still need an approval. */
function findUnmetApprovalRequirements(
  required: readonly RequiredApproval[],
  consents: ApprovalEvaluator,
  answers: LookupResults,
  { findings, unanswered }: OwnershipResults,
): readonly UnmetApprovalRequirement[] {
  const open: UnmetApprovalRequirement[] = []
  const handled = new Set<ApprovalStatus>()
  for (const requirement of required) {
    const consentStatus = consents.evaluate(requirement)
    if (consentStatus.kind === 'unknown' && !handled.has(consentStatus))
      unanswered.push(...consentStatus.open)
    handled.add(consentStatus)
    const { at, path, package: name } = requirement
    if (consentStatus.kind === 'refused')
      findings.add(changeForbiddenRule, at, { path, package: name, kinds: consentStatus.kinds })
    if (consentStatus.kind === 'open') open.push({ requirement, met: consentStatus })
    const accounts = validateAddedOwners(requirement, answers)
    findings.addAll(accounts.findings)
    unanswered.push(...accounts.unanswered)
  }
  return open
}

function addChangesRequestedFindings(
  input: CheckInput,
  consents: ApprovalEvaluator,
  required: readonly RequiredApproval[],
  { findings, unanswered, waiting }: OwnershipResults,
): void {
  for (const review of findChangesRequestedReviews(input.snapshot)) {
    if (review.author === null) continue
    const reviewer = { id: review.author.id, login: normalizeLogin(review.author) }
    const rights = consents.checkRightsToAny(reviewer, required)
    if (rights.kind === 'unknown') unanswered.push(...rights.open)
    if (rights.kind !== 'yes') continue
    findings.add(changesRequestedRule, undefined, { reviewer: reviewer.login })
    waiting.push({ what: `${reviewer.login} requested changes`, who: [reviewer.login], how: 'withdraws' })
  }
}

/** Adds a finding that explains why a required approval is missing, at its path. */
function addMissingApprovalFinding(
  requirement: RequiredApproval,
  consentStatus: Extract<ApprovalStatus, { kind: 'open' }>,
  input: CheckInput,
  authority: OwnershipResolver,
  findings: FindingList,
): void {
  const { path, at, package: name } = requirement
  const author = input.snapshot.author?.login ?? 'a deleted account'
  const { by, who: unblock } = findEligibleApprovers(requirement, consentStatus.by, input, authority)
  if (consentStatus.reused) findings.add(ownerLoginReusedRule, at, { package: name, ...consentStatus.reused })
  if (requirement.kinds.includes('add-package'))
    findings.add(newPackageRule, at, { path, package: name, unblock })
  else if (requirement.ownerEdit?.changesOwners)
    findings.add(ownerFileChangeRule, at, {
      path,
      package: name,
      change: requirement.ownerEdit.description,
      unblock,
    })
  else if (consentStatus.isOwner || (consentStatus.by === 'maintainer' && consentStatus.reused === undefined))
    findings.add(approvalMissingRule, at, { path, package: name, kinds: consentStatus.kinds, by, unblock })
  else
    findings.add(notOwnerRule, at, {
      path,
      package: name,
      author,
      owners: requirement.owners.filter(canPrincipalApprove).map(formatPrincipal),
      unblock,
    })
}

/** One line for each group of approvers who can approve the same changes. */
function listPendingApprovals(
  open: readonly { requirement: RequiredApproval; met: Extract<ApprovalStatus, { kind: 'open' }> }[],
  input: CheckInput,
  authority: OwnershipResolver,
): MergeUnblockingAction[] {
  const groups = new Map<string, ApproverGroup>()
  for (const { requirement, met } of open) {
    const { by, who } = findEligibleApprovers(requirement, met.by, input, authority)
    const key = `${by} ${who.join(' ')}`
    const group = groups.get(key) ?? { by, who, packages: new Set<string>() }
    group.packages.add(requirement.package)
    groups.set(key, group)
  }
  return dropRedundantApproverGroups([...groups.values()]).map(({ by, who, packages }) => {
    // Blobs can belong to no package.
    const names = formatTruncatedNames([...packages].filter((name) => name !== ''))
    const ofOwner = `an owner of ${names} must approve`
    const change = names === '' ? 'this change' : `the change to ${names}`
    return { what: by === 'owner' ? ofOwner : `a maintainer must approve ${change}`, who }
  })
}

interface ApproverGroup {
  readonly by: 'owner' | 'maintainer'
  readonly who: readonly string[]
  readonly packages: Set<string>
}

/**
 * Each member of a group can approve all of the pull request, so drops groups that another one covers. Of two equal
 * groups, keeps the maintainers.
 */
function dropRedundantApproverGroups(groups: readonly ApproverGroup[]): readonly ApproverGroup[] {
  const fewestFirst = groups.toSorted(
    (a, b) => a.who.length - b.who.length || Number(a.by === 'owner') - Number(b.by === 'owner'),
  )
  const selected: ApproverGroup[] = []
  for (const group of fewestFirst) {
    const covering = selected.find(
      ({ who }) => who.length > 0 && who.every((name) => group.who.includes(name)),
    )
    if (covering === undefined) selected.push(group)
    else for (const name of group.packages) covering.packages.add(name)
  }
  return groups.filter((group) => selected.includes(group))
}

/** Who can approve: the owners if their approval is enough and there are any, otherwise maintainers. */
function findEligibleApprovers(
  requirement: RequiredApproval,
  by: 'owner' | 'maintainer',
  input: CheckInput,
  authority: OwnershipResolver,
): { readonly by: 'owner' | 'maintainer'; readonly who: readonly string[] } {
  const author = input.snapshot.author === null ? '' : normalizeLogin(input.snapshot.author)
  // New owners cannot approve the change that adds them.
  const added = new Set(requirement.ownerEdit?.added.map(formatPrincipal))
  const owners =
    by === 'maintainer'
      ? []
      : requirement.owners
          .filter(canPrincipalApprove)
          .map(formatPrincipal)
          .filter((name) => name !== author && !added.has(name))
  if (owners.length > 0) return { by: 'owner', who: owners }
  // No other owner can approve.
  return { by: 'maintainer', who: listMaintainerNames(input, authority).filter((name) => !added.has(name)) }
}

function listMaintainerNames(input: CheckInput, authority: OwnershipResolver): readonly string[] {
  const author = input.snapshot.author === null ? '' : normalizeLogin(input.snapshot.author)
  return authority.maintainers
    .filter(canPrincipalApprove)
    .map(formatPrincipal)
    .filter((name) => name !== author)
}

/** Added owners must exist on GitHub. An unknown answer blocks the merge. */
function validateAddedOwners(
  requirement: RequiredApproval,
  answers: LookupResults,
): { findings: Finding[]; unanswered: PendingLookup[] } {
  const findings: Finding[] = []
  const unanswered: PendingLookup[] = []
  for (const principal of requirement.ownerEdit?.added ?? []) {
    if (principal.kind !== 'user') continue
    const { login, id } = principal
    const answer = answers.get({ kind: 'user', login })
    if (answer.kind === 'unknown')
      unanswered.push(toPendingLookup(`whether the account ${login} exists`, answer))
    const isAbsent =
      answer.kind === 'nobody' || (answer.kind === 'person' && answer.person.id !== (id ?? answer.person.id))
    const written = id === undefined ? login : `${login}:${id}`
    if (isAbsent)
      findings.push(createFinding(unknownOwner, requirement.at, { path: requirement.path, login: written }))
  }
  return { findings, unanswered }
}

/** If another account or an unknown account pushed the head, the author or an authorized account must confirm it. */
function validateHeadPushByNonAuthor(
  input: CheckInput,
  consents: ApprovalEvaluator,
  required: readonly RequiredApproval[],
  authority: OwnershipResolver,
): { findings: Finding[]; waiting: MergeUnblockingAction[]; unanswered: readonly PendingLookup[] } {
  const { pusher, author, head } = input.snapshot
  const nothing = { findings: [], waiting: [], unanswered: [] }
  if (pusher === undefined || (pusher !== null && pusher.id === author?.id)) return nothing
  const account = pusher && { id: pusher.id, login: normalizeLogin(pusher) }
  // An App has rights only to its own branches (docs/dev/threats.md#t23).
  const pushed =
    account === null || isBotAccount(account)
      ? ({ kind: 'no' } as const)
      : consents.checkRightsToAll(account, required)
  if (pushed.kind === 'yes') return nothing
  const confirmed = consents.checkHeadConfirmation(required)
  if (confirmed.kind === 'yes') return nothing
  const open = [pushed, confirmed].flatMap((holds) => (holds.kind === 'unknown' ? holds.open : []))
  if (open.length > 0) return { ...nothing, unanswered: open }
  const confirmers = [
    ...(author === null ? [] : [normalizeLogin(author)]),
    ...listMaintainerNames(input, authority),
  ]
  const name = pusher?.login ?? 'an unknown account'
  return {
    findings: [
      createFinding(unconfirmedPush, undefined, {
        pusher: name,
        author: author?.login ?? 'a deleted account',
        head,
        unblock: confirmers,
      }),
    ],
    waiting: [
      {
        what: `the author or a maintainer must confirm the commit ${head.slice(0, 12)}, which ${name} pushed`,
        who: confirmers,
        how: 'confirms',
      },
    ],
    unanswered: [],
  }
}

/** Reports approvals of a different effect, so that the approvers can approve again. */
function findOutdatedApprovals(
  input: CheckInput,
  consents: ApprovalEvaluator,
  required: readonly RequiredApproval[],
): { findings: Finding[]; waiting: MergeUnblockingAction[] } {
  const { author, head } = input.snapshot
  const found = consents
    .listOutdatedApprovals()
    .filter(
      ({ account }) =>
        account.id === author?.id || consents.checkRightsToAny(account, required).kind === 'yes',
    )
  return {
    findings: found.map(({ account, differences }) =>
      createFinding(approvedSomethingElseRule, undefined, { approver: account.login, head, differences }),
    ),
    waiting: found.map(({ account }) => ({
      what: `${account.login} must approve again because the change now has a different effect`,
      who: [account.login],
    })),
  }
}

function removeDuplicatesByKey<T>(values: readonly T[], key: (value: T) => string): readonly T[] {
  return [...new Map(values.map((value) => [key(value), value])).values()]
}
