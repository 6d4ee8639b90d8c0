// Unfreezes merging from a page, with the same permission check as `/unfreeze`, which uses the owner files and the
// configuration at the branch's tip and GitHub's answer about this account. Merges nothing.
import { toUserId } from '../../pull-request/ids.ts'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import {
  createLookupResults,
  toLookupKey,
  type LookupResultByKind,
  type ForgeLookupRequest,
} from '../../checks/lookups.ts'
import {
  isBotAccount,
  PrincipalMatcher,
  normalizeLogin,
  type Principal,
} from '../../checks/ownership/principals.ts'
import { readConfig, readOwnership } from '../../catalogs/read-config.ts'
import type { FreezeKind } from '../../policy/merge-freeze.ts'
import type { Forge } from '../../ports/forge.ts'
import type { JobQueue } from '../../ports/jobs.ts'
import type { MergeFreezeStore } from '../../ports/merge-records.ts'
import type { RecordedRepository } from '../../ports/status-page-store.ts'
import type { PullHistoryStore } from '../../ports/pull-history.ts'
import type { GitRepository } from '../../ports/repository.ts'

export interface UnfreezeRequest {
  readonly listed: RecordedRepository
  readonly kind: FreezeKind
  /** If absent, the freeze of the whole repository. */
  readonly branch?: string
  readonly by: { readonly id: number; readonly login: string }
}

/** Returns undefined on success, and otherwise a sentence for the user. */
export type UnfreezeHandler = (request: UnfreezeRequest) => Promise<string | undefined>

interface UnfreezeContext {
  readonly forge: Forge
  readonly repository: GitRepository
}

export interface UnfreezeHandlerOptions {
  readonly store: MergeFreezeStore & JobQueue & PullHistoryStore
  readonly open: (at: { installation: number; repository: RepositoryName }) => Promise<UnfreezeContext>
  readonly onResumed: (request: UnfreezeRequest) => void
}

const freezeAlreadyEndedMessage = 'This freeze has already ended.'

export function createUnfreezeHandler({ store, open, onResumed }: UnfreezeHandlerOptions): UnfreezeHandler {
  return async (request) => {
    const { listed, kind, branch, by } = request
    const { repository, installation } = listed
    // Check the branch against the records before git sees it: the form is untrusted.
    const stops = await store.listFreezes(repository)
    if (!stops.some((stop) => stop.kind === kind && (branch === undefined || stop.branch === branch)))
      return freezeAlreadyEndedMessage
    const ctx = await open({ installation, repository })
    const holds = await checkMaintainerStatus(by, branch ?? (await ctx.forge.defaultBranch()), ctx, store)
    if (holds === 'unknown')
      return 'catalog-bot could not verify that you are a maintainer of this repository. Try again in a moment.'
    if (holds === 'no') return 'Only maintainers of this repository can unfreeze merging.'
    const done = await store.unfreezeMerges({
      repository,
      branch,
      kinds: [kind],
      by: { kind: 'page', login: by.login, user: toUserId(by.id) },
      reason: 'unfrozen on the status page',
    })
    // A freeze of the whole repository ends with its branches' freezes, as with /thaw all.
    if (done.length === 0) return freezeAlreadyEndedMessage
    onResumed(request)
    await store.enqueue({ kind: 'sweep', installation, repository })
    return undefined
  }
}

/** No answer means no. */
async function checkMaintainerStatus(
  by: UnfreezeRequest['by'],
  branch: string,
  { forge, repository }: UnfreezeContext,
  store: PullHistoryStore,
): Promise<'yes' | 'no' | 'unknown'> {
  const account = { id: toUserId(by.id), login: normalizeLogin({ ...by, id: toUserId(by.id), kind: 'user' }) }
  if (isBotAccount(account)) return 'no'
  await repository.fetch(branch)
  const tip = await repository.tip(branch)
  if (tip === undefined) return 'no'
  const tree = await repository.treeOf(tip)
  const { config, findings } = await readConfig(repository, tree)
  if (findings.length > 0) return 'unknown'
  const { maintainers } = await readOwnership(repository, await repository.list(tree), config)
  const answers = new Map<string, LookupResultByKind[keyof LookupResultByKind]>()
  for (const question of createMaintainerLookupRequests(account, maintainers))
    answers.set(toLookupKey(question), await forge.answer(question))
  const accounts = await store.firstSeenAccounts(forge.repository, new Map())
  return new PrincipalMatcher(createLookupResults(answers), accounts, maintainers, config).isMaintainer(
    account,
  ).kind
}

function createMaintainerLookupRequests(
  { id, login }: { readonly id: ReturnType<typeof toUserId>; readonly login: string },
  maintainers: readonly Principal[],
): readonly ForgeLookupRequest[] {
  return [
    ...maintainers.flatMap((principal): ForgeLookupRequest[] => {
      if (principal.kind === 'user')
        return principal.id === undefined && principal.login === login ? [{ kind: 'user', login }] : []
      if (principal.kind !== 'team') return []
      const { organization, team } = principal
      return [{ kind: 'team-member', organization, team, user: id, login }]
    }),
    { kind: 'role', user: id, login },
  ]
}
