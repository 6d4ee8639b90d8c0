// Authors may change exactly what they own, by place and content, per the base tip's owner files. Everything else needs
// approval.
import type { Finding } from '../../findings/finding.ts'
import { FindingList } from '../../findings/finding-list.ts'
import { finding } from '../../findings/rule.ts'
import type { Check, CheckInput, CheckOutcome, Waiting } from '../check.ts'
import { judgeCarried } from '../commits/carried.ts'
import { questionKey } from '../questions.ts'
import type { Answers, Question } from '../questions.ts'
import { objections } from './approvals.ts'
import type { Authority } from './authority.ts'
import { Consents } from './consent.ts'
import type { Met } from './consent.ts'
import type { RequiredApproval } from './required-approvals.ts'
import { people } from './people.ts'
import type { Account, Holds, Unanswered } from './people.ts'
import { loginOf, principalName } from './principal.ts'
import type { Principal } from './principal.ts'
import { approvedSomethingElse as approvedSomethingElseRule } from './rules/approved-something-else.ts'
import { changeRefused } from './rules/change-refused.ts'
import { changesRequested } from './rules/changes-requested.ts'
import { consentMissing } from './rules/consent-missing.ts'
import { foreignPush } from './rules/foreign-push.ts'
import { newPackage } from './rules/new-package.ts'
import { notOwner } from './rules/not-owner.ts'
import { outsidePackages } from './rules/outside-packages.ts'
import { ownerFileChange } from './rules/owner-file-change.ts'
import { ownerLoginReused } from './rules/owner-login-reused.ts'
import { ownerSourceBroken } from './rules/owner-source-broken.ts'
import { ownerUnknown } from './rules/owner-unknown.ts'
import { survey, type Survey } from './survey.ts'

export { approvalsFromReviews } from './approvals.ts'
export { coverageOfFiles, hasSameFiles, isAgreedTo, type Coverage } from './coverage.ts'
export { ownerFilePaths, ownerFilesOf } from './owner-files.ts'
export { principalName } from './principal.ts'
export { readAuthority } from './authority.ts'
export { ownershipRules } from './rules.ts'
export { coverage } from './survey.ts'

export const ownership: Check<'ownership'> = {
  id: 'ownership',
  // Judging records which answers it needs, so we ask only for those.
  ask: (input, answers) => {
    const asked = new Map<string, Question>()
    judge(input, {
      get: (question) => {
        asked.set(questionKey(question), question)
        return answers.get(question)
      },
    })
    return [...asked.values()]
  },
  judge,
}

/** An account's rights on a pull request as a whole, for commands. */
export interface Authorisation {
  /** Whether it owns any part of the change, or is a maintainer. */
  hasSay(account: Account): Holds
  isMaintainer(account: Account): Holds
}

export function authorisationFor(input: CheckInput, answers: Answers): Authorisation {
  const surveyed = survey(input)
  const { required } = surveyed
  const { everybody, consents } = accountsIn(input, answers, surveyed)
  return {
    hasSay: (account) => consents.hasSay(account, required),
    isMaintainer: (account) => everybody.isMaintainer(account),
  }
}

function accountsIn(input: CheckInput, answers: Answers, { authority, covers }: Survey) {
  const everybody = people(answers, input.accounts ?? new Map(), authority.maintainers, input.config)
  return { everybody, consents: new Consents(input, everybody, covers) }
}

