// Whether a required approval is given, by the author's own rights or by others. A missing answer keeps it open; an
// empty list never gives it.
import type { ChangeKind, Consent, Permissions, Role } from '../../config/permissions.ts'
import type { Automation } from '../../config/automation.ts'
import type { CheckInput } from '../check.ts'
import type { Approval } from '../approval.ts'
import { isCurrent, isOfState } from './approvals.ts'
import { grantedKinds } from './automation.ts'
import { differences, isDirectoryAgreedTo, type Coverage } from './coverage.ts'
import type { RequiredApproval } from './required-approvals.ts'
import { isBot } from './people.ts'
import type { Account, Holds, People, Unanswered } from './people.ts'
import { loginOf, parsePrincipal } from './principal.ts'
import type { Principal } from './principal.ts'
import { oncePer } from '../../findings/once.ts'

export type Met =
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
  | { readonly kind: 'unknown'; readonly open: readonly Unanswered[] }

const strictness: Readonly<Record<Consent, number>> = { alone: 0, owner: 1, maintainer: 2, refused: 3 }

export class Consents {
  readonly #input: CheckInput
  readonly #people: People
  readonly #author: Account | undefined
  readonly #met = oncePer((_owners: readonly Principal[]) => new Map<string, Met>())
  readonly #covers: () => Coverage
  #touched: ReadonlySet<string> | undefined
  /** Automation accounts that may be the author. */
  readonly #grants: readonly {
    readonly principals: readonly Principal[]
    readonly automation: Automation
  }[]

  /** `covers`: what the change does. Computed lazily because the text is large. */
  constructor(input: CheckInput, everybody: People, covers: () => Coverage) {
    this.#input = input
    this.#people = everybody
    this.#covers = covers
    const { author } = input.snapshot
    this.#author = author === null ? undefined : { id: author.id, login: loginOf(author) }
    this.#grants = input.config.automation.flatMap((automation) => {
      const principal = parsePrincipal(automation.account)
      return principal?.kind === 'user' ? [{ principals: [principal], automation }] : []
    })
  }

  /** Caches equal requirements. */
  meets(requirement: RequiredApproval): Met {
    // Owner edits have effects of their own, and approvals may cover one directory only.
    if (requirement.ownerEdit !== undefined || this.#input.approvals.length > 0)
      return this.#weigh(requirement)
    const { kinds, package: name, directory, channels } = requirement
    // Grants depend on package and channels; other people's rights depend on the owners alone.
    const granted = this.#grants.length > 0 ? JSON.stringify([name, directory, channels]) : ''
    const key = `${kinds.join(' ')} ${granted}`
    const known = this.#met(requirement.owners)
    const met = known.get(key) ?? this.#weigh(requirement)
    known.set(key, met)
    return met
  }

  #weigh(requirement: RequiredApproval): Met {
    const standing = this.#standing(requirement)
    const { permissions } = this.#input.config
    const automation = this.#granted(requirement)
    const wanted = requirement.kinds.map((kind) => ({
      kind,
      consent: automation.kinds.has(kind) ? 'alone' : leastStrict(permissions, standing.roles, kind),
    }))
    let needed = wanted.reduce<Consent>(
      (worst, { consent }) => (stricter(consent, worst) ? consent : worst),
      'alone',
    )
    // Authors never make themselves owners alone, even if the configuration allows it.
    if (needed === 'alone' && this.#addsItself(requirement)) needed = 'owner'
    // Only a maintainer may make Apps and teams owners.
    if (needed === 'owner' && requirement.ownerEdit?.added.some(isNoPerson)) needed = 'maintainer'
    // A reused login means that the list of owners is out of date, so its other names may be wrong, too.
    if (standing.reused && strictness[needed] < strictness.maintainer) needed = 'maintainer'
    // A new package has no owners yet.
    if (needed === 'owner' && requirement.kinds.includes('add-package')) needed = 'maintainer'
    if (needed === 'alone') return { kind: 'met', by: 'author' }
    const open: Unanswered[] = [...standing.open, ...automation.open]
    if (needed !== 'refused') {
      const given = this.#given(requirement, needed)
      if (given.kind === 'yes') return { kind: 'met', by: 'approval' }
      if (given.kind === 'unknown') open.push(...given.open)
    }
    if (open.length > 0) return { kind: 'unknown', open }
    const kinds = wanted.filter(({ consent }) => consent !== 'alone').map(({ kind }) => kind)
    if (needed === 'refused')
      return {
        kind: 'refused',
        kinds: wanted.filter(({ consent }) => consent === 'refused').map(({ kind }) => kind),
      }
    return {
      kind: 'open',
      by: needed,
      kinds,
      isOwner: standing.roles.includes('owner') || standing.roles.includes('bot'),
      ...(standing.reused && { reused: standing.reused }),
    }
  }

  /**
   * Approvals of this head for a different effect, with the differences. Skips people who also approved the present
   * effect.
   */
  forSomethingElse(): readonly { readonly account: Account; readonly differences: readonly string[] }[] {
    const { snapshot, approvals, epoch = 0 } = this.#input
    const ofHead = approvals.filter((approval) => isOfState(approval, snapshot, epoch))
    const current = new Set(
      ofHead.filter((approval) => isCurrent(approval, snapshot, epoch, this.#covers)).map(({ user }) => user),
    )
    const last = new Map(ofHead.filter(({ user }) => !current.has(user)).map((each) => [each.user, each]))
    return [...last.values()].map(({ user, login, covers = new Map<string, string>() }) => ({
      account: { id: user, login: login.toLowerCase() },
      differences: differences(this.#covers(), covers),
    }))
  }

  /** Whether the author, or someone with a say in all of these approvals, confirmed this head by command. */
  confirmed(required: readonly RequiredApproval[]): Holds {
    const { snapshot } = this.#input
    const epoch = this.#input.epoch ?? 0
    const current = this.#input.approvals.filter((approval) =>
      isCurrent(approval, snapshot, epoch, this.#covers),
    )
    if (current.some(({ user, source }) => user === this.#author?.id && source === 'command'))
      return { kind: 'yes' }
    return firstYes(
      current
        .filter(({ user }) => user !== this.#author?.id)
        .map(
          (approval) => () =>
            this.hasSayInAll({ id: approval.user, login: approval.login.toLowerCase() }, required),
        ),
    )
  }

  /**
   * Whether a maintainer other than the author approved the present effect. For files outside packages nothing carries
   * over.
   */
  maintainerAgreed(): Holds {
    const { snapshot, approvals } = this.#input
    const epoch = this.#input.epoch ?? 0
    if (this.#author === undefined) return { kind: 'no' }
    return firstYes(
      approvals
        .filter((approval) => isCurrent(approval, snapshot, epoch, this.#covers))
        .map((approval) => ({ id: approval.user, login: approval.login.toLowerCase() }))
        .filter((account) => account.id !== this.#author?.id && !isBot(account))
        .map((account) => () => this.#people.isMaintainer(account)),
    )
  }

  /** Whether an account owns everything that the approvals are about, or is a maintainer. */
  hasSayInAll(account: Account, required: readonly RequiredApproval[]): Holds {
    const owns = differentOwners(required).map((owners) => this.#people.isAmong(account, owners))
    if (owns.length > 0 && owns.every(({ kind }) => kind === 'yes')) return { kind: 'yes' }
    return this.#or(this.#people.isMaintainer(account), owns)
  }

  /** Whether an account owns any of it, or is a maintainer. */
  hasSay(account: Account, required: readonly RequiredApproval[]): Holds {
    const owns = firstYes(
      differentOwners(required).map((owners) => () => this.#people.isAmong(account, owners)),
    )
    return owns.kind === 'yes' ? owns : this.#or(this.#people.isMaintainer(account), [owns])
  }

  #or(maintainer: Holds, owns: readonly Holds[]): Holds {
    if (maintainer.kind !== 'no') return maintainer
    const open = owns.flatMap((holds) => (holds.kind === 'unknown' ? holds.open : []))
    return open.length > 0 && owns.every(({ kind }) => kind !== 'no')
      ? { kind: 'unknown', open }
      : { kind: 'no' }
  }

  /** The author's known roles, and the questions that would settle the others. */
  #standing(requirement: RequiredApproval): {
    roles: readonly Role[]
    open: readonly Unanswered[]
    reused?: { login: string; was: number; now: number }
  } {
    const author = this.#author
    if (author === undefined) return { roles: ['contributor'], open: [] }
    const owns = this.#people.isAmong(author, requirement.owners)
    if (owns.kind === 'yes' && isBot(author)) {
      // An App's rights cover its own branches here, not a branch that others made it build on.
      return this.#pushesHere() ? { roles: ['bot'], open: [] } : { roles: ['contributor'], open: [] }
    }
    const { permissions } = this.#input.config
    if (owns.kind === 'yes' && requirement.kinds.every((kind) => permissions.owner[kind] === 'alone'))
      return { roles: ['owner'], open: [] }
    // Ask one question at a time: the first usually finds the owner.
    if (owns.kind === 'unknown' && owns.open.every(({ retryAfter }) => retryAfter === 0))
      return { roles: ['contributor'], open: owns.open }
    const maintains = this.#people.isMaintainer(author)
    const roles: Role[] = []
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
    readonly open: readonly Unanswered[]
  } {
    const author = this.#author
    const kinds = new Set<ChangeKind>()
    const open: Unanswered[] = []
    if (author === undefined || requirement.ownerEdit?.changesOwners) return { kinds, open }
    for (const { principals, automation } of this.#grants) {
      const granted = grantedKinds(automation, requirement)
      if (granted.size === 0 || !(isBot(author) ? this.#pushesHere() : this.#pushedAlone())) continue
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
        // Not looked up: the added team may include the author.
        principal.kind === 'team' ||
        (principal.kind === 'user' &&
          (principal.login === this.#author?.login || principal.id === this.#author?.id)),
    )
  }

  /** Whether an authorized person approved the requirement. */
  #given(requirement: RequiredApproval, needed: 'owner' | 'maintainer'): Holds {
    const added = requirement.ownerEdit?.added ?? []
    return firstYes(
      this.#input.approvals
        .filter((approval) => this.#counts(approval, requirement))
        .map((approval) => ({ id: approval.user, login: approval.login.toLowerCase() }))
        .filter((account) => !isBot(account))
        // New owners may not approve the change that adds them.
        .filter(
          (account) =>
            !added.some(
              (principal) =>
                principal.kind === 'user' &&
                (principal.login === account.login || principal.id === account.id),
            ),
        )
        .map((account) => () => {
          const owns: Holds =
            needed === 'owner' ? this.#people.isAmong(account, requirement.owners) : { kind: 'no' }
          return owns.kind === 'yes' ? owns : this.#or(this.#people.isMaintainer(account), [owns])
        }),
    )
  }

  #counts(approval: Approval, requirement: RequiredApproval): boolean {
    const { snapshot, config, configDigest } = this.#input
    if (this.#author === undefined || approval.user === this.#author.id) return false
    if (isCurrent(approval, snapshot, this.#input.epoch ?? 0, this.#covers)) return true
    // Carry over only under the same rules and branch, with the package's files unchanged byte for byte. Effects
    // without a file need approval of the whole change.
    return (
      config.approvals.carryOver &&
      approval.baseRef === snapshot.baseRef &&
      approval.config !== undefined &&
      approval.config === configDigest &&
      approval.covers !== undefined &&
      (this.#touched ??= new Set(this.#input.change.paths.map(({ path }) => path))).has(requirement.path) &&
      isDirectoryAgreedTo(requirement.directory, this.#covers(), approval.covers)
    )
  }
}

/** Without duplicates, because thousands of approvals can share one list. */
function differentOwners(required: readonly RequiredApproval[]): (readonly Principal[])[] {
  return [...new Set(required.map(({ owners }) => owners))]
}

function isNoPerson(principal: Principal): boolean {
  return principal.kind !== 'user' || principal.login.endsWith('[bot]')
}

function stricter(a: Consent, b: Consent): boolean {
  return strictness[a] > strictness[b]
}

/** The least strict setting among a person's roles. */
function leastStrict(permissions: Permissions, roles: readonly Role[], kind: ChangeKind): Consent {
  return roles
    .map((role) => permissions[role][kind])
    .reduce<Consent>((best, cell) => (stricter(best, cell) ? cell : best), 'refused')
}

/** Yes if any is; otherwise unknown if any is; otherwise no. Stops at the first yes. */
function firstYes(candidates: readonly (() => Holds)[]): Holds {
  const open: Unanswered[] = []
  for (const candidate of candidates) {
    const holds = candidate()
    if (holds.kind === 'yes') return holds
    if (holds.kind === 'unknown') open.push(...holds.open)
  }
  return open.length > 0 ? { kind: 'unknown', open } : { kind: 'no' }
}
