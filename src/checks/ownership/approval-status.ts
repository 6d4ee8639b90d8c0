// Decides whether a required approval is given, by the author's own permissions or by others. If an answer is missing,
// the approval remains open. An empty list of owners never gives an approval.
import { memoizePerObject, getOrCreate } from '@catalog-bot/findings/memoize'
import type { ChangeKind } from '../../config/change-kinds.ts'
import type { RequiredApprover, Permissions, PermissionRole } from '../../config/permissions.ts'
import { type AutomationConfig, matchesWildcardPattern } from '../../config/merge-settings.ts'
import type { CheckInput, Approval, PendingLookup } from '../check.ts'
import {
  isCurrentApproval,
  isApprovalForSnapshot,
  listChangesSinceApproval,
  isDirectoryCoveredByApproval,
  type ApprovalCoverage,
} from './approvals.ts'
import type { RequiredApproval } from './required-approvals.ts'
import {
  isBotAccount,
  type AccountIdAndLogin,
  type PermissionCheckResult,
  type PrincipalMatcher,
  normalizeLogin,
  parsePrincipal,
  type Principal,
} from './principals.ts'

const channelAffectingChangeKinds: ReadonlySet<ChangeKind> = new Set([
  'add-bundle',
  'edit-bundle',
  'remove-bundle',
  'add-edge',
  'remove-entry',
  'remove-channel',
  'edit-default-channel',
  'deprecate',
  'add-to-catalog',
])

export type ApprovalStatus =
  | { readonly kind: 'met'; readonly by: 'author' | 'approval' }
  /** `by`: who must approve. `isOwner`: whether the author owns what is changed. */
  | {
      readonly kind: 'open'
      readonly by: 'owner' | 'maintainer'
      readonly kinds: readonly ChangeKind[]
      readonly isOwner: boolean
      readonly reused?: { readonly login: string; readonly was: number; readonly now: number }
    }
  | { readonly kind: 'refused'; readonly kinds: readonly ChangeKind[] }
  | { readonly kind: 'unknown'; readonly open: readonly PendingLookup[] }

const strictnessByRequiredApprover: Readonly<Record<RequiredApprover, number>> = {
  alone: 0,
  owner: 1,
  maintainer: 2,
  refused: 3,
}