function judge(input: CheckInput, answers: Answers): CheckOutcome {
  const surveyed = survey(input)
  const { authority, required, outside, findings: impossible, packages } = surveyed
  const { consents } = accountsIn(input, answers, surveyed)
  // Several catalogs or blobs can require the same approval for one file.
  const findings = new FindingList(undefined, (found) => JSON.stringify(found))
  findings.take(impossible)
  findings.take(judgeCarried(input))
  const unanswered: Unanswered[] = []
  const open: { requirement: RequiredApproval; met: Extract<Met, { kind: 'open' }> }[] = []

  const seen = new Set<Met>()
  for (const requirement of required) {
    const met = consents.meets(requirement)
    if (met.kind === 'unknown' && !seen.has(met)) unanswered.push(...met.open)
    seen.add(met)
    if (met.kind === 'refused')
      findings.add(changeRefused, requirement.at, {
        path: requirement.path,
        package: requirement.package,
        kinds: met.kinds,
      })
    if (met.kind === 'open') open.push({ requirement, met })
    const accounts = newOwners(requirement, answers)
    findings.take(accounts.findings)
    unanswered.push(...accounts.unanswered)
  }
  for (const { requirement, met } of open) explain(requirement, met, input, authority, findings)
  const maintainers = maintainerNames(input, authority)
  for (const { path } of outside)
    findings.add(outsidePackages, { file: path, line: 1, column: 1 }, { path, unblock: maintainers })

  const waiting: Waiting[] = [...waitingFor(open, input, authority)]
  if (outside.length > 0) {
    const agreed = consents.maintainerAgreed()
    if (agreed.kind === 'unknown') unanswered.push(...agreed.open)
    waiting.push({
      what: `a maintainer must merge it by hand: ${count(outside.length, 'file is', 'files are')} outside all packages`,
      who: maintainers,
      how: 'merges-by-hand',
      // The check lets people merge, but the bot does not.
      ...(agreed.kind === 'yes' && { isAgreed: true }),
    })
  }

  for (const review of objections(input.snapshot)) {
    if (review.author === null) continue
    const reviewer = { id: review.author.id, login: loginOf(review.author) }
    const say = consents.hasSay(reviewer, required)
    if (say.kind === 'unknown') unanswered.push(...say.open)
    if (say.kind !== 'yes') continue
    findings.add(changesRequested, undefined, { reviewer: reviewer.login })
    waiting.push({ what: `${reviewer.login} requested changes`, who: [reviewer.login], how: 'withdraws' })
  }

  const push = foreignPusher(input, consents, required, authority)
  findings.take(push.findings)
  waiting.push(...push.waiting)
  unanswered.push(...push.unanswered)

  if (open.length > 0 || push.waiting.length > 0) {
    const again = approvedSomethingElse(input, consents, required)
    findings.take(again.findings)
    // Skip people who are already asked to approve.
    const asked = new Set(waiting.flatMap(({ how, who }) => (how === undefined ? who : [])))
    waiting.push(...again.waiting.filter(({ who }) => !who.every((name) => asked.has(name))))
  }

  for (const { at, problem } of authority.problems())
    findings.add(ownerSourceBroken, at, { path: at.file, problem })

  return {
    check: 'ownership',
    findings: findings.sorted(),
    unanswered: distinctBy(unanswered, ({ question, reason }) => `${question} ${reason}`),
    waiting,
    summary: `${count(input.change.paths.length, 'file')}, ${count(packages, 'package')}`,
  }
}

/** Adds why a required approval is missing, at its path. */
function explain(
  requirement: RequiredApproval,
  met: Extract<Met, { kind: 'open' }>,
  input: CheckInput,
  authority: Authority,
  findings: FindingList,
): void {
  const { path, at, package: name } = requirement
  const author = input.snapshot.author?.login ?? 'a deleted account'
  const { by, who: unblock } = whoMay(requirement, met.by, input, authority)
  if (met.reused) findings.add(ownerLoginReused, at, { package: name, ...met.reused })
  if (requirement.kinds.includes('add-package'))
    findings.add(newPackage, at, { path, package: name, unblock })
  else if (requirement.ownerEdit?.changesOwners)
    findings.add(ownerFileChange, at, { path, package: name, change: requirement.ownerEdit.words, unblock })
  else if (met.isOwner || (met.by === 'maintainer' && met.reused === undefined))
    findings.add(consentMissing, at, { path, package: name, kinds: met.kinds, by, unblock })
  else
    findings.add(notOwner, at, {
      path,
      package: name,
      author,
      owners: requirement.owners.filter(isPerson).map(principalName),
      unblock,
    })
}

/** One line for each group of people who can approve the same things. */
function waitingFor(
  open: readonly { requirement: RequiredApproval; met: Extract<Met, { kind: 'open' }> }[],
  input: CheckInput,
  authority: Authority,
): Waiting[] {
  const groups = new Map<string, AskedGroup>()
  for (const { requirement, met } of open) {
    const { by, who } = whoMay(requirement, met.by, input, authority)
    const key = `${by} ${who.join(' ')}`
    const group = groups.get(key) ?? { by, who, packages: new Set<string>() }
    group.packages.add(requirement.package)
    groups.set(key, group)
  }
  return askedOnce([...groups.values()]).map(({ by, who, packages }) => {
    const names = list([...packages])
    return {
      what:
        by === 'owner'
          ? `an owner of ${names} must approve`
          : `a maintainer must approve the change to ${names}`,
      who,
    }
  })
}

interface AskedGroup {
  readonly by: 'owner' | 'maintainer'
  readonly who: readonly string[]
  readonly packages: Set<string>
}

/**
 * Anyone in a group approves the whole pull request, so drop groups that another one covers. Of two equal groups, keep
 * the maintainers'.
 */
function askedOnce(groups: readonly AskedGroup[]): readonly AskedGroup[] {
  const fewestFirst = groups.toSorted(
    (a, b) => a.who.length - b.who.length || Number(a.by === 'owner') - Number(b.by === 'owner'),
  )
  const kept: AskedGroup[] = []
  for (const group of fewestFirst) {
    const covering = kept.find(({ who }) => who.length > 0 && who.every((name) => group.who.includes(name)))
    if (covering === undefined) kept.push(group)
    else for (const name of group.packages) covering.packages.add(name)
  }
  return groups.filter((group) => kept.includes(group))
}

/** Who can approve: the owners if their approval is enough and there are any, otherwise maintainers. */
function whoMay(
  requirement: RequiredApproval,
  by: 'owner' | 'maintainer',
  input: CheckInput,
  authority: Authority,
): { readonly by: 'owner' | 'maintainer'; readonly who: readonly string[] } {
  const author = input.snapshot.author === null ? '' : loginOf(input.snapshot.author)
  // New owners may not approve the change that adds them.
  const added = new Set(requirement.ownerEdit?.added.map(principalName))
  const owners =
    by === 'maintainer'
      ? []
      : requirement.owners
          .filter(isPerson)
          .map(principalName)
          .filter((name) => name !== author && !added.has(name))
  if (owners.length > 0) return { by: 'owner', who: owners }
  // There is no other owner to wait for.
  return { by: 'maintainer', who: maintainerNames(input, authority).filter((name) => !added.has(name)) }
}

function maintainerNames(input: CheckInput, authority: Authority): readonly string[] {
  const author = input.snapshot.author === null ? '' : loginOf(input.snapshot.author)
  return authority.maintainers
    .filter(isPerson)
    .map(principalName)
    .filter((name) => name !== author)
}

/** Apps and e-mail addresses cannot approve. */
function isPerson(principal: Principal): boolean {
  return principal.kind === 'team' || (principal.kind === 'user' && !principal.login.endsWith('[bot]'))
}

/** Added owners must exist on GitHub; an unknown answer blocks the merge. */
function newOwners(
  requirement: RequiredApproval,
  answers: Answers,
): { findings: Finding[]; unanswered: Unanswered[] } {
  const findings: Finding[] = []
  const unanswered: Unanswered[] = []
  for (const principal of requirement.ownerEdit?.added ?? []) {
    if (principal.kind !== 'user') continue
    const { login } = principal
    const answer = answers.get({ kind: 'user', login })
    if (answer.kind === 'unknown')
      unanswered.push({
        question: `whether the account ${login} exists`,
        reason: answer.reason,
        retryAfter: answer.retryAfter,
      })
    if (answer.kind === 'nobody')
      findings.push(finding(ownerUnknown, requirement.at, { path: requirement.path, login }))
  }
  return { findings, unanswered }
}

/** If someone else, or an unknown account, pushed the head, a person with a say must confirm it. */
function foreignPusher(
  input: CheckInput,
  consents: Consents,
  required: readonly RequiredApproval[],
  authority: Authority,
): { findings: Finding[]; waiting: Waiting[]; unanswered: readonly Unanswered[] } {
  const { pusher, author, head } = input.snapshot
  const nothing = { findings: [], waiting: [], unanswered: [] }
  if (pusher === undefined || (pusher !== null && pusher.id === author?.id)) return nothing
  const pushed =
    pusher === null
      ? ({ kind: 'no' } as const)
      : consents.hasSayInAll({ id: pusher.id, login: loginOf(pusher) }, required)
  if (pushed.kind === 'yes') return nothing
  const confirmed = consents.confirmed(required)
  if (confirmed.kind === 'yes') return nothing
  const open = [pushed, confirmed].flatMap((holds) => (holds.kind === 'unknown' ? holds.open : []))
  if (open.length > 0) return { ...nothing, unanswered: open }
  const who = [...(author === null ? [] : [loginOf(author)]), ...maintainerNames(input, authority)]
  const name = pusher?.login ?? 'an unknown account'
  return {
    findings: [
      finding(foreignPush, undefined, {
        pusher: name,
        author: author?.login ?? 'a deleted account',
        head,
        unblock: who,
      }),
    ],
    waiting: [
      {
        what: `somebody must confirm the commit ${head.slice(0, 12)}, which ${name} pushed`,
        who,
        how: 'confirms',
      },
    ],
    unanswered: [],
  }
}

/** Reports approvals that were for a different effect, so that people approve again. */
function approvedSomethingElse(
  input: CheckInput,
  consents: Consents,
  required: readonly RequiredApproval[],
): { findings: Finding[]; waiting: Waiting[] } {
  const { author, head } = input.snapshot
  const found = consents
    .forSomethingElse()
    .filter(({ account }) => account.id === author?.id || consents.hasSay(account, required).kind === 'yes')
  return {
    findings: found.map(({ account, differences }) =>
      finding(approvedSomethingElseRule, undefined, { approver: account.login, head, differences }),
    ),
    waiting: found.map(({ account }) => ({
      what: `${account.login} approves again: it was approved for something else`,
      who: [account.login],
    })),
  }
}

function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`
}

function list(names: readonly string[]): string {
  return names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ')
}

function distinctBy<T>(values: readonly T[], key: (value: T) => string): readonly T[] {
  return [...new Map(values.map((value) => [key(value), value])).values()]
}