export class ApprovalEvaluator {
  readonly #input: CheckInput
  readonly #people: PrincipalMatcher
  readonly #author: AccountIdAndLogin | undefined
  readonly #met = memoizePerObject((_owners: readonly Principal[]) => new Map<string, ApprovalStatus>())
  readonly #covers: () => ApprovalCoverage
  #touched: ReadonlySet<string> | undefined
  /** Automation accounts that may be the author. */
  readonly #grants: readonly {
    readonly principals: readonly Principal[]
    readonly automation: AutomationConfig
  }[]

  /** `covers`: the effect of the change. Computed lazily because the text is large. */
  constructor(input: CheckInput, everybody: PrincipalMatcher, covers: () => ApprovalCoverage) {
    this.#input = input
    this.#people = everybody
    this.#covers = covers
    const { author } = input.snapshot
    this.#author = author === null ? undefined : { id: author.id, login: normalizeLogin(author) }
    this.#grants = input.config.automation.flatMap((automation) => {
      const principal = parsePrincipal(automation.account)
      return principal?.kind === 'user' ? [{ principals: [principal], automation }] : []
    })
  }

  /** Caches equal requirements. */
  evaluate(requirement: RequiredApproval): ApprovalStatus {
    // Owner edits have separate effects, and approvals can cover only one directory.
    if (requirement.ownerEdit !== undefined || this.#input.approvals.length > 0)
      return this.#computeStatus(requirement)
    const { kinds, package: name, directory, channels } = requirement
    // Grants depend on the package and its channels. All other permissions depend only on the owners.
    const granted = this.#grants.length > 0 ? JSON.stringify([name, directory, channels]) : ''
    const key = `${kinds.join(' ')} ${granted}`
    return getOrCreate(this.#met(requirement.owners), key, () => this.#computeStatus(requirement))
  }

  #computeStatus(requirement: RequiredApproval): ApprovalStatus {
    const authorRights = this.#findAuthorRights(requirement)
    const { permissions } = this.#input.config
    const automation = this.#granted(requirement)
    const requiredConsents = requirement.kinds.map((kind) => ({
      kind,
      consent: automation.kinds.has(kind)
        ? 'alone'
        : findRequiredApproverForRoles(permissions, authorRights.roles, kind),
    }))
    let needed = requiredConsents.reduce<RequiredApprover>(
      (worst, { consent }) => (isStricterRequiredApprover(consent, worst) ? consent : worst),
      'alone',
    )
    // Authors cannot make themselves owners without approval, even if the configuration allows it.
    if (needed === 'alone' && this.#addsItself(requirement)) needed = 'owner'
    // Only a maintainer can make Apps and teams owners.
    if (needed === 'owner' && requirement.ownerEdit?.added.some(isNonUserPrincipal)) needed = 'maintainer'
    // A reused login means that the list of owners is out of date, so its other names might also be wrong.
    if (authorRights.reused && strictnessByRequiredApprover[needed] < strictnessByRequiredApprover.maintainer)
      needed = 'maintainer'
    // A new package has no owners yet.
    if (needed === 'owner' && requirement.kinds.includes('add-package')) needed = 'maintainer'
    if (needed === 'alone') return { kind: 'met', by: 'author' }
    const open: PendingLookup[] = [...authorRights.open, ...automation.open]
    if (needed !== 'refused') {
      const approval = this.#given(requirement, needed)
      if (approval.kind === 'yes') return { kind: 'met', by: 'approval' }
      if (approval.kind === 'unknown') open.push(...approval.open)
    }
    if (open.length > 0) return { kind: 'unknown', open }
    const kinds = requiredConsents.filter(({ consent }) => consent !== 'alone').map(({ kind }) => kind)
    if (needed === 'refused')
      return {
        kind: 'refused',
        kinds: requiredConsents.filter(({ consent }) => consent === 'refused').map(({ kind }) => kind),
      }
    return {
      kind: 'open',
      by: needed,
      kinds,
      isOwner: authorRights.roles.includes('owner') || authorRights.roles.includes('bot'),
      ...(authorRights.reused && { reused: authorRights.reused }),
    }
  }

  /**
   * Approvals of this head for a different effect, with the differences. Skips accounts that also approved the current
   * effect.
   */
  listOutdatedApprovals(): readonly {
    readonly account: AccountIdAndLogin
    readonly differences: readonly string[]
  }[] {
    const { snapshot, approvals, epoch = 0 } = this.#input
    const ofHead = approvals.filter((approval) => isApprovalForSnapshot(approval, snapshot, epoch))
    const current = new Set(ofHead.filter((approval) => this.#isCurrent(approval)).map(({ user }) => user))
    const last = new Map(ofHead.filter(({ user }) => !current.has(user)).map((each) => [each.user, each]))
    return [...last.values()].map(({ user, login, covers = new Map<string, string>() }) => ({
      account: { id: user, login: login.toLowerCase() },
      differences: listChangesSinceApproval(this.#covers(), covers),
    }))
  }

  /** Whether the author, or an account with authority over all of these approvals, confirmed this head by command. */
  checkHeadConfirmation(required: readonly RequiredApproval[]): PermissionCheckResult {
    const current = this.#input.approvals.filter((approval) => this.#isCurrent(approval))
    if (current.some(({ user, source }) => user === this.#author?.id && source === 'command'))
      return { kind: 'yes' }
    return checkAnyPermissionGranted(
      this.#listApprovers(current).map((account) => () => this.checkRightsToAll(account, required)),
    )
  }

  /**
   * Whether a maintainer other than the author approved the current effect. Approvals for files outside packages do not
   * carry over.
   */
  checkMaintainerApproval(): PermissionCheckResult {
    if (this.#author === undefined) return { kind: 'no' }
    const current = this.#input.approvals.filter((approval) => this.#isCurrent(approval))
    return checkAnyPermissionGranted(
      this.#listApprovers(current).map((account) => () => this.#people.isMaintainer(account)),
    )
  }

  #isCurrent(approval: Approval): boolean {
    return isCurrentApproval(approval, this.#input.snapshot, this.#input.epoch ?? 0, this.#covers)
  }

  /** The accounts that gave approvals, except the author and Apps. */
  #listApprovers(approvals: readonly Approval[]): readonly AccountIdAndLogin[] {
    return approvals
      .map((approval) => ({ id: approval.user, login: approval.login.toLowerCase() }))
      .filter((account) => account.id !== this.#author?.id && !isBotAccount(account))
  }

  /** Whether an account owns everything that the approvals are about, or is a maintainer. */
  checkRightsToAll(account: AccountIdAndLogin, required: readonly RequiredApproval[]): PermissionCheckResult {
    const owns = listUniqueOwnerLists(required).map((owners) => this.#people.isAmong(account, owners))
    if (owns.length > 0 && owns.every(({ kind }) => kind === 'yes')) return { kind: 'yes' }
    return this.#or(this.#people.isMaintainer(account), owns)
  }

  /** Whether an account owns any of it, or is a maintainer. */
  checkRightsToAny(account: AccountIdAndLogin, required: readonly RequiredApproval[]): PermissionCheckResult {
    const owns = checkAnyPermissionGranted(
      listUniqueOwnerLists(required).map((owners) => () => this.#people.isAmong(account, owners)),
    )
    return owns.kind === 'yes' ? owns : this.#or(this.#people.isMaintainer(account), [owns])
  }

  #or(maintainer: PermissionCheckResult, owns: readonly PermissionCheckResult[]): PermissionCheckResult {
    if (maintainer.kind !== 'no') return maintainer
    const open = owns.flatMap((holds) => (holds.kind === 'unknown' ? holds.open : []))
    return open.length > 0 && owns.every(({ kind }) => kind !== 'no')
      ? { kind: 'unknown', open }
      : { kind: 'no' }
  }

  /** The author's known roles, and the questions that determine the other roles. */
  #findAuthorRights(requirement: RequiredApproval): {
    roles: readonly PermissionRole[]
    open: readonly PendingLookup[]
    reused?: { login: string; was: number; now: number }
  } {
    const author = this.#author
    if (author === undefined) return { roles: ['contributor'], open: [] }
    const owns = this.#people.isAmong(author, requirement.owners)
    if (owns.kind === 'yes' && isBotAccount(author)) {
      // An App's permissions cover only branches in this repository that the App itself pushed.
      return this.#pushesHere() ? { roles: ['bot'], open: [] } : { roles: ['contributor'], open: [] }
    }
    const { permissions } = this.#input.config
    if (owns.kind === 'yes' && requirement.kinds.every((kind) => permissions.owner[kind] === 'alone'))
      return { roles: ['owner'], open: [] }
    // Ask one question at a time: the first usually finds the owner.
    if (owns.kind === 'unknown' && owns.open.every(({ retryAfter }) => retryAfter === 0))
      return { roles: ['contributor'], open: owns.open }
    const maintains = this.#people.isMaintainer(author)
    const roles: PermissionRole[] = []
    if (owns.kind === 'yes') roles.push('owner')
    if (maintains.kind === 'yes') roles.push('maintainer')
    const open = [owns, maintains].flatMap((holds) => (holds.kind === 'unknown' ? holds.open : []))
    return {
      roles: roles.length > 0 ? roles : ['contributor'],
      open: maintains.kind === 'yes' ? [] : open,
      ...(owns.kind === 'no' && owns.reused && { reused: { ...owns.reused, now: author.id } }),
    }
  }

  /** The automation grants that apply to an author who pushed the head. */
  #granted(requirement: RequiredApproval): {
    readonly kinds: ReadonlySet<ChangeKind>
    readonly open: readonly PendingLookup[]
  } {
    const author = this.#author
    const kinds = new Set<ChangeKind>()
    const open: PendingLookup[] = []
    if (author === undefined || requirement.ownerEdit?.changesOwners) return { kinds, open }
    for (const { principals, automation } of this.#grants) {
      const granted = findChangeKindsGrantedToAutomation(automation, requirement)
      if (granted.size === 0 || !(isBotAccount(author) ? this.#pushesHere() : this.#pushedAlone())) continue
      const isIt = this.#people.isAmong(author, principals)
      if (isIt.kind === 'yes') for (const kind of granted) kinds.add(kind)
      if (isIt.kind === 'unknown') open.push(...isIt.open)
    }
    return { kinds, open }
  }

  #pushedAlone(): boolean {
    const { pusher, author } = this.#input.snapshot
    return pusher === undefined || (pusher !== null && pusher.id === author?.id)
  }

  #pushesHere(): boolean {
    const { headRepository, repository } = this.#input.snapshot
    return (
      headRepository !== null &&
      headRepository.owner.toLowerCase() === repository.owner.toLowerCase() &&
      headRepository.name.toLowerCase() === repository.name.toLowerCase() &&
      this.#pushedAlone()
    )
  }

  #addsItself(requirement: RequiredApproval): boolean {
    return (requirement.ownerEdit?.added ?? []).some(
      (principal) =>
        // Not looked up, because the added team might include the author.
        principal.kind === 'team' ||
        (principal.kind === 'user' &&
          (principal.login === this.#author?.login || principal.id === this.#author?.id)),
    )
  }

  /** Whether an authorized user approved the requirement. */
  #given(requirement: RequiredApproval, needed: 'owner' | 'maintainer'): PermissionCheckResult {
    // New owners cannot approve the change that adds them.
    const isAdded = ({ login, id }: AccountIdAndLogin) =>
      (requirement.ownerEdit?.added ?? []).some(
        (principal) => principal.kind === 'user' && (principal.login === login || principal.id === id),
      )
    const counted = this.#input.approvals.filter((approval) => this.#counts(approval, requirement))
    return checkAnyPermissionGranted(
      this.#listApprovers(counted)
        .filter((account) => !isAdded(account))
        .map((account) => () => {
          const owns: PermissionCheckResult =
            needed === 'owner' ? this.#people.isAmong(account, requirement.owners) : { kind: 'no' }
          return owns.kind === 'yes' ? owns : this.#or(this.#people.isMaintainer(account), [owns])
        }),
    )
  }

  #counts(approval: Approval, requirement: RequiredApproval): boolean {
    const { snapshot, config, configDigest } = this.#input
    if (this.#author === undefined || approval.user === this.#author.id) return false
    if (this.#isCurrent(approval)) return true
    // Under the same rules and branch, and with unchanged files. Other effects require approval of everything.
    return (
      config.approvals.carryOver &&
      approval.baseRef === snapshot.baseRef &&
      approval.config !== undefined &&
      approval.config === configDigest &&
      approval.covers !== undefined &&
      (this.#touched ??= new Set(this.#input.change.paths.map(({ path }) => path))).has(requirement.path) &&
      isDirectoryCoveredByApproval(requirement.directory, this.#covers(), approval.covers)
    )
  }
}

/** Without duplicates, because thousands of approvals can share one list. */
function listUniqueOwnerLists(required: readonly RequiredApproval[]): (readonly Principal[])[] {
  return [...new Set(required.map(({ owners }) => owners))]
}

function isNonUserPrincipal(principal: Principal): boolean {
  return principal.kind !== 'user' || principal.login.endsWith('[bot]')
}

function isStricterRequiredApprover(a: RequiredApprover, b: RequiredApprover): boolean {
  return strictnessByRequiredApprover[a] > strictnessByRequiredApprover[b]
}

/** The least strict setting among an account's roles. */
function findRequiredApproverForRoles(
  permissions: Permissions,
  roles: readonly PermissionRole[],
  kind: ChangeKind,
): RequiredApprover {
  return roles
    .map((role) => permissions[role][kind])
    .reduce<RequiredApprover>(
      (best, cell) => (isStricterRequiredApprover(best, cell) ? cell : best),
      'refused',
    )
}

/** Yes if any candidate is yes, otherwise unknown if any is unknown, otherwise no. Stops at the first yes. */
function checkAnyPermissionGranted(
  candidates: readonly (() => PermissionCheckResult)[],
): PermissionCheckResult {
  const open: PendingLookup[] = []
  for (const candidate of candidates) {
    const holds = candidate()
    if (holds.kind === 'yes') return holds
    if (holds.kind === 'unknown') open.push(...holds.open)
  }
  return open.length > 0 ? { kind: 'unknown', open } : { kind: 'no' }
}

/**
 * Decides what an automation account can change without approval. The base must grant the kind, the package, and
 * every touched channel.
 */
function findChangeKindsGrantedToAutomation(
  { packages, channels, changes }: AutomationConfig,
  requirement: Pick<RequiredApproval, 'package' | 'directory' | 'kinds' | 'channels'>,
): ReadonlySet<ChangeKind> {
  const isOneOf = (patterns: readonly string[], name: string) =>
    patterns.some((pattern) => matchesWildcardPattern(pattern, name))
  // The grant must cover both package and directory, because the directory can contain files of other packages.
  const packageNames = [requirement.package, ...(requirement.directory === '' ? [] : [requirement.directory])]
  if (!packageNames.every((packageName) => isOneOf(packages, packageName))) return new Set()
  const { channels: touched } = requirement
  const mayTouchThem =
    touched === undefined
      ? channels.includes('*')
      : touched.length > 0 && touched.every((channel) => isOneOf(channels, channel))
  const granted: ReadonlySet<ChangeKind> = new Set(changes)
  return new Set(
    requirement.kinds.filter(
      (kind) => granted.has(kind) && (mayTouchThem || !channelAffectingChangeKinds.has(kind)),
    ),
  )
}
